"""Answers to `/task` and `/tasks`: what is worked on in the background, and what waits on the room's list. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from runtime.contract import PostedTask, TaskState
from runtime.domain.agents.tasks import plain, short_id
from runtime.markup.moments import roughly

TASKS_LISTED: Final = 20
HOW_TO: Final = "Say `{mark}task` and what to do: I'll work on it in the background and tell you here."
NOTHING_POSTED: Final = "There are no tasks here."
DROP_HOW: Final = "To end one: `{mark}tasks drop ID`."
WORDS: Final = {
    TaskState.OPEN: "open",
    TaskState.CLAIMED: "in progress",
    TaskState.DONE: "done",
    TaskState.FAILED: "failed",
    TaskState.DROPPED: "dropped",
}


def begun(task: PostedTask) -> str:
    """Answer to `/task TEXT`."""
    name = short_id(task.id)
    return f"I'm on it: task **{plain(task.title)}** (`{name}`). I'll tell you here when it's done."


def how_to(mark: str) -> str:
    return HOW_TO.format(mark=mark)


def tasks(found: Sequence[PostedTask], now: datetime, mark: str) -> str:
    """Answer to `/tasks`: what isn't over first, then the newest."""
    if not found:
        return f"{NOTHING_POSTED} {how_to(mark)}"
    in_order = sorted(found, key=lambda one: one.ended_at is not None)
    lines = [f"- {_line(one, now)}" for one in in_order[:TASKS_LISTED]]
    if len(found) > TASKS_LISTED:
        lines.append(f"- and {len(found) - TASKS_LISTED} more")
    ends = ["", DROP_HOW.format(mark=mark)] if in_order[0].ended_at is None else []
    return "\n".join(["Tasks here:", "", *lines, *ends])


def _line(one: PostedTask, now: datetime) -> str:
    since = one.ended_at or one.created_at
    stands = "waiting for an answer" if one.asks else WORDS[one.state]
    parts = [f"`{short_id(one.id)}` **{plain(one.title)}**: {stands}"]
    if one.state is TaskState.CLAIMED and one.owner:
        parts.append(f"by {plain(one.owner)}")
    if one.attempts > 1:
        parts.append(f"try {one.attempts}")
    if one.posted_by:
        parts.append(f"asked by {plain(one.posted_by)}")
    if one.ended_at is None and one.due_at:
        parts.append("overdue" if one.due_at < now else f"due in {roughly(one.due_at - now)}")
    return f"{', '.join(parts)}, {roughly(now - since)} ago"


def dropped(task: PostedTask) -> str:
    """Answer to `/tasks drop ID`."""
    return f"Dropped: **{plain(task.title)}**."
