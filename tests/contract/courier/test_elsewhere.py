"""What a node puts into the outbox while another one has the courier: it is called, and need not find it by looking."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.accounts.lookup import RoomLookup
from bot.accounts.naming import Accounts
from runtime.contract import Address, Content, DeliveryId, Features, Kind, RunId
from runtime.delivery import context
from runtime.delivery import courier as module
from runtime.delivery.couriers import Couriers
from runtime.errors import Rejected
from runtime.store.protocol import NewDelivery
from tests.contract.courier.scripted import ScriptedAdapter
from tests.contract.courier.stage import ACCOUNT, Stage, a_claim, address
from tests.contract.courier.test_duty import running


@pytest.fixture(autouse=True)
def _no_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found by looking now and then."""
    monkeypatch.setattr(context, "POLL", timedelta(hours=1))
    monkeypatch.setattr(module, "REST", timedelta(hours=1))


async def until_seen(stage: Stage, count: int) -> None:
    async with asyncio.timeout(20):
        while len(stage.seen()) < count:  # noqa: ASYNC110 - the screen rings no bell
            await asyncio.sleep(0.005)


async def until_on_duty(couriers: Couriers) -> None:
    async with asyncio.timeout(20):
        while not all(courier.on_duty for courier in couriers):  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0)


async def test_the_node_that_has_the_courier_is_called(any_stage: Stage) -> None:
    """And only that one: a room which is served here is nobody else's business."""
    serving = Couriers([await any_stage.courier(lease=await any_stage.lease(alone=False))], any_stage.store.outbox)
    calls: list[Address] = []
    async with running(*serving):
        await until_on_duty(serving)
        idle = await any_stage.courier(lease=await any_stage.lease(alone=False))
        other = Couriers([idle], any_stage.store.outbox, calls.append)
        async with running(idle):
            await any_stage.put("hello")
            other.nudge(address())
            assert calls == [address()]
            serving.called(calls[0])
            await until_seen(any_stage, 1)


async def test_a_room_that_is_served_here_calls_nobody(any_stage: Stage) -> None:
    calls: list[Address] = []
    courier = await any_stage.courier()
    couriers = Couriers([courier], any_stage.store.outbox, calls.append)
    async with running(courier):
        await until_on_duty(couriers)
        await any_stage.put("hello")
        couriers.nudge(address())
        await until_seen(any_stage, 1)
    assert calls == []


async def test_a_call_reaches_only_who_is_on_duty(stage: Stage) -> None:
    """So that a process which serves nothing may leave at once."""
    courier = await stage.courier()
    Couriers([courier], stage.store.outbox).called(address())
    async with asyncio.timeout(30):
        await courier.quiet()
    assert not courier.on_duty


async def test_where_our_store_is_the_screen_each_node_shows_what_it_answers(any_stage: Stage) -> None:
    """Where people are told by a platform, only the node with the duty may."""
    await (await any_stage.courier(lease=await any_stage.lease(alone=False))).drain()  # which has it
    stored, told = ScriptedAdapter(offers=Features(stored=True)), ScriptedAdapter()
    page, platform = [
        await any_stage.courier(adapter=adapter, lease=await any_stage.lease(alone=False)) for adapter in (stored, told)
    ]
    assert await platform.prepare(any_stage.new()) is None
    for _ in range(2):
        page.nudge(address())  # by somebody whose word waits for the other node
        new = any_stage.new()
        rendered = await page.prepare(new)
        assert rendered is not None
        assert (rendered.duty, len(rendered.receipts)) == (None, 1)
        assert await page.prepare(any_stage.new()) is None  # the first one keeps its room
        page.begin(replace(new, rendered=rendered), RunId("r"))
    async with asyncio.timeout(30):
        await page.quiet()


async def test_an_answer_that_waits_its_turn_calls_the_node_that_shows_it(stage: Stage) -> None:
    """What it waits for may be over by the time it is committed: then nobody there looks at the room once more."""
    await (await stage.courier(lease=await stage.lease(alone=False))).drain()  # which has the duty
    adapter, calls = ScriptedAdapter(offers=Features(stored=True)), list[Address]()
    page = await stage.courier(adapter=adapter, lease=await stage.lease(alone=False))
    couriers = Couriers([page], stage.store.outbox, calls.append)
    prepared = await couriers.prepare(stage.new(), a_claim())
    assert prepared.rendered is not None
    couriers.carry_on(prepared, RunId("r"), begun=False)
    assert calls == [address()]
    async with asyncio.timeout(30):
        await page.quiet()


async def test_when_calls_were_lost_all_rooms_are_looked_at(any_stage: Stage) -> None:
    couriers = Couriers([await any_stage.courier()], any_stage.store.outbox)
    async with running(*couriers):
        await until_on_duty(couriers)
        for number in range(3):
            await any_stage.put(f"{number}", room=f"r{number}")
        couriers.look_around()
        await until_seen(any_stage, 3)
    assert [any_stage.seen(f"r{number}") for number in range(3)] == [["0"], ["1"], ["2"]]


async def test_a_node_without_the_account_posts_by_the_name_that_another_one_has_for_it(any_stage: Stage) -> None:
    """It took the run of a node that was killed, say."""
    store = any_stage.store
    rooms = RoomLookup(Accounts(), (), store.cluster, within=timedelta())
    here = Couriers([], store.outbox, accounts=rooms)
    hello = NewDelivery(DeliveryId("d1"), "posted:1", 0, Kind.REPORT, address(), Content("hello"))
    assert await rooms.found("fake:work/r1") is None
    with pytest.raises(Rejected, match="No account here serves"):
        await here.post(hello)
    await store.cluster.note_account("fake", "work", ACCOUNT)
    serving = await any_stage.courier(lease=await any_stage.lease(alone=False))
    async with running(serving):
        await until_on_duty(Couriers([serving], store.outbox))
        assert await store.cluster.served_accounts() == [("fake", ACCOUNT)]
        assert await rooms.found("fake:work/r1") == address()
        assert await here.post(hello)
        serving.nudge(address())
        await until_seen(any_stage, 1)
