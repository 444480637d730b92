"""The connection ends after, before and while a message is accepted: it is on screen once, and nobody has to ask.

In the suite a dozen rooms and short waits. With the waits of production, and fifty cuts of each kind (minutes):

    make cuts
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.adapters.rig import Trouble
from tests.faults.channels.rounds import SETTLED_WITHIN, Round, play, warmed
from tests.faults.program import living
from tests.faults.stage import PLATFORMS, Rows, stage

ROOMS = 10  # direct, groups and threads in turn
AFTER = (
    Round(Trouble.CUT_AFTER),
    Round(Trouble.CUT_LATE, 0.4),  # between the two looks of the tests' short waits
)
BEFORE = (Round(Trouble.CUT_BEFORE),)
FULL = [Round(Trouble.CUT_AFTER), Round(Trouble.CUT_LATE, 0.5), Round(Trouble.CUT_LATE, 5), Round(Trouble.CUT_BEFORE)]
CUTS = 50
REAL_WAITS = (
    *("--set", "outbox.send_timeout_seconds=30"),
    *("--set", "outbox.settle_first_seconds=10"),
    *("--set", "outbox.settle_second_seconds=25"),
    *("--set", "outbox.backoff_first_seconds=1"),
    *("--set", "outbox.backoff_most_seconds=60"),
)

platforms = pytest.mark.parametrize("kind", PLATFORMS)


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
@platforms
async def test_cut_after_it_was_accepted_each_message_is_on_screen_once(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, stutter=False) as on:
        async with living(on.program):
            await warmed(on, ROOMS)
            told = await play(on, AFTER)
            await on.program.leave()
        assert Rows(on.program.data / "signalbox.db").disagreements() == []
    print(f"{kind}: {told}")  # noqa: T201 - a figure
    assert (told.lost, told.repeated) == (0, 0)


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
@platforms
async def test_cut_before_it_was_accepted_each_message_is_sent_again_and_is_on_screen_once(
    kind: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        await warmed(on, ROOMS)
        told = await play(on, BEFORE)
        await on.program.leave()
    assert (told.lost, told.repeated) == (0, 0)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("round_", FULL, ids=str)
@platforms
async def test_of_fifty_messages_cut_in_ten_rooms_none_is_lost_or_repeated(
    kind: str, round_: Round, tmp_path: Path
) -> None:
    """With the waits of production."""
    async with stage(tmp_path, kind, *REAL_WAITS, stutter=False, hurry=False) as on, living(on.program):
        await warmed(on, ROOMS)
        told = await play(on, [round_] * (CUTS // ROOMS))
        await on.program.leave()
    print(f"{kind}, {round_}: {told}")  # noqa: T201 - a figure
    assert (told.lost, told.repeated) == (0, 0)
    assert told.longest <= SETTLED_WITHIN
