"""Where nobody can tell what was shown, and the policy is to hold: nothing is repeated, and people can see what waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.node.lock import control_of
from bot.operator.client import Client, connected
from tests.faults.checker import check
from tests.faults.program import Kill, living
from tests.faults.stage import Rows, Stage, stage
from tests.faults.story import answers, holds

ROOMS = 6
PLAN = (Kill("part-marked", 1), Kill("part-shown", 2))


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
async def test_what_nobody_can_tell_is_held_and_not_repeated(tmp_path: Path) -> None:
    async with stage(tmp_path, "none", "--set", 'outbox.unknown="hold"', stutter=False) as on:
        await on.story.lines(ROOMS)
        async with living(on.program, PLAN):
            await on.program.spent.wait()
            await on.until_taken_in()
            await on.until_quiet()
            check(await on.evidence())
            control = control_of(on.program.data)
            assert control is not None
            async with connected(control) as client:
                held = await client.deliveries(state="held")
                assert len(held) >= len(PLAN)
                await settle_by_hand(on, client, [delivery["id"] for delivery in held])
            await on.until_quiet()
            await on.program.leave()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT max(attempts) FROM parts WHERE repeat_mark = 1") == [(None,)]
        assert rows.select("SELECT DISTINCT state FROM deliveries ORDER BY 1") == [("discarded",), ("shown",)]


async def settle_by_hand(on: Stage, client: Client, held: list[str]) -> None:
    """A person looks at the screen: what is there is discarded, the rest is sent again. Then all is there once."""
    for delivery in held:
        told = await client.delivery(delivery)
        room = told["address"].rpartition("/")[2]
        if answers(await on.side.seen(room)):
            await client.discard(delivery)
        else:
            await client.requeue(delivery)
    await on.until_quiet()
    for talk in on.story.talks:
        (seen,) = answers(await on.side.seen(talk.room))
        assert holds(seen.text, talk.lines[0].words[0])
        assert not seen.marked
