"""What settling is told of an attempt: the floor under it, and since when the part may be on screen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from runtime.contract import Address, Attempt, Features, Part, Settled, SettleResult
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import Stage, a_claim, address
from tests.contract.courier.test_duty import running
from tests.contract.runtime.stage import LEASE, Crash, crash_at


@dataclass
class Floored(ScriptedAdapter):
    """Counts what came in: the floor is the number of the newest message."""

    newest: int = 0
    told: list[Attempt] = field(default_factory=list)
    answer: SettleResult | None = None

    def features(self) -> Features:
        return replace(self.offers, floor=self.floor)

    def floor(self, address: Address) -> str:
        self.newest += 1
        return f"{address.room}:{self.newest}"

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        self.told.append(attempt)
        return self.answer or await super().settle(part, attempt)


async def settled(stage: Stage, adapter: Floored) -> list[Attempt]:
    await stage.settle(await stage.courier(adapter=adapter), timedelta(minutes=5))
    return adapter.told


async def test_the_floor_of_just_before_the_marker_is_what_settling_gets(any_stage: Stage) -> None:
    await any_stage.put("one|two", room="r7")
    told = await settled(any_stage, Floored([End.APPLIED, End.APPLIED]))
    assert [attempt.floor for attempt in told] == ["r7:1", "r7:2"]


async def test_each_attempt_has_a_floor_of_its_own(any_stage: Stage) -> None:
    await any_stage.put("hello")
    told = await settled(any_stage, Floored([End.RETRYABLE, End.APPLIED]))
    assert [(attempt.number, attempt.floor) for attempt in told] == [(2, "r1:2")]


@pytest.mark.parametrize("point", ["part-marked", "part-shown"])
async def test_the_floor_outlives_a_kill(point: str, any_stage: Stage) -> None:
    await any_stage.put("hello")
    with pytest.raises(Crash):
        await (await any_stage.courier(adapter=Floored(), probe=crash_at(point))).drain()
    any_stage.clock.advance(LEASE)
    heir = Floored(newest=80)
    await settled(any_stage, heir)
    assert heir.told[0].floor == "r1:1"


async def test_a_part_marked_in_the_commit_that_made_it_has_its_floor_too(stage: Stage) -> None:
    adapter = Floored([End.APPLIED])
    courier = await stage.courier(adapter=adapter)
    new = stage.new("hello")
    async with running(courier):
        while not courier.on_duty:
            await stage.store.check()
        prepared = await Couriers([courier], stage.store.outbox).prepare(new, a_claim())
    assert prepared.rendered is not None
    assert prepared.rendered.floor == "r1:1"


async def first_attempts(stage: Stage, adapter: Floored) -> list[timedelta]:
    """How long before each look's own attempt the first one was."""
    return [attempt.marked_at - at(attempt.first_at) for attempt in await settled(stage, adapter)]


def at(moment: datetime | None) -> datetime:
    assert moment is not None
    return moment


async def test_the_first_attempt_is_the_first_since_it_was_known_absent(any_stage: Stage) -> None:
    """What certainly failed, and what was looked for twice, left nothing that a platform could know."""
    await any_stage.put("hello")
    ends = [End.RETRYABLE, End.NOT_APPLIED, End.RETRYABLE, End.APPLIED]
    waits = await first_attempts(any_stage, Floored(ends))
    assert waits == [timedelta()] * 3


async def test_where_nobody_could_tell_it_is_the_attempt_before(any_stage: Stage) -> None:
    """The platform may know the part by the key of then."""
    await any_stage.put("hello")
    adapter = Floored([End.APPLIED, End.APPLIED], answer=SettleResult.UNKNOWN)
    waits = await first_attempts(any_stage, adapter)
    assert waits[0] == timedelta()
    assert waits[1] >= timedelta(seconds=10)


async def test_an_account_whose_identity_is_not_known_yet_takes_no_duty(stage: Stage) -> None:
    adapter = ScriptedAdapter(identity="")
    courier: Courier = await stage.courier(adapter=adapter)
    couriers = Couriers([courier], stage.store.outbox)
    await stage.put("hello")
    await courier.drain()
    assert adapter.screen == []
    assert not couriers.serves(address())
    adapter.identity = address().account
    assert couriers.serves(address())
    await courier.drain()
    assert adapter.texts == ["hello"]
