"""A room kept for a change that is about to be committed: made at once where nothing else goes there, else in its turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from runtime.contract import Address, Delivery, DeliveryId, Features, Kind, Part, Receipt, Wire
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.domain.deliveries import DeliveryState
from runtime.store.protocol import KeptRoom, OpenDelivery
from tests.contract.courier.scripted import ScriptedAdapter
from tests.contract.courier.stage import Stage, address
from tests.contract.courier.test_duty import running
from tests.contract.courier.test_edits import ORIGIN, card, decided, shown
from tests.contract.courier.test_rates import Rated, rested
from tests.contract.runtime.stage import LEASE, Crash, crash_at

ROOM = address()


class Counted(ScriptedAdapter):
    """Counts how often it renders."""

    rendered = 0

    def render(self, delivery: Delivery) -> list[Wire]:
        self.rendered += 1
        return super().render(delivery)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        self.screen[int(receipt.message_id)] = part
        return receipt


@asynccontextmanager
async def at_work(courier: Courier) -> AsyncIterator[None]:
    await courier.drain()
    async with running(courier):
        while not courier.on_duty:  # noqa: ASYNC110 - taking a duty rings no bell
            await asyncio.sleep(0.005)
        await courier.quiet()
        yield


async def kept_and_decided(stage: Stage, courier: Courier, asked: DeliveryId) -> tuple[KeptRoom, OpenDelivery]:
    kept = courier.keep(ROOM)
    assert kept
    await decided(stage, asked)
    [change] = await stage.store.outbox.open_deliveries(ROOM)
    return kept, change


async def test_a_change_in_a_kept_room_is_made_though_nobody_nudges(any_stage: Stage) -> None:
    asked, courier = await card(any_stage), await any_stage.courier()
    async with at_work(courier):
        kept, change = await kept_and_decided(any_stage, courier, asked)
        kept.foreseen(change)
        kept.go_on(change)
        await courier.quiet()
    assert shown(any_stage) == [("Approved by Ada", 0)]
    assert await any_stage.state(change.delivery.id) is DeliveryState.SHOWN


@pytest.mark.parametrize("foreseen", [True, False])
async def test_it_is_rendered_once_whether_it_was_foreseen_or_not(foreseen: bool, stage: Stage) -> None:
    adapter = Counted(offers=Features(settles=True, edits=True))
    asked, courier = await card(stage), await stage.courier(adapter=adapter)
    async with at_work(courier):
        adapter.rendered = 0
        kept, change = await kept_and_decided(stage, courier, asked)
        if foreseen:
            kept.foreseen(change)
        await asyncio.sleep(0)
        kept.go_on(change)
        await courier.quiet()
    assert (adapter.texts, adapter.rendered) == (["Approved by Ada"], 1)


async def test_what_was_foreseen_and_then_made_anew_is_rendered_anew(stage: Stage) -> None:
    """A batch that fails is replayed, and ids are made anew with it."""
    adapter = Counted(offers=Features(settles=True, edits=True))
    asked, courier = await card(stage), await stage.courier(adapter=adapter)
    async with at_work(courier):
        kept = courier.keep(ROOM)
        assert kept
        [first] = [stage.new("Denied by Ada", kind=Kind.APPROVAL, origin=ORIGIN, ordinal=1, edits=asked)]
        await decided(stage, asked)
        [change] = await stage.store.outbox.open_deliveries(ROOM)
        old = Delivery(first.id, first.origin, 1, first.kind, ROOM, first.content, asked)
        kept.foreseen(OpenDelivery(old, change.state, change.rank, 0, change.not_before, (), change.edit_of))
        await asyncio.sleep(0)
        kept.go_on(change)
        await courier.quiet()
    assert adapter.texts == ["Approved by Ada"]


async def test_a_kept_room_is_kept_once_and_waits_for_what_comes_of_it(stage: Stage) -> None:
    courier = await stage.courier()
    async with at_work(courier):
        kept = courier.keep(ROOM)
        assert kept
        assert courier.keep(ROOM) is None
        await stage.put("hello")
        courier.nudge(ROOM)
        await asyncio.sleep(0.05)
        assert shown(stage) == []
        kept.go_on(None)
        await courier.quiet()
        assert [text for text, _ in shown(stage)] == ["hello"]
        assert courier.keep(ROOM)


async def test_a_courier_without_the_duty_keeps_nothing(stage: Stage) -> None:
    courier = await stage.courier()
    assert courier.keep(ROOM) is None
    couriers = Couriers([courier], stage.store.outbox)
    assert couriers.keep(ROOM) is None
    assert couriers.keep(Address("other", "main", "r1")) is None


async def test_a_token_that_no_change_needed_is_given_back(stage: Stage) -> None:
    courier = await rested(stage, Rated())
    async with at_work(courier):
        for _ in range(3):
            kept = courier.keep(ROOM)
            assert kept
            kept.go_on(None)
            await courier.quiet()


async def test_without_a_token_nothing_is_kept(stage: Stage) -> None:
    courier = await rested(stage, Rated())
    async with at_work(courier):
        kept = courier.keep(ROOM)
        assert kept
        courier.let_go(ROOM)
        await courier.quiet()
        assert courier.keep(ROOM) is None


# ------------------------------------------------------------------------------------ an edit needs no marker


@pytest.mark.parametrize("point", ["part-marked", "part-shown"])
async def test_a_change_that_is_cut_waits_as_it_was_and_is_made_at_once_by_who_comes_next(
    point: str, any_stage: Stage
) -> None:
    asked = await card(any_stage)
    await (await any_stage.courier()).drain()
    edit = await decided(any_stage, asked)
    with pytest.raises(Crash):
        await (await any_stage.courier(probe=crash_at(point))).drain()
    row = await any_stage.row(edit)
    assert (row.state, row.attempts, row.parts) == (DeliveryState.QUEUED, 0, ())
    any_stage.clock.advance(LEASE)
    await (await any_stage.courier()).drain()
    assert shown(any_stage) == [("Approved by Ada", 0)]
    assert await any_stage.state(edit) is DeliveryState.SHOWN


async def test_a_change_costs_one_commit_after_it(any_stage: Stage) -> None:
    asked = await card(any_stage)
    await (await any_stage.courier()).drain()
    await decided(any_stage, asked)
    told: list[str] = []
    outbox = any_stage.store.outbox
    for name in ("render", "mark", "checkpoint", "render_shown"):
        setattr(outbox, name, _telling(getattr(outbox, name), name, told))
    await (await any_stage.courier()).drain()
    assert told == ["render_shown"]


def _telling(write: Callable[..., object], name: str, told: list[str]) -> Callable[..., object]:
    def writes(*given: object, **named: object) -> object:
        told.append(name)
        return write(*given, **named)

    return writes
