"""Answers to `/goal`: the one that is set, how far it is, and what is wrong with one. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract import Address
from runtime.domain.agents.tasks import plain, short_id
from runtime.domain.goals.contract import NO_GOAL, Contract, GoalError, GoalKind
from runtime.domain.goals.progress import GoalStanding, goal_lines, told_turns
from runtime.markup.moments import roughly

NONE_HERE: Final = "No goal is at work here."
NOT_YET: Final = "The goal is about to begin. Write `{mark}goal stop` again in a moment."
STOPPED: Final = "The goal **{goal}** is stopped. What its turns did so far stays done."
BUSY: Final = "A goal is at work here already: **{goal}** (`{id}`). `{mark}goal stop` ends it."


@dataclass(frozen=True, slots=True)
class SetGoal:
    """A goal that was set. `now` is None where its run has not frozen it yet. `open`: it is not over; `state` is a word for that."""

    id: str
    name: str
    started_at: datetime
    asked_by: str
    state: str
    open: bool
    now: GoalStanding | None
    run: str = ""
    kind: GoalKind = GoalKind.GOAL
    agent: str = ""
    room: Address | None = None
    ended_at: datetime | None = None
    reason: str = ""


def goal_set(contract: Contract, name: str, goal: str) -> str:
    first = "" if contract.criteria else " First I write down how it's verified."
    return f"The goal **{plain(name)}** is set (`{short_id(goal)}`), for {contract.bounds}.{first} A card here asks whether to begin."


def goal_refused(error: GoalError, mark: str) -> str:
    return str(error).replace("{mark}", mark)


def goal_busy(at: SetGoal, mark: str) -> str:
    return BUSY.format(goal=plain(at.name), id=short_id(at.id), mark=mark)


def goal_stopped(at: SetGoal) -> str:
    return STOPPED.format(goal=plain(at.name))


def goal_here(at: SetGoal | None, now: datetime, mark: str) -> str:
    """Answer to `/goal` alone: the one at work in the room, else the last one, with its turns and verdicts."""
    how = NO_GOAL.format(mark=mark)
    if at is None:
        return f"{NONE_HERE} {how}"
    since = f"{roughly(now - at.started_at)} ago, set by {plain(at.asked_by)}"
    turns = f", {told_turns(at.now)}" if at.now else ""
    parts = [f"**{plain(at.name)}** (`{short_id(at.id)}`): {at.state}{turns}, {since}"]
    if at.now and at.now.contract.criteria:
        parts.append("\n".join(["Done when:", "", *(f"- {plain(one)}" for one in at.now.contract.criteria)]))
    if at.now and (lines := list(goal_lines(at.now))):
        parts.append("  \n".join(map(_told, lines)))
    if at.now:
        parts.append(
            f"It takes {at.now.contract.bounds}. Judged by {plain(at.now.contract.judge or 'the same model')}."
        )
    parts.append(f"`{mark}goal stop` ends it." if at.open else NONE_HERE)
    return "\n\n".join(parts)


def _told(line: str) -> str:
    mark, _, rest = line.partition(" ")
    return f"{mark} {plain(rest)}"
