"""What there is to do, as one look sees it: each thing as soon as it is there, and no longer than it is."""

from __future__ import annotations

import pytest

from runtime.contract import NodeId, Wire
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.domain.schedules import ScheduleEvent
from runtime.store.protocol.cluster import Agenda
from runtime.store.sql.driver import micros, moment
from tests.contract.store.stage import TTL, Stage
from tests.contract.store.test_counted_schedules import HOUR, fire, planned
from tests.contract.store.test_suspects import two_deaths, watches


async def look(stage: Stage) -> Agenda:
    return await stage.store.cluster.agenda(stage.lease.node)


async def seal(stage: Stage) -> None:
    await stage.store.audit.seal(await stage.duty("sealer"), await stage.store.audit.audit_head())


@pytest.fixture
async def rested(stage: Stage) -> Stage:
    await seal(stage)
    return stage


async def test_where_nothing_is_to_be_done_nothing_is_told(rested: Stage) -> None:
    assert await look(rested) == Agenda()


async def test_facts_are_to_be_sealed(stage: Stage) -> None:
    """There are some of the people that the stage has added."""
    assert (await look(stage)).facts
    await seal(stage)
    assert not (await look(stage)).facts


async def test_a_lane_that_is_ready_is_to_be_claimed(rested: Stage) -> None:
    await rested.say("hello")
    assert (await look(rested)).lanes
    await rested.claim()
    assert not (await look(rested)).lanes


async def test_a_run_under_which_processes_died_is_to_be_watched(rested: Stage) -> None:
    await two_deaths(rested, "a")
    found = await look(rested)
    assert (found.suspects, found.lanes) == (True, False)
    assert await watches(rested, rested.lease)
    assert not (await look(rested)).suspects


async def test_what_is_not_on_screen_is_to_be_shown(rested: Stage) -> None:
    """Also what was begun: a marker may be all that is left of it."""
    delivery, duty = await rested.enqueue(), await rested.duty()
    assert (await look(rested)).deliveries
    await rested.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    assert (await look(rested)).deliveries
    await rested.store.outbox.give_up(duty, delivery, 1, "refused")
    assert not (await look(rested)).deliveries


async def test_schedules_tell_when_the_first_fires(rested: Stage) -> None:
    start = rested.clock()
    first = await planned(rested, "first")
    rested.clock.advance(seconds=60)
    second = await planned(rested, "second")
    assert (await look(rested)).fires_at == start + HOUR
    await rested.store.schedules.turn_schedule(first.id, ScheduleEvent.PAUSE)
    assert (await look(rested)).fires_at == second.next_at
    await rested.store.schedules.turn_schedule(second.id, ScheduleEvent.REMOVE)
    assert (await look(rested)).fires_at is None


async def test_what_failed_is_tried_again_before_the_next(rested: Stage) -> None:
    schedule = await planned(rested)
    rested.clock.advance(hours=1)
    await fire(rested, schedule)
    claim = await rested.claim()
    await rested.store.runs.finish(claim.lane, claim.run_id, claim.next_step, None, RunState.FAILED, "away", [])
    (again,) = await rested.column("SELECT not_before FROM occurrences")
    assert again < micros(rested.clock() + HOUR)
    assert (await look(rested)).fires_at == moment(again)


async def test_of_leases_the_first_of_other_nodes_is_told(rested: Stage) -> None:
    rested.lease = await rested.store.cluster.join(NodeId(new_id()), "ours", TTL / 5, alone=True)
    assert (await look(rested)).lease_ends_at is None
    rested.clock.advance(seconds=0.5)
    other = await rested.store.cluster.join(NodeId(new_id()), "other", TTL, alone=False)
    assert (await look(rested)).lease_ends_at == rested.clock() + TTL
    rested.clock.advance(seconds=1)
    await rested.store.cluster.beat(other, TTL)
    assert (await look(rested)).lease_ends_at == rested.clock() + TTL
    await rested.store.cluster.leave(other)
    assert (await look(rested)).lease_ends_at is None


async def test_roles_of_accounts_that_nobody_has_are_free(rested: Stage) -> None:
    """Not those that are taken when there is something to do, such as the sealer's, which nobody waits for."""
    other = await rested.store.cluster.join(NodeId(new_id()), "other", TTL, alone=False)
    assert await rested.store.cluster.take(other, "courier:slack:T1")
    assert await rested.store.cluster.take(other, "retention")
    assert not (await look(rested)).roles
    await rested.store.cluster.leave(other)
    assert (await look(rested)).roles
    assert await rested.store.cluster.take(rested.lease, "courier:slack:T1")
    assert not (await look(rested)).roles
