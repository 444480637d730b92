"""Rest of a model that failed: how long it is not asked, by why it failed. Pure.

    429 with Retry-After    exactly that long, a day at most
    busy or away            5 s, then 1, 5, 25 and 60 min
    billing                 5 h, then 10 and 24 h
    auth                    until its settings or its key change

An answer ends it, and counting begins anew. Once its time is over one node asks it, and the others wait for what comes of it.
A model that nothing can take the place of is asked all the same: its failures are counted for those who should know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from runtime.errors import Cause

MOMENTS: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 60, 300, 1500, 3600))
HOURS: Final = tuple(timedelta(hours=hours) for hours in (5, 10, 24))
STEPS: Final[Mapping[Cause, Sequence[timedelta]]] = {Cause.BUSY: MOMENTS, Cause.AWAY: MOMENTS, Cause.BILLING: HOURS}
BENCHED: Final = frozenset({*STEPS, Cause.AUTH})
LOUD: Final = frozenset({Cause.AUTH, Cause.BILLING})
"""Causes that only an operator can do something about."""

OUTAGE: Final = 3
"""Failures in a row after which operators are told of a vendor that is away."""

PROBE_TIME: Final = timedelta(minutes=2)
"""How long others wait for the node that asks a model again."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call of `model` that `began` then and failed. `mark` is of the settings and keys that it was asked with; `alone`: no
    other model can take its place."""

    model: str
    mark: str
    cause: Cause
    began: datetime
    reason: str
    wait: timedelta | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """A model that rests after `count` failures in a row. `until` None: until its settings change."""

    model: str
    mark: str
    cause: Cause
    since: datetime
    until: datetime | None
    count: int
    reason: str
    probe_until: datetime | None = None

    @property
    def is_alone(self) -> bool:
        """True if it does not rest: nothing can take its place."""
        return self.until == self.since


class Standing(StrEnum):
    WELL = "well"
    RESTING = "resting"
    DUE = "due"  # its time is over: one node may ask it


def standing(rest: Rest | None, mark: str, now: datetime) -> Standing:
    """Standing of a model whose settings and keys are those of `mark`."""
    if rest is None or (rest.cause in LOUD and rest.mark != mark):
        return Standing.WELL
    if rest.until is None or rest.until > now or (rest.probe_until and rest.probe_until > now):
        return Standing.RESTING
    return Standing.DUE


def ended_by_an_answer(rest: Rest | None, began: datetime) -> bool:
    """True if the answer to a call that `began` then ends the rest: one under way before says nothing of the model now."""
    return rest is not None and rest.since <= began


def rest_after(before: Rest | None, failed: Failed, now: datetime) -> Rest:
    """Rest of a model after one more failure.

    Calls that were under way when it began to rest, as several often are, count as one failure.
    """
    known = before if before and before.mark == failed.mark else None
    if failed.alone:
        return _counted(known, failed, now)
    if known and failed.began < known.since and (known.cause in LOUD or failed.cause not in LOUD):
        until = latest(known.until, now + failed.wait if failed.wait else None)
        return replace(known, until=until, probe_until=None)
    goes_on = known and STEPS.get(known.cause) is STEPS.get(failed.cause)
    count = known.count + 1 if known and goes_on else 1
    return Rest(failed.model, failed.mark, failed.cause, now, _until(failed, count, now), count, failed.reason)


def _counted(known: Rest | None, failed: Failed, now: datetime) -> Rest:
    """No rest, but one more failure of those in a row, which began with the first."""
    before = known if known and known.cause is failed.cause and known.is_alone else None
    since, count = (before.since, before.count + 1) if before else (now, 1)
    return Rest(failed.model, failed.mark, failed.cause, since, since, count, failed.reason)


def _until(failed: Failed, count: int, now: datetime) -> datetime | None:
    if failed.cause is Cause.AUTH:
        return None
    if failed.cause is Cause.BUSY and failed.wait is not None:
        return now + failed.wait
    steps = STEPS[failed.cause]
    return now + steps[min(count, len(steps)) - 1]


def latest(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of both; `one` None has no end, and `other` None says nothing."""
    return one if one is None or other is None else max(one, other)


def is_news(rest: Rest) -> bool:
    """True if operators should be told now: only they can do something about it, or its vendor has been away for long."""
    return concerns_operators(rest) and (rest.is_alone or rest.count == _told_at(rest))


def concerns_operators(rest: Rest) -> bool:
    return rest.cause in {*LOUD, Cause.AWAY} and rest.count >= _told_at(rest)


def _told_at(rest: Rest) -> int:
    return 1 if rest.cause in LOUD else OUTAGE


class Cooldowns(Protocol):
    """Models that rest, as all nodes know it. Errors of what writes: none; what cannot be written is known here alone."""

    def of(self, model: str) -> Rest | None:
        """As this process knows it. Asks nobody."""

    async def failed(self, failed: Failed) -> None: ...

    async def well(self, model: str) -> None:
        """It answered."""

    async def may_probe(self, model: str) -> bool:
        """True for the one process that may ask a model whose time is over."""
