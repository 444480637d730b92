"""One courier an account: the duty, its loss in the middle, and a store that is away at the wrong moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from runtime.contract import Address, DeliveryId, Part, Receipt
from runtime.delivery import context, sender
from runtime.delivery import courier as module
from runtime.delivery.courier import Courier
from runtime.delivery.sender import DutyLost
from runtime.domain.deliveries import DeliveryState
from runtime.domain.ids import new_id
from runtime.errors import StoreError
from runtime.store.delivery.store import OutboxStore
from runtime.store.protocol import Duty, OpenDelivery
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import Stage, address
from tests.contract.runtime.stage import LEASE


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits by the real clock, shortened."""
    monkeypatch.setattr(module, "STORE_RETRY_DELAY", module.STORE_RETRY_DELAY / 100)
    monkeypatch.setattr(sender, "STORE_RETRY_DELAY", sender.STORE_RETRY_DELAY / 100)
    monkeypatch.setattr(context, "POLL", context.POLL / 50)
    monkeypatch.setattr(module, "REST", context.POLL)


@asynccontextmanager
async def running(*couriers: Courier) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(courier.run()) for courier in couriers]
        try:
            async with asyncio.timeout(20):
                yield
        finally:
            for task in tasks:
                task.cancel()


async def until_seen(stage: Stage, count: int) -> None:
    while len(stage.seen()) < count:  # noqa: ASYNC110 - the screen rings no bell
        await asyncio.sleep(0.005)


# -------------------------------------------------------------------------------------------------- several couriers


async def test_of_two_couriers_only_the_one_with_the_duty_sends(any_stage: Stage) -> None:
    """Scenario 29."""
    first, second = ScriptedAdapter(), ScriptedAdapter()
    one = await any_stage.courier(adapter=first, lease=await any_stage.lease(alone=False))
    two = await any_stage.courier(adapter=second, lease=await any_stage.lease(alone=False))
    for number in range(10):
        await any_stage.put(f"{number}", room=f"r{number % 3}")
    await one.drain()
    await any_stage.put("late")
    await two.drain()
    await one.drain()
    assert (len(first.screen), len(second.screen)) == (11, 0)


async def test_two_couriers_at_once_show_everything_once(any_stage: Stage) -> None:
    """Scenario 29: in order for each room, also what comes in meanwhile."""
    couriers = [await any_stage.courier(lease=await any_stage.lease(alone=False)) for _ in range(2)]
    async with running(*couriers):
        for number in range(60):
            await any_stage.put(f"{number}", room=f"r{number % 3}")
            couriers[number % 2].nudge(address(f"r{number % 3}"))
        await until_seen(any_stage, 60)
    assert [any_stage.seen(f"r{room}") for room in range(3)] == [
        [f"{n}" for n in range(room, 60, 3)] for room in range(3)
    ]


async def test_a_courier_without_the_duty_is_quiet(stage: Stage) -> None:
    """So that its process may leave at once."""
    await (await stage.courier(lease=await stage.lease(alone=False))).drain()
    idle = await stage.courier(lease=await stage.lease(alone=False))
    async with running(idle), asyncio.timeout(30):
        idle.nudge(address())
        await idle.quiet()
    assert not idle.on_duty


async def test_a_courier_whose_duty_another_has_asks_again_only_when_it_may_be_free(stage: Stage) -> None:
    """So that twenty nodes at rest do not ask for each other's duties all day."""
    holder = await stage.lease(alone=False)
    await (await stage.courier(lease=holder)).drain()
    asked, free = list[str](), asyncio.Event()
    idle = await stage.courier(lease=await stage.lease(alone=False), asked=asked, vacancy=free.wait)
    async with running(idle):
        while not asked:  # noqa: ASYNC110 - a plain list reads better here
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)
        assert asked == [idle.role]
        await stage.store.cluster.leave(holder)
        free.set()
        while not idle.on_duty:  # noqa: ASYNC110 - a courier rings no bell
            await asyncio.sleep(0.005)


async def test_when_its_node_dies_another_courier_takes_over(any_stage: Stage) -> None:
    """Design 10: a dead node's work goes on elsewhere."""
    dying, living = await any_stage.lease(alone=False), await any_stage.lease(alone=False)
    one, two = await any_stage.courier(lease=dying), await any_stage.courier(lease=living)
    async with running(two):
        await one.drain()  # perhaps the duty is its own
        await any_stage.put("hello")
        any_stage.clock.advance(LEASE / 2)
        await any_stage.store.cluster.beat(living, LEASE)
        any_stage.clock.advance(LEASE / 2)
        await any_stage.store.cluster.reap()
        await until_seen(any_stage, 1)
    assert any_stage.seen() == ["hello"]


async def test_a_duty_lost_in_the_middle_ends_this_courier_and_the_next_settles(stage: Stage) -> None:
    """Scenario 28: the send went out, its outcome belongs to the next."""
    lease = await stage.lease()

    class Unlucky(type(stage.adapter())):  # type: ignore[misc]  # the fake's own class
        async def show(self, part: Part) -> Receipt:
            receipt: Receipt = await super().show(part)
            await stage.store.cluster.leave(lease)  # as the reaper does for a node that was frozen
            return receipt

    adapter = Unlucky(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    await stage.put("hello")
    await stage.put("next")
    with pytest.raises(DutyLost):
        await (await stage.courier(adapter=adapter, lease=lease)).drain()
    assert stage.channel.sends == 1
    await stage.settle(await stage.courier())
    assert stage.seen() == ["hello", "next"]


async def test_a_send_in_flight_when_the_duty_moves_is_cut_first_and_settled_by_the_next(any_stage: Stage) -> None:
    """Scenario 68: it is on screen, and the one who sent it never hears of it."""
    giver, taker = await any_stage.lease(alone=False), await any_stage.lease(alone=False)
    in_flight, cut = asyncio.Event(), asyncio.Event()

    class Stalled(type(any_stage.adapter())):  # type: ignore[misc]  # the fake's own class
        async def show(self, part: Part) -> Receipt:
            await super().show(part)
            in_flight.set()
            try:
                await asyncio.Event().wait()
            finally:
                cut.set()
            raise AssertionError("never")

    adapter = Stalled(base_url=any_stage.url, kind=any_stage.channel.kind, account="main", identity="main")
    one = await any_stage.courier(adapter=adapter, lease=giver)
    two = await any_stage.courier(lease=taker)
    async with running(one, two):
        while not one.on_duty:
            await any_stage.store.cluster.hand_over(taker, "fake:main", [one.role], giver.node)
            await asyncio.sleep(0.005)
        await any_stage.put("hello")  # only now: the other one may have been first, and would have shown it
        one.look_around()
        await in_flight.wait()
        async with one.pause.hold():
            assert cut.is_set()
            assert await any_stage.store.cluster.hand_over(giver, "fake:main", [one.role], taker.node)
        await any_stage.put("next")
        while len(any_stage.seen()) < 2:
            two.look_around()
            await asyncio.sleep(0.005)
        assert (one.on_duty, two.on_duty) == (False, True)
    assert any_stage.seen() == ["hello", "next"]


async def test_without_a_fresh_lease_nothing_is_sent(stage: Stage) -> None:
    """A node that may have been declared dead begins no send."""
    await stage.put("hello")
    courier = await stage.courier()
    courier._context = replace(courier._context, lease_is_fresh=lambda: False)
    await courier.drain()
    assert stage.channel.sends == 0


async def test_a_process_that_stood_still_after_its_marker_does_not_send_but_tries_again(stage: Stage) -> None:
    """Others may have looked for the part meanwhile, found nothing, and sent it."""
    is_fresh = True

    def stands_still(point: str) -> None:
        nonlocal is_fresh
        is_fresh = is_fresh and point != "part-marked"

    await stage.put("hello")
    courier = await stage.courier()
    given = replace(courier._context, lease_is_fresh=lambda: is_fresh, probe=stands_still)
    courier._context = courier._sender._context = given
    await courier.drain()
    assert stage.channel.sends == 0
    is_fresh, courier._sender._context = True, replace(given, probe=lambda point: None)
    await stage.settle(courier)
    assert stage.seen() == ["hello"]
    assert stage.channel.sends == 1


async def test_a_courier_started_again_serves_the_room_it_was_cut_in(stage: Stage) -> None:
    """As when its process lost its node and joins again."""
    hanging, begun = asyncio.Event(), asyncio.Event()

    class Hangs(ScriptedAdapter):
        async def show(self, part: Part) -> Receipt:
            begun.set()
            await hanging.wait()
            return await super().show(part)

    courier = await stage.courier(adapter=(adapter := Hangs()))
    await stage.put("hello")
    async with running(courier):
        await begun.wait()
    hanging.set()
    await stage.settle(courier)
    async with running(courier):
        await stage.put("next")
        courier.nudge(address())
        while len(adapter.screen) < 2:  # noqa: ASYNC110 - the screen rings no bell
            await asyncio.sleep(0.005)
    assert adapter.texts == ["hello", "next"]


async def test_a_delivery_discarded_in_the_middle_does_not_cut_the_others(stage: Stage) -> None:
    """A person throws it away between our look and our marker."""

    class Discards(OutboxStore):
        async def render(self, duty: Duty, delivery: DeliveryId, wires: object, *, mark: bool, floor: str = "") -> bool:
            if delivery == unwanted:
                await stage.store.operations.discard(delivery, "ada")
            return await super().render(duty, delivery, wires, mark=mark, floor=floor)  # type: ignore[arg-type]  # as given

    unwanted = await stage.put("unwanted")
    await stage.put("next")
    outbox = Discards(stage.store.driver, new_id)
    await (await stage.courier(outbox=outbox)).drain()
    assert await stage.state(unwanted) is DeliveryState.DISCARDED
    assert stage.seen() == ["next"]


# ------------------------------------------------------------------------------------------------ a store that is away


class Flaky(OutboxStore):
    """An outbox whose store is away for the next `failures` calls of the operations named in `away`."""

    away: frozenset[str] = frozenset()
    failures = 0

    def _fail(self, name: str) -> None:
        if name in self.away and self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")

    async def checkpoint(self, duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        self._fail("checkpoint")
        return await super().checkpoint(duty, delivery, ordinal, receipt)

    async def retry(self, *given: object) -> bool:
        self._fail("retry")
        return await super().retry(*given)  # type: ignore[arg-type]  # as given

    async def doubt(self, *given: object) -> bool:
        self._fail("doubt")
        return await super().doubt(*given)  # type: ignore[arg-type]  # as given

    async def give_up(self, *given: object) -> bool:
        self._fail("give_up")
        return await super().give_up(*given)  # type: ignore[arg-type]  # as given

    async def open_deliveries(self, address: Address, *, limit: int = 20) -> list[OpenDelivery]:
        self._fail("open_deliveries")
        return await super().open_deliveries(address, limit=limit)

    async def open_rooms(self, channel: str, account: str) -> list[Address]:
        self._fail("open_rooms")
        return await super().open_rooms(channel, account)


@pytest.mark.parametrize(
    ("operation", "end", "state"),
    [
        ("checkpoint", End.SHOWN, DeliveryState.SHOWN),
        ("retry", End.RETRYABLE, DeliveryState.SHOWN),
        ("doubt", End.APPLIED, DeliveryState.SHOWN),
        ("give_up", End.REJECTED, DeliveryState.DEAD),
    ],
)
async def test_an_outcome_is_kept_until_it_can_be_recorded(
    operation: str, end: End, state: DeliveryState, stage: Stage
) -> None:
    """A store that is away after the send: the receipt is not lost, and nothing is sent twice."""
    outbox = Flaky(stage.store.driver, new_id)
    outbox.away, outbox.failures = frozenset({operation}), 3
    delivery = await stage.put("hello")
    with capture_logs():
        await stage.settle(await stage.courier(adapter=(adapter := ScriptedAdapter([end])), outbox=outbox))
    assert outbox.failures == 0
    assert await stage.state(delivery) is state
    assert adapter.texts == ([] if state is DeliveryState.DEAD else ["hello"])


@pytest.mark.parametrize("operation", ["open_deliveries", "open_rooms"])
async def test_a_store_that_was_away_is_asked_again(operation: str, stage: Stage) -> None:
    outbox = Flaky(stage.store.driver, new_id)
    outbox.away, outbox.failures = frozenset({operation}), 2
    courier = await stage.courier(outbox=outbox)
    await stage.put("hello")
    with capture_logs():
        async with running(courier):
            while not stage.seen():
                stage.clock.advance(LEASE / 100)
                await asyncio.sleep(0.005)
    assert stage.seen() == ["hello"]


async def test_a_courier_that_loses_its_duty_while_it_is_cancelled_ends(stage: Stage) -> None:
    """As after a freeze: the node learns that it was declared dead at the moment at which a part of its does."""

    async def learns_it_last() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise DutyLost

    courier = await stage.courier(lease=await stage.lease(alone=False))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(courier.run())
        while not courier.on_duty:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)
        courier.spawn(learns_it_last())
        await asyncio.sleep(0)
        task.cancel()
        ended, _ = await asyncio.wait({task}, timeout=20)
        task.cancel()  # so that one that went on does not outlive the test
    assert ended
    assert not courier.on_duty
