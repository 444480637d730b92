"""Answers to `/mode` and `/away`: what somebody asks for, understood, and how it stands. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from runtime.contract import Address
from runtime.policy.modes import MODE_WORDS, TRUSTED_MAX, Mode, RoomMode
from runtime.text.retold import retold
from runtime.text.words import marked, moment, roughly, say

AWAY_MAX: Final = timedelta(days=366)
OFF: Final = frozenset({"off", "back", "end"})
"""Behind `/away`, what `/back` says."""
FOR_OPERATORS: Final = marked("Only operators and owners can change the mode.")
HOW_LONG: Final = marked(
    "Please say for how long, up to 24 hours: `{mark}mode trusted 2h`, or `{mark}mode trusted until 18:00`."
)
NO_TRUST: Final = marked("Trusted mode skips questions that you could answer yourself. You can't answer any here.")
BACK: Final = marked("Welcome back. I'll ask you again from now on.")
NOT_AWAY: Final = marked("You aren't away. Before you go, tell me: `{mark}away until Monday`, or `{mark}away 2d`.")
AWAY_TOO_LONG: Final = marked("That's more than a year. Please name an earlier day.")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A mode that somebody asked for, or the time at which their absence ends; or else `trouble`, in words for them."""

    mode: Mode = Mode.NORMAL
    until: datetime | None = None
    trouble: str = ""


def mode_wanted(argument: str, zone: str, now: datetime, mark: str = "/") -> Wanted:
    """The mode in "read-only" or "trusted 2h". Reads files of zones."""
    name, _, rest = argument.strip().partition(" ")
    word = {"readonly": Mode.READ_ONLY.value}.get(name.casefold(), name.casefold())
    if word not in MODE_WORDS or (rest.strip() and word != Mode.TRUSTED):
        return Wanted(trouble=say("I don't know that mode. {choices}", choices=_choices(mark)))
    mode = Mode(word)
    if mode is not Mode.TRUSTED:
        return Wanted(mode)
    if not rest.strip():
        return Wanted(trouble=say(HOW_LONG, mark=mark))
    found = _end(rest, zone, now)
    if found.until and found.until - now > TRUSTED_MAX:
        return Wanted(trouble=say("That's too long. {how}", how=say(HOW_LONG, mark=mark)))
    return Wanted(mode, found.until, found.trouble)


def absence_wanted(argument: str, zone: str, now: datetime) -> Wanted:
    """The end of an absence, in "until Monday" or "2d"; none where somebody is back. Reads files of zones."""
    if argument.strip().casefold() in OFF:
        return Wanted()
    found = _end(argument, zone, now)
    return Wanted(trouble=say(AWAY_TOO_LONG)) if found.until and found.until - now > AWAY_MAX else found


def _end(words: str, zone: str, now: datetime) -> Wanted:
    from runtime.calendar import WhenError, until  # not loaded before somebody names a time

    try:
        return Wanted(until=until(words, zone=zone, now=now))
    except WhenError as error:
        return Wanted(trouble=retold(str(error)))


def _choices(mark: str) -> str:
    return say("Choose `{mark}mode normal`, `read-only`, `plan`, or `trusted 2h`.", mark=mark)


# --------------------------------------------------------------------------------------------------------- the answers


def meaning(one: RoomMode) -> str:
    """The mode and its effect, in one line."""
    match one.mode:
        case Mode.NORMAL:
            return say("normal: I look things up without asking, and ask before I change anything")
        case Mode.READ_ONLY:
            return say("read-only: I look things up, and change nothing")
        case Mode.PLAN:
            return say("plan: I ask once about everything I want to change, and start when it's approved")
        case Mode.TRUSTED:
            end = say(" until {until}", until=moment(one.until)) if one.until else ""
            return say(
                "trusted{end}: I change things for {person_name} without asking, unless it's dangerous",
                end=end,
                person_name=one.person_name,
            )


def mode_told(one: RoomMode, now: datetime, mark: str) -> str:
    """Answer to `/mode`."""
    since = (
        say(" Set by {name} {time} ago.", name=one.set_by_name, time=roughly(now - one.set_at))
        if one.set_at and one.set_by_name
        else ""
    )
    return say(
        "The mode here is {mode}.{since}\n\n{choices} Rules that deny something apply in every mode.",
        mode=meaning(one),
        since=since,
        choices=_choices(mark),
    )


def mode_set(one: RoomMode, address: Address) -> str:
    """Answer to `/mode` with a mode, for everybody in the room."""
    where = say("in this thread") if address.thread else say("in this room and all its threads")
    return say("{name} set the mode {where} to {mode}.", name=one.set_by_name, where=where, mode=meaning(one))


def in_status(one: RoomMode) -> str:
    """Line of `/status` about the mode; none where nothing is special."""
    return "" if one.mode is Mode.NORMAL else say("the mode is {mode}", mode=meaning(one))


def away_set(until: datetime, mark: str) -> str:
    return say(
        "You're away until {until}. Until then, I'll ask others. `{mark}back` ends that sooner.",
        until=moment(until),
        mark=mark,
    )


def away_told(until: datetime | None, mark: str) -> str:
    """Answer to `/away` alone."""
    return away_set(until, mark) if until else say(NOT_AWAY, mark=mark)
