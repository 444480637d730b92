"""The platform fails for a while, or we do: what was said meanwhile is answered once, in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.contract.adapters.rig import Trouble
from tests.faults.channels.rounds import rig_of, told, usually_on, warmed
from tests.faults.program import living
from tests.faults.stage import PLATFORMS, stage

ROOMS = 5
EACH = 4
SECONDS = 1.5
FULL_SECONDS = 5.0


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
@usually_on("slack")
async def test_twenty_messages_sent_while_we_are_down_are_answered_once_and_in_order(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, stutter=False) as on:
        async with living(on.program):
            await warmed(on, ROOMS)
            await on.program.leave()
        await on.story.another(EACH)
        async with living(on.program):
            await on.story.all_answered()
            await on.until_quiet()
            found = await told(on)
            await on.program.leave()
    assert (found.lines, found.lost, found.repeated) == (ROOMS * (1 + EACH), 0, 0)


async def fails_for(kind: str, trouble: Trouble, seconds: float, folder: Path) -> None:
    """Every send meets `trouble` for so long."""
    async with stage(folder, kind, stutter=False) as on, living(on.program):
        await warmed(on, 2 * ROOMS)
        await rig_of(on).fault(trouble, count=10_000, seconds=0.5)
        await on.story.another()
        await asyncio.sleep(seconds)
        assert len(await on.side.seen(on.story.talks[0].room)) == 1, "nothing could be shown meanwhile"
        await rig_of(on).lift()
        await on.story.all_answered()
        await on.until_quiet()
        found = await told(on)
        await on.program.leave()
    assert (found.lost, found.repeated) == (0, 0)


@pytest.mark.timeout(180)  # seconds; about seven where nothing else runs
@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        pytest.param(
            kind, trouble, id=f"{kind}-{code}", marks=() if f"{kind}-{code}" == "telegram-429" else pytest.mark.soak
        )
        for kind in PLATFORMS
        for trouble, code in ((Trouble.ERROR, "500"), (Trouble.RATE, "429"))
    ],
)  # what each adapter says of each trouble is its contract's
async def test_a_platform_that_fails_for_a_while_loses_and_repeats_nothing(
    kind: str, trouble: Trouble, tmp_path: Path
) -> None:
    await fails_for(kind, trouble, SECONDS, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("trouble", [Trouble.ERROR, Trouble.RATE], ids=["500", "429"])
@pytest.mark.parametrize("kind", PLATFORMS)
async def test_a_platform_that_fails_for_five_seconds_loses_and_repeats_nothing(
    kind: str, trouble: Trouble, tmp_path: Path
) -> None:
    await fails_for(kind, trouble, FULL_SECONDS, tmp_path)


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
@usually_on("discord")
async def test_a_platform_that_is_away_and_comes_back_finds_everything_waiting(kind: str, tmp_path: Path) -> None:
    """Nothing can be said or heard; what people say meanwhile is kept by the platform."""
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        await warmed(on, ROOMS)
        await rig_of(on).fault(Trouble.AWAY)
        await on.story.another(2)
        await asyncio.sleep(SECONDS)
        await rig_of(on).lift()
        await on.story.all_answered()
        await on.until_quiet()
        found = await told(on)
        await on.program.leave()
    assert (found.lost, found.repeated) == (0, 0)
