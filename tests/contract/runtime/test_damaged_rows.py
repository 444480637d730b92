"""Rows that cannot be read: their conversation waits for whoever mends them, and keeps no other from its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from runtime.cluster import poller
from runtime.contract import Busy, Outcome
from runtime.domain.ids import new_id
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState
from runtime.errors import RowDamaged
from runtime.intake import dispatch
from runtime.store.protocol import Claim, Lease
from runtime.store.runs.store import RunStore
from runtime.store.sql.driver import Op
from tests.contract.runtime.stage import PATIENCE, UMA, Stage, address
from tests.contract.runtime.strict import Planned, Strict
from tests.contract.statements import statement

HER_ROOM = str(address("r1"))
DAMAGED_AND_MENDED = {
    "a room": (
        "UPDATE sessions SET address = 'nowhere' WHERE address = :room",
        "UPDATE sessions SET address = :room WHERE address = 'nowhere'",
    ),
    "a list of files": (
        "UPDATE signals SET files = '[' WHERE address = :room",
        "UPDATE signals SET files = '[]' WHERE address = :room",
    ),
}


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits by the real clock, shortened."""
    monkeypatch.setattr(dispatch, "CLAIM_RETRY_DELAY", dispatch.CLAIM_RETRY_DELAY / 100)
    monkeypatch.setattr(poller, "POLL_INTERVAL", poller.POLL_INTERVAL / 50)


async def write(stage: Stage, sql: str) -> None:
    def change() -> Op[None]:
        yield statement(sql), {"room": HER_ROOM}

    await stage.store.driver.write(change)


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(("damaged", "mended"), DAMAGED_AND_MENDED.values(), ids=[*DAMAGED_AND_MENDED])
async def test_a_row_that_cannot_be_read_keeps_no_other_conversation_from_its_answer(
    any_stage: Stage, damaged: str, mended: str
) -> None:
    before = await any_stage.process(Strict([]))
    await before.say("hi", who=UMA)
    await before.say("hello", room="r2")
    await write(any_stage, damaged)
    process = await any_stage.process(Planned(end="done"))
    with capture_logs() as logs:
        async with process.running():
            await until(lambda: any_stage.answers("r2"))
            await until(lambda: any_stage.audit("conversation unreadable"))
            assert await any_stage.answers() == []
            await process.say("again", room="r2")
            await until(lambda: _has(any_stage, "r2", 2))
            await write(any_stage, mended)
            await process.rest()
    assert await any_stage.answers() == ["done"]
    assert await any_stage.states() == [RunState.DONE] * 3
    [told] = [log for log in logs if log["log_level"] == "error"]
    assert told["session"] == f"main|{HER_ROOM}"
    assert told["exc_info"] is not None


async def _has(stage: Stage, room: str, count: int) -> bool:
    return len(await stage.answers(room)) == count


async def test_a_message_to_a_conversation_that_cannot_be_read_is_taken_in_and_waits(any_stage: Stage) -> None:
    damaged, mended = DAMAGED_AND_MENDED["a room"]
    process = await any_stage.process(Planned(end="done"))
    with capture_logs():
        async with process.running():
            await process.say("hi", who=UMA)
            await process.rest()
            await write(any_stage, damaged)
            assert (await process.say("still there?", who=UMA)).outcome is Outcome.ACCEPTED
            await until(lambda: any_stage.audit("conversation unreadable"))
            await write(any_stage, mended)
            await process.rest()
    assert await any_stage.answers() == ["done", "done"]


async def test_a_run_whose_conversation_cannot_be_read_says_that_it_broke(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(end="done"))
    with capture_logs():
        async with process.running():
            await process.say("hi")
            await process.rest()
            await write(any_stage, "UPDATE turns SET calls = '[' WHERE role = 'assistant' AND :room = :room")
            await process.say("and now?")
            await process.rest()
    first, second = await any_stage.answers()
    assert first == "done"
    assert second.startswith("Something went wrong inside Signalbox")


async def test_a_lane_whose_claim_went_in_and_could_not_be_read_is_given_back(stage: Stage) -> None:
    class Unread(RunStore):
        """Its first claim breaks behind the COMMIT."""

        broken = False

        async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
            claimed = await super().claim(lease, busy)
            if claimed and not self.broken:
                self.broken = True
                raise RowDamaged(claimed.lane.session, ValueError("no such word"))
            return claimed

    store = replace(stage.store, runs=Unread(stage.store.driver, new_id))
    process = await stage.process(Planned(end="done"), store=store)
    await process.say("hi")
    with capture_logs():
        await process.answer_all()
    assert await stage.answers() == ["done"]
