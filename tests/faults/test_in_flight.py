"""The figure on the label: killed with most of 50 replies in flight, none is lost and none repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.checker import check
from tests.faults.program import Kill, living
from tests.faults.stage import PLATFORMS, Rows, stage
from tests.faults.story import answers

MESSAGES = 50
KNOWN = 17  # at most so many replies are known to be shown when it is killed


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
@pytest.mark.parametrize("kind", ["key", "lookup", "probe", *PLATFORMS])
async def test_killed_with_33_of_50_replies_in_flight_none_is_lost_or_repeated(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, "--think", "1.5", stutter=False) as on:
        await on.story.lines(MESSAGES)
        async with living(on.program, [Kill("part-shown", KNOWN + 1)]):
            await on.program.spent.wait()
            rows = Rows(on.program.data / "signalbox.db")
            ((accepted,),) = rows.select("SELECT count(*) FROM signals")
            ((known,),) = rows.select("SELECT count(*) FROM parts WHERE state = 'shown'")
            for talk in on.story.talks:
                await on.story.answered(talk, talk.lines[0])
            await on.until_quiet()
            copies = [len(answers(await on.side.seen(talk.room))) for talk in on.story.talks]
            check(await on.evidence())
            await on.program.leave()
    lost, repeated = copies.count(0), sum(max(0, n - 1) for n in copies)
    print(f"{kind}: killed with {accepted - known} of {accepted} replies in flight: lost {lost}, repeated {repeated}")  # noqa: T201 - a figure
    assert accepted == MESSAGES
    assert accepted - known >= MESSAGES - KNOWN
    assert (lost, repeated) == (0, 0)
