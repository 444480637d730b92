"""SIGKILL at every named point of the real program, on every channel, while people talk, click and repeat themselves.

Each point a few times, so that this stays quick; `make soak` kills hundreds of times, also between the points.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes.serve import ROOT
from tests.faults.checker import check
from tests.faults.points import (
    ANYWHERE,
    ASKED_BACK,
    BY_RULES,
    CALLED,
    COMPACTED,
    CONDENSED,
    ENDED,
    FELL_BACK,
    FIRED,
    HANDED_ON,
    HANDED_OVER,
    POINTS,
    RESERVED,
    UNDONE,
    WHEN_SENDING,
)
from tests.faults.program import Kill, living
from tests.faults.stage import WEB, Rows, Stage, audit_of, stage

CHAPTERS: int = 12
"""More than any plan needs: each chapter passes every point at least once."""

ROOMS: int = 24
"""Where chapters play on a platform that tells nothing of rooms nobody knew."""

GROUPS = {
    "begin": ANYWHERE[:3],
    "tools": ANYWHERE[3:6],
    "ends": ANYWHERE[6:],
    "sending": WHEN_SENDING,
    "work": ANYWHERE[:6],
    "showing": ANYWHERE[6:] + WHEN_SENDING,
}
LONG = (pytest.mark.soak,)
"""Run by `make cuts`: with it every platform is killed at every point."""

PLANS = [
    pytest.param(kind, [Kill(point, hit) for hit in hits for point in GROUPS[group]], id=f"{kind}-{group}", marks=marks)
    for kinds, group, hits, marks in (
        ((WEB,), "begin", (1,), ()),
        ((WEB,), "tools", (2,), ()),
        ((WEB,), "ends", (1,), ()),
        (("key", "none"), "sending", (1, 2), ()),
        (("telegram",), "work", (2,), ()),
        (("slack",), "showing", (1,), ()),
        (("none",), "begin", (1,), LONG),
        (("none",), "tools", (2,), LONG),
        (("none",), "ends", (1,), LONG),
        (("slack", "discord"), "work", (2,), LONG),
        (("telegram", "discord"), "showing", (1,), LONG),
    )
    for kind in kinds
]


async def play(on: Stage, plan: list[Kill]) -> None:
    """Chapters until every planned kill happened, then on to the end of all work.

    What people waited for in vain is most often a broken promise: then that is told. Nobody speaks before the first
    connection: of a bot that never was there a platform keeps no history, and tells what was said in any order.
    """
    await on.until_connected()
    try:
        for _ in range(CHAPTERS):
            await on.story.chapter()
            if on.program.spent.is_set():
                break
        assert on.program.kills == plan
        await on.until_quiet()
    except (AssertionError, BaseExceptionGroup):
        check(await on.evidence())
        raise


@pytest.mark.timeout(300)  # seconds; about ten where nothing else runs
@pytest.mark.parametrize(("kind", "plan"), PLANS)
async def test_killed_anywhere_it_keeps_every_promise(kind: str, plan: list[Kill], tmp_path: Path) -> None:
    async with stage(tmp_path, kind) as on:
        await on.introduced(ROOMS)
        async with living(on.program, plan):
            await play(on, plan)
            check(await on.evidence())
            await on.program.leave()
        assert Rows(on.program.data / "signalbox.db").disagreements() == []
        audit = await audit_of(on.program.data)
        assert audit["whole"], audit["fault"]


@pytest.mark.timeout(180)  # seconds; about six where nothing else runs
async def test_nothing_overtakes_an_answer_that_is_being_looked_for(tmp_path: Path) -> None:
    """The room is closed for seconds here, and its next answers are ready long before."""
    slow = ("--set", "outbox.settle_first_seconds=2", "--set", "outbox.settle_second_seconds=3")
    async with stage(tmp_path, "lookup", *slow) as on, living(on.program, [Kill("part-marked")]):
        await on.story.play(on.story.hurry)
        await on.until_quiet()
        check(await on.evidence())
        await on.program.leave()


def test_every_point_is_in_the_code_and_planned_five_times() -> None:
    """A point that was renamed or removed would silently never be hit."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "runtime").rglob("*.py"))
    assert sorted(re.findall(r"(?:probe\(|point=)\"([a-z-]+)\"", code)) == sorted(
        (
            *POINTS,
            FIRED,
            CALLED,
            ENDED,
            CONDENSED,
            HANDED_OVER,
            *COMPACTED,
            *ASKED_BACK,
            *UNDONE,
            *FELL_BACK,
            RESERVED,
            *HANDED_ON,
            *BY_RULES,
        )
    )
    planned = [kill.point for param in PLANS for kill in param.values[1]]  # type: ignore[union-attr]  # a list of kills
    assert min(planned.count(point) for point in POINTS) >= 5
