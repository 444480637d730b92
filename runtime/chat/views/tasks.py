"""Answers to `/task` and `/tasks`: what is worked on in the background, and what waits on the room's list. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from runtime.contract import PostedTask, TaskState
from runtime.domain.agents.tasks import plain, short_id
from runtime.text.words import marked, roughly, say

TASKS_LISTED: Final = 20
HOW_TO: Final = marked("Say `{mark}task` and what to do: I'll work on it in the background and tell you here.")
NOTHING_POSTED: Final = marked("There are no tasks here.")
DROP_HOW: Final = marked("To end one: `{mark}tasks drop ID`.")
WORDS: Final = {
    TaskState.OPEN: marked("open"),
    TaskState.CLAIMED: marked("in progress"),
    TaskState.DONE: marked("done"),
    TaskState.FAILED: marked("failed"),
    TaskState.DROPPED: marked("dropped"),
}


def begun(task: PostedTask) -> str:
    """Answer to `/task TEXT`."""
    name = short_id(task.id)
    return say(
        "I'm on it: task **{title}** (`{name}`). I'll tell you here when it's done.", title=plain(task.title), name=name
    )


def how_to(mark: str) -> str:
    return say(HOW_TO, mark=mark)


def tasks(found: Sequence[PostedTask], now: datetime, mark: str) -> str:
    """Answer to `/tasks`: what isn't over first, then the newest."""
    if not found:
        return f"{say(NOTHING_POSTED)} {how_to(mark)}"
    in_order = sorted(found, key=lambda one: one.ended_at is not None)
    lines = [f"- {_line(one, now)}" for one in in_order[:TASKS_LISTED]]
    if len(found) > TASKS_LISTED:
        lines.append(say("- and {found} more", found=len(found) - TASKS_LISTED))
    ends = ["", say(DROP_HOW, mark=mark)] if in_order[0].ended_at is None else []
    return "\n".join([say("Tasks here:"), "", *lines, *ends])


def _line(one: PostedTask, now: datetime) -> str:
    since = one.ended_at or one.created_at
    stands = say("waiting for an answer") if one.asks else say(WORDS[one.state])
    parts = [f"`{short_id(one.id)}` **{plain(one.title)}**: {stands}"]
    if one.state is TaskState.CLAIMED and one.owner:
        parts.append(say("by {owner}", owner=plain(one.owner)))
    if one.attempts > 1:
        parts.append(say("try {attempts}", attempts=one.attempts))
    if one.posted_by:
        parts.append(say("asked by {posted_by}", posted_by=plain(one.posted_by)))
    if one.ended_at is None and one.due_at:
        parts.append(say("overdue") if one.due_at < now else say("due in {time}", time=roughly(one.due_at - now)))
    return say("{facts}, {time} ago", facts=", ".join(parts), time=roughly(now - since))


def dropped(task: PostedTask) -> str:
    """Answer to `/tasks drop ID`."""
    return say("Dropped: **{title}**.", title=plain(task.title))
