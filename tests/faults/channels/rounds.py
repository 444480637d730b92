"""Lines in many rooms, trouble for their answers, and what people see in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import pytest

from tests.contract.adapters.rig import OnScreen, Place, Rig, Trouble
from tests.faults.checker import check
from tests.faults.program import until
from tests.faults.stage import PLATFORMS, Rows, Stage
from tests.faults.story import answers, holds

SETTLED_WITHIN: Final = 180.0  # seconds from a cut to its end; source: issue 4


def usually_on(*usual: str) -> pytest.MarkDecorator:
    """All platforms, of which only `usual` are in the usual run; `make cuts` has the others. What differs between them
    each adapter's contract tries, and `test_cuts` on all: here each has its turn in some tests."""
    kinds = [pytest.param(kind, marks=() if kind in usual else pytest.mark.soak) for kind in PLATFORMS]
    return pytest.mark.parametrize("kind", kinds)


def each_point_somewhere(points: Sequence[str], most: int | None = None) -> list[Any]:
    """Each point on one platform, or the first `most`, and no kill on those without a point; `make cuts` kills at all points
    on all platforms."""
    usual = {(PLATFORMS[number % len(PLATFORMS)], point) for number, point in enumerate(points[:most])}
    usual |= {(kind, "") for kind in PLATFORMS[len(points) :]}
    return [
        pytest.param(kind, point, marks=() if (kind, point) in usual else pytest.mark.soak)
        for kind, point in product(PLATFORMS, ("", *points))
    ]


@dataclass(frozen=True, slots=True)
class Round:
    """One line in each room; `trouble` meets the first send of each answer."""

    trouble: Trouble
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.trouble} {self.seconds:g} s" if self.seconds else str(self.trouble)


@dataclass(frozen=True, slots=True)
class Told:
    """Of `lines`, how many are answered nowhere, and how many answers too many there are; seconds from cut to end."""

    lines: int
    lost: int
    repeated: int
    longest: float

    def __str__(self) -> str:
        return f"{self.lines} lines: lost {self.lost}, repeated {self.repeated}, settled within {self.longest:.1f} s"


def rig_of(on: Stage) -> Rig:
    assert on.rig is not None
    return on.rig


async def shown(rig: Rig, place: Place, count: int) -> Sequence[OnScreen]:
    """What stands in `place` once it is so many messages."""

    async def look() -> Sequence[OnScreen] | None:
        messages = await rig.visible(place)
        return messages if len(messages) >= count else None

    return await until(look, f"{count} messages in {place}")


async def warmed(on: Stage, rooms: int) -> None:
    """One line in each of so many rooms, answered: everybody knows everybody."""
    await on.until_connected()
    await on.story.lines(rooms)
    await on.story.all_answered()


async def play(on: Stage, rounds: Sequence[Round]) -> Told:
    """A line in each room so far for each round, its answer in trouble; then everything is checked."""
    for round_ in rounds:
        await rig_of(on).fault(round_.trouble, count=len(on.story.talks), seconds=round_.seconds)
        await on.story.another()
        await on.story.all_answered()
        await on.until_quiet()
        await rig_of(on).lift()
    return await told(on)


async def told(on: Stage) -> Told:
    """What came of everything. Errors: BrokenPromise."""
    check(await on.evidence())
    copies = []
    for talk in on.story.talks:
        screen = answers(await on.side.seen(talk.room))
        copies += [sum(holds(seen.text, word) for seen in screen) for line in talk.lines for word in line.words]
    return Told(len(copies), copies.count(0), sum(max(0, n - 1) for n in copies), longest(on))


def longest(on: Stage) -> float:
    """Seconds from an answer's commit until it is known to be shown, the longest of all."""
    rows = Rows(on.program.data / "signalbox.db")
    ((seconds,),) = rows.select(
        "SELECT max(p.shown_at - d.created_at) / 1e6 FROM parts p JOIN deliveries d ON d.id = p.delivery_id"
    )
    return float(seconds)


async def until_shown(on: Stage, count: int) -> None:
    """Until so many parts are known to be on screen."""
    rows = Rows(on.program.data / "signalbox.db")

    async def look() -> bool | None:
        ((shown,),) = rows.select("SELECT count(*) FROM parts WHERE state = 'shown'")
        return shown >= count or None

    await until(look, f"{count} messages on screen")
