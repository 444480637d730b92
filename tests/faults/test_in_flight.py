"""The figure on the label: killed with most of 50 replies in flight, none is lost and none repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults.checker import check
from tests.faults.program import Kill, living
from tests.faults.stage import PLATFORMS, Rows, Stage, stage
from tests.faults.story import Talk, answers, holds

MESSAGES = 50
KNOWN = 17  # at most so many replies are known to be shown when it is killed


def rows_of(on: Stage, statement: str) -> list[Any]:
    database = on.program.data / "signalbox.db"
    return Rows(database).select(statement) if database.exists() else []


async def copies_of(on: Stage, talk: Talk) -> int:
    """How often the answer to the last line in a room is on screen."""
    word = talk.lines[-1].words[0]
    return sum(holds(seen.text, word) for seen in answers(await on.side.seen(talk.room)))


LONG: Final = dict.fromkeys(("probe", "telegram", "discord"), pytest.mark.soak)
"""All are killed while they show answers by other tests; the two platforms take longer than Slack here."""


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
@pytest.mark.parametrize("kind", [pytest.param(one, marks=LONG.get(one, ())) for one in ("probe", *PLATFORMS)])
async def test_killed_with_33_of_50_replies_in_flight_none_is_lost_or_repeated(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, "--think", "1.5", stutter=False) as on:
        await on.introduced(MESSAGES)
        before = len(rows_of(on, "SELECT * FROM signals"))
        await on.story.lines(MESSAGES)
        async with living(on.program, [Kill("part-shown", KNOWN + 1)]):
            await on.program.spent.wait()
            accepted = len(rows_of(on, "SELECT * FROM signals")) - before
            known = len(rows_of(on, "SELECT * FROM parts WHERE state = 'shown'")) - before
            await on.story.all_answered()
            await on.until_quiet()
            copies = [await copies_of(on, talk) for talk in on.story.talks]
            check(await on.evidence())
            await on.program.leave()
    lost, repeated = copies.count(0), sum(max(0, n - 1) for n in copies)
    print(f"{kind}: killed with {accepted - known} of {accepted} replies in flight: lost {lost}, repeated {repeated}")  # noqa: T201 - a figure
    assert accepted == MESSAGES
    assert accepted - known >= MESSAGES - KNOWN
    assert (lost, repeated) == (0, 0)
