"""Answers to `/goal`: the one that is set, how far it is, and what is wrong with one. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract import Address
from runtime.domain.agents.tasks import plain, short_id
from runtime.domain.goals.contract import MICROS_OF_A_DOLLAR, NO_GOAL, Contract, GoalError, GoalKind, spanned
from runtime.domain.goals.progress import GoalStanding, goal_lines, turns_begun
from runtime.text.retold import retold
from runtime.text.words import count, decimal, marked, roughly, say, say_many, several

NONE_HERE: Final = marked("No goal is at work here.")
NOT_YET: Final = marked("The goal is about to begin. Write `{mark}goal stop` again in a moment.")
STOPPED: Final = marked("The goal **{goal}** is stopped. What its turns did so far stays done.")
BUSY: Final = marked("A goal is at work here already: **{goal}** (`{id}`). `{mark}goal stop` ends it.")


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


def turns_told(at: GoalStanding) -> str:
    """As in `2 of 20 turns`."""
    number, begun = at.contract.turns, count(turns_begun(at))
    if at.contract.turn_word == "sprint":
        return say_many("{begun} of {number} sprint", "{begun} of {number} sprints", number, begun=begun)
    return say_many("{begun} of {number} turn", "{begun} of {number} turns", number, begun=begun)


def bounds_told(contract: Contract) -> str:
    """As in `at most 20 turns or 4 hours or $2.00`."""
    number, time = contract.turns, spanned(contract.minutes, several)
    if contract.turn_word == "sprint":
        told = say_many("at most {number} sprint or {time}", "at most {number} sprints or {time}", number, time=time)
    else:
        told = say_many("at most {number} turn or {time}", "at most {number} turns or {time}", number, time=time)
    money = contract.budget_micros / MICROS_OF_A_DOLLAR
    return say("{bound} or ${money}", bound=told, money=decimal(f"{money:,.2f}")) if money else told


def goal_set(contract: Contract, name: str, goal: str) -> str:
    first = "" if contract.criteria else say(" First I write down how it's verified.")
    return say(
        "The goal **{name}** is set (`{goal}`), for {bounds}.{first} A card here asks whether to begin.",
        name=plain(name),
        goal=short_id(goal),
        bounds=bounds_told(contract),
        first=first,
    )


def goal_refused(error: GoalError, mark: str) -> str:
    return retold(str(error)).replace("{mark}", mark)


def goal_busy(at: SetGoal, mark: str) -> str:
    return say(BUSY, goal=plain(at.name), id=short_id(at.id), mark=mark)


def goal_stopped(at: SetGoal) -> str:
    return say(STOPPED, goal=plain(at.name))


def goal_here(at: SetGoal | None, now: datetime, mark: str) -> str:
    """Answer to `/goal` alone: the one at work in the room, else the last one, with its turns and verdicts."""
    how = say(NO_GOAL, mark=mark)
    if at is None:
        return f"{say(NONE_HERE)} {how}"
    since = say("{time} ago, set by {asked_by}", time=roughly(now - at.started_at), asked_by=plain(at.asked_by))
    turns = f", {turns_told(at.now)}" if at.now else ""
    parts = [f"**{plain(at.name)}** (`{short_id(at.id)}`): {say(at.state)}{turns}, {since}"]
    if at.now and at.now.contract.criteria:
        parts.append("\n".join([say("Done when:"), "", *(f"- {plain(one)}" for one in at.now.contract.criteria)]))
    if at.now and (lines := list(goal_lines(at.now))):
        parts.append("  \n".join(map(_told, lines)))
    if at.now:
        parts.append(
            say(
                "It takes {bounds}. Judged by {judge}.",
                bounds=bounds_told(at.now.contract),
                judge=plain(at.now.contract.judge) if at.now.contract.judge else say("the same model"),
            )
        )
    parts.append(say("`{mark}goal stop` ends it.", mark=mark) if at.open else say(NONE_HERE))
    return "\n\n".join(parts)


def _told(line: str) -> str:
    mark, _, rest = line.partition(" ")
    return f"{mark} {plain(rest)}"
