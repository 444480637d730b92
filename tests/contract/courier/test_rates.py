"""A platform that bounds how much may be sent: tokens before markers, the urgent first, and waits that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from runtime.contract import Address, Attempt, Bucket, Features, Kind, Now, Part, Receipt, Settled
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.errors import Retryable, Scope
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import Stage, a_claim
from tests.contract.courier.test_duty import running
from tests.contract.runtime.stage import LEASE, START

SECOND = timedelta(seconds=1)
TICK = SECOND / 10
REST = timedelta(hours=1)


@dataclass
class Rated(ScriptedAdapter):
    """Notes when each part was shown. `busy` are waits that the platform names, in the order of sends."""

    now: Now = lambda: START
    of_room: tuple[int, timedelta] = (1, SECOND)
    of_all: tuple[int, timedelta] = (99, TICK)
    busy: list[Retryable] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    asked: int = 0

    def features(self) -> Features:
        return replace(self.offers, buckets=self.buckets)

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return Bucket("all", *self.of_all), Bucket(address.room, *self.of_room)

    async def show(self, part: Part) -> Receipt:
        self.asked += 1
        if self.busy:
            raise self.busy.pop(0)
        self.times.append(self.now())
        return await super().show(part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        self.asked += 1
        return await super().settle(part, attempt)


async def rested(stage: Stage, adapter: Rated) -> Courier:
    """A courier that has been on duty for long: every bucket is full."""
    adapter.now = stage.clock
    courier = await stage.courier(adapter=adapter)
    await courier.drain()
    stage.clock.advance(REST)
    return courier


async def run(stage: Stage, courier: Courier, wait: timedelta, step: timedelta = TICK) -> None:
    """Let the courier work for so long, by the clock of the test, which goes on by `step`."""
    until = stage.clock.at + wait
    await courier.drain()
    while stage.clock.at < until:
        stage.clock.advance(step)
        await courier.drain()


def after(adapter: Rated, began: datetime) -> list[float]:
    """When each part was sent, in seconds."""
    return [round((at - began).total_seconds(), 1) for at in adapter.times]


# ----------------------------------------------------------------------------------------------------------- tokens


async def test_a_room_gets_what_it_bears_and_no_more(any_stage: Stage) -> None:
    adapter = Rated(of_room=(2, SECOND))
    courier, began = await rested(any_stage, adapter), any_stage.clock.at
    for number in range(4):
        await any_stage.put(f"{number}")
    await run(any_stage, courier, 3 * SECOND)
    assert adapter.texts == ["0", "1", "2", "3"]
    assert after(adapter, began) == [0, 0, 1, 2]


async def test_each_part_of_a_long_text_takes_a_token(stage: Stage) -> None:
    adapter = Rated()
    courier, began = await rested(stage, adapter), stage.clock.at
    await stage.put("a|b|c")
    await run(stage, courier, 3 * SECOND)
    assert after(adapter, began) == [0, 1, 2]


async def test_what_waits_for_a_token_is_not_marked(stage: Stage) -> None:
    """A marker without a send would have to be looked for after a kill."""
    courier = await rested(stage, Rated())
    await stage.put("first")
    waiting = await stage.put("second")
    await courier.drain()
    row = await stage.row(waiting)
    assert (row.state, row.attempts, row.parts) == (DeliveryState.QUEUED, 0, ())


async def test_a_room_that_waits_for_a_token_holds_up_no_other(stage: Stage) -> None:
    adapter = Rated()
    courier = await rested(stage, adapter)
    for text in ("1", "2"):
        await stage.put(text, room="r1")
    await stage.put("3", room="r2")
    await courier.drain()
    assert sorted(adapter.texts) == ["1", "3"]


async def test_looking_for_a_part_takes_a_token_too(stage: Stage) -> None:
    adapter = Rated([End.APPLIED], of_room=(1, REST))
    courier = await rested(stage, adapter)
    delivery = await stage.put("hello")
    await run(stage, courier, 60 * SECOND)
    assert [part.state for part in (await stage.row(delivery)).parts] == [PartState.UNSETTLED]
    assert adapter.asked == 1
    stage.clock.advance(REST)
    await courier.drain()
    assert await stage.state(delivery) is DeliveryState.SHOWN


async def test_the_most_urgent_room_gets_the_next_token_of_the_account(any_stage: Stage) -> None:
    """Scenario 30: and progress never keeps one from a final."""
    adapter = Rated(of_room=(9, TICK), of_all=(2, SECOND))
    courier = await rested(any_stage, adapter)
    for text in ("a", "b"):
        await any_stage.put(text, room=text)
    await courier.drain()
    for number, kind in enumerate(reversed(Kind)):
        await any_stage.put(kind.value, room=f"r{number}", kind=kind)
        await courier.drain()
    await run(any_stage, courier, 6 * SECOND)
    assert adapter.texts == ["a", "b", "approval", "final", "report", "progress"]


async def test_rooms_share_the_account_in_turns(stage: Stage) -> None:
    adapter = Rated(of_room=(9, TICK), of_all=(1, SECOND))
    courier = await rested(stage, adapter)
    for room in "abc":
        for number in range(3):
            await stage.put(f"{room}{number}", room=room)
    await run(stage, courier, 10 * SECOND)
    assert "".join(text[0] for text in adapter.texts) == "aabcabcbc"  # the second one waited before others came


async def test_a_more_urgent_word_in_a_room_that_waits_takes_its_place(stage: Stage) -> None:
    adapter = Rated(of_room=(9, TICK), of_all=(1, SECOND))
    courier = await rested(stage, adapter)
    for text, room, kind in (("now", "a", Kind.FINAL), ("report", "b", Kind.REPORT), ("final", "c", Kind.FINAL)):
        await stage.put(text, room=room, kind=kind)
    await courier.drain()
    await stage.put("May I?", room="b", kind=Kind.APPROVAL)
    await run(stage, courier, 4 * SECOND)
    assert adapter.texts == ["now", "May I?", "final", "report"]


async def test_a_courier_that_takes_over_begins_with_empty_buckets(stage: Stage) -> None:
    adapter = Rated(now=stage.clock, of_room=(3, SECOND))
    courier = await stage.courier(adapter=adapter)
    began = stage.clock.at
    for number in range(3):
        await stage.put(f"{number}")
    await run(stage, courier, 4 * SECOND)
    assert after(adapter, began) == [1, 2, 3]


async def test_a_delivery_goes_up_with_the_commit_that_makes_it_only_if_there_is_a_token(stage: Stage) -> None:
    """The way that needs no commit of its own."""
    adapter = Rated(of_all=(2, SECOND))
    courier = await rested(stage, adapter)
    couriers = Couriers([courier], stage.store.outbox)
    async with running(courier):
        while not courier.on_duty:
            await stage.store.check()
        stage.clock.advance(REST)
        prepared = [await couriers.prepare(stage.new(room=f"r{number}"), a_claim()) for number in range(3)]
    assert [new.rendered is not None for new in prepared] == [True, True, False]


async def test_without_buckets_of_its_own_a_channel_is_not_held_up(stage: Stage) -> None:
    adapter = Rated(now=stage.clock, of_room=(1, REST))
    for number in range(5):
        await stage.put(f"{number}")
    await (await stage.courier(adapter=adapter, features=Features(settles=True))).drain()
    assert len(adapter.screen) == 5


# ------------------------------------------------------------------------------------------------------------ waits


async def test_a_wait_that_the_platform_names_holds_for_the_whole_room(any_stage: Stage) -> None:
    """Scenario 27: also for what comes after it and is more urgent. Ignoring it makes platforms angry."""
    adapter = Rated(of_room=(9, TICK), busy=[Retryable("busy", retry_after=40 * SECOND)])
    courier, began = await rested(any_stage, adapter), any_stage.clock.at
    await any_stage.put("first")
    await courier.drain()
    await any_stage.put("May I?", kind=Kind.APPROVAL)
    await any_stage.put("elsewhere", room="r2")
    await run(any_stage, courier, 41 * SECOND, SECOND)
    assert adapter.texts == ["elsewhere", "May I?", "first"]
    assert after(adapter, began)[0] == 0
    assert after(adapter, began)[1] == pytest.approx(40, abs=0.2)


async def test_one_that_is_about_the_account_holds_for_every_room(stage: Stage) -> None:
    adapter = Rated(of_room=(9, TICK), busy=[Retryable("busy", retry_after=40 * SECOND, scope=Scope.ACCOUNT)])
    courier, began = await rested(stage, adapter), stage.clock.at
    await stage.put("first")
    await courier.drain()
    await stage.put("elsewhere", room="r2")
    await run(stage, courier, 41 * SECOND, SECOND)
    assert sorted(adapter.texts) == ["elsewhere", "first"]
    assert min(after(adapter, began)) == pytest.approx(40, abs=0.2)


@pytest.mark.parametrize("scope", Scope)
async def test_it_outlives_a_restart_for_what_comes_after_it_too(scope: Scope, any_stage: Stage) -> None:
    """Scenario 27: after a restart too. Design 7: what the platform named is stored, and nothing else of this."""
    busy = Retryable("busy", retry_after=40 * SECOND, scope=scope)
    first = await rested(any_stage, Rated(of_room=(9, TICK), busy=[busy]))
    began = any_stage.clock.at
    await any_stage.put("first")
    await first.drain()
    any_stage.clock.advance(LEASE)
    adapter = Rated(now=any_stage.clock, of_room=(9, TICK))
    second = await any_stage.courier(adapter=adapter)
    await any_stage.put("second")
    await any_stage.put("elsewhere", room="r2")
    await run(any_stage, second, 40 * SECOND, SECOND)
    when = dict(zip(adapter.texts, after(adapter, began), strict=True))
    quiet = {"first", "second"} | ({"elsewhere"} if scope is Scope.ACCOUNT else set())
    assert all((when[text] >= 40) is (text in quiet) for text in when)
    assert set(when) == {"first", "second", "elsewhere"}


async def test_a_wait_named_while_looking_holds_too(stage: Stage) -> None:
    looks = [Retryable("busy", retry_after=40 * SECOND, scope=Scope.ACCOUNT)]

    class Busy(Rated):
        async def settle(self, part: Part, attempt: Attempt) -> Settled:
            if looks:
                raise looks.pop()
            return await super().settle(part, attempt)

    adapter = Busy([End.APPLIED], of_room=(9, TICK))
    courier = await rested(stage, adapter)
    await stage.put("hello")
    await courier.drain()
    assert looks == []
    await stage.put("elsewhere", room="r2")
    await run(stage, courier, 30 * SECOND)
    assert adapter.texts == ["hello"]
    await run(stage, courier, 20 * SECOND)
    assert adapter.texts == ["hello", "elsewhere"]
