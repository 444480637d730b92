"""Several runs that end in one room: each says its word in turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Content, DeliveryId, Kind, RunId
from runtime.delivery import courier as module
from runtime.domain.ids import new_id
from runtime.store.protocol import NewDelivery
from tests.contract.runtime.stage import Process, Stage, address
from tests.contract.runtime.strict import Strict


@pytest.fixture(autouse=True)
def _no_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found by looking now and then."""
    monkeypatch.setattr(module, "REST", timedelta(hours=1))


def report(words: str) -> NewDelivery:
    return NewDelivery(DeliveryId(new_id()), words, 0, Kind.REPORT, address(), Content(words))


async def until_on_duty(process: Process) -> None:
    async with asyncio.timeout(30):
        while not process.courier.on_duty:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0)
    await process.courier.quiet()


async def test_who_finds_the_room_kept_for_another_comes_right_after_it(stage: Stage) -> None:
    """The one is committed while the other still is: no ring comes after both."""
    process, first, second = await stage.process(Strict([])), report("first"), report("second")
    async with process.beside(process.courier.run()):
        await until_on_duty(process)
        first = replace(first, rendered=await process.courier.prepare(first))
        assert await process.courier.prepare(second) is None
        assert await stage.store.outbox.enqueue(second)
        process.courier.nudge(address())
        await asyncio.sleep(0.02)  # it finds the room kept
        process.courier.begin(first, RunId("r1"))
        await process.rest()
    assert await stage.screen() == ["second"]  # of the first there was no commit here
