"""Every transaction that changes something is counted by what became of it, on every store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.accounts.naming import Called
from bot.metrics.counting import Counting
from bot.metrics.labels import OTHER, Labels
from bot.metrics.meters import Meters
from runtime.contract import (
    ApprovalKind,
    Call,
    Choice,
    DeliveryId,
    Effect,
    NodeId,
    Receipt,
    Said,
    Wire,
)
from runtime.domain.deliveries import PartEvent
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Duty, NewStep, Rendered
from runtime.store.store import Store
from tests.contract.store.stage import ADA, LIST, ROOM, SHELL, STRANGER, UMA, Stage, reply, step

WEB = ("web", "home")
ROLE = "courier:web:main"
AGES = timedelta(seconds=100)
"""How much later than the ids were made the clock of these tests stands."""


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
def counted(stage: Stage, meters: Meters) -> Stage:
    """The stage, with its store counted."""
    labels = Labels()
    labels.learn_account(Called("web", "home", "main"))
    labels.learn_tools(["shell", "list_files"])
    stage.observe(Counting(meters, labels, clock=lambda: datetime.now(UTC) + AGES))
    return stage


async def sending(counted: Stage) -> tuple[DeliveryId, Duty]:
    """A delivery of one part whose attempt is marked."""
    delivery, duty = await counted.enqueue("hello"), await counted.duty(ROLE)
    assert await counted.store.outbox.render(duty, delivery, [Wire("hello", "plain")], mark=True)
    return delivery, duty


# --------------------------------------------------------------------------------------------------------- taking in


async def test_signals_are_counted_by_account_kind_and_outcome(counted: Stage, meters: Meters) -> None:
    await counted.say("hello", actor=UMA)
    await counted.say("hello", actor=UMA)
    await counted.say("hello", actor=STRANGER)
    await counted.stop(actor=ADA)
    assert {labels[2:]: count for labels, count in meters.signals} == {
        ("said", "accepted"): 1,
        ("said", "merged"): 1,
        ("said", "refused"): 1,
        ("stopped", "unchanged"): 1,
    }
    assert all(labels[:2] == WEB for labels, _ in meters.signals)


async def test_an_event_that_comes_again_is_counted_as_that(counted: Stage, meters: Meters) -> None:
    signal = counted.signal(Said("hello"))
    for _ in range(3):
        await counted.take_in(signal)
    assert meters.signals.value(*WEB, "said", "duplicate") == 2


async def test_an_account_that_nobody_set_is_no_label_of_its_own(counted: Stage, meters: Meters) -> None:
    await counted.say("hello", at=replace(ROOM, account="gone-1"))
    await counted.say("hello", at=replace(ROOM, account="gone-2"))
    assert meters.signals.value("web", OTHER, "said", "accepted") == 2


# -------------------------------------------------------------------------------------------------------------- runs


async def test_a_message_is_followed_from_acceptance_to_claim_to_answer(counted: Stage, meters: Meters) -> None:
    claim = await counted.begin("hello")
    assert (meters.claim_lag.count(), meters.begun.value("new")) == (1, 1)
    assert meters.claim_lag.sum() == pytest.approx(AGES.total_seconds(), abs=5)
    await counted.finish(claim)
    assert meters.answer_lag.count(*WEB, "straight") == 0
    [waiting] = await counted.waiting()
    await counted.show(waiting.delivery.id, await counted.duty(ROLE))
    assert meters.answer_lag.sum(*WEB, "straight") == pytest.approx(AGES.total_seconds(), abs=5)
    assert meters.shown_lag.count(*WEB) == meters.parts.value(*WEB, "shown") == 1
    assert (meters.runs.value(RunState.DONE), meters.steps.value("model")) == (1, 1)


async def test_an_answer_is_on_screen_with_its_last_part(counted: Stage, meters: Meters) -> None:
    await counted.finish(await counted.begin("hello"))
    duty, [waiting] = await counted.duty(ROLE), await counted.waiting()
    await counted.store.outbox.render(duty, waiting.delivery.id, [Wire("one"), Wire("two")], mark=True)
    await counted.store.outbox.checkpoint(duty, waiting.delivery.id, 1, Receipt("m1"))
    assert meters.answer_lag.count(*WEB, "straight") == 0
    await counted.store.outbox.mark(duty, waiting.delivery.id, 2)
    await counted.store.outbox.checkpoint(duty, waiting.delivery.id, 2, Receipt("m2"))
    assert meters.answer_lag.count(*WEB, "straight") == 1
    assert meters.parts.value(*WEB, "shown") == 2


async def test_an_answer_shown_with_its_own_commit_is_counted(counted: Stage, meters: Meters) -> None:
    claim = await counted.begin("hello")
    rendered = Rendered(None, (Wire("done"),), (Receipt("m1"),))
    final = replace(counted.final(claim), rendered=rendered)
    released = await counted.store.runs.finish(
        claim.lane, claim.run_id, claim.next_step, reply("done"), RunState.DONE, "done", [final]
    )
    assert released is not None
    assert final.id in released.begun
    assert meters.answer_lag.count(*WEB, "straight") == meters.parts.value(*WEB, "shown") == 1


async def test_an_answer_after_a_question_is_told_apart(counted: Stage, meters: Meters) -> None:
    parked = await counted.park(SHELL)
    await counted.click(parked.approvals[0])
    await counted.finish(await counted.claim())
    await counted.drain()
    ways = {labels[2]: meters.answer_lag.count(*labels) for labels in meters.answer_lag}
    assert ways == {"resumed": 1}
    assert dict(meters.begun) == {("new",): 1, ("resumed",): 1}
    assert meters.runs.value(RunState.PARKED) == meters.runs.value(RunState.DONE) == 1


async def test_an_answer_that_another_process_wrote_is_told_apart(counted: Stage, meters: Meters, store: Store) -> None:
    claim = await counted.begin("hello")
    counted_store, counted.store = counted.store, store
    await counted.finish(claim)
    counted.store = counted_store
    await counted.drain()
    assert {labels[2]: meters.answer_lag.count(*labels) for labels in meters.answer_lag} == {"adopted": 1}


async def test_a_write_whose_lease_is_lost_is_not_counted(counted: Stage, meters: Meters) -> None:
    claim = await counted.begin("hello")
    counted.clock.advance(hours=24 * 366)
    await counted.store.cluster.reap()
    assert await counted.finish(claim) is None
    assert meters.runs.value(RunState.DONE) == meters.steps.value("model") == 0


async def test_steps_are_counted_by_kind_and_calls_that_do_not_run_as_refused(counted: Stage, meters: Meters) -> None:
    claim = await counted.begin("hello")
    made_up = Call("call-9", "rm_rf_everything", "{}")
    done = NewStep(made_up, Effect.READ, "h", StepState.DONE, "there is no such tool")
    recorded = await counted.record(claim, step(LIST), step(SHELL, StepState.DONE, "denied"), done)
    await counted.store.runs.mark_tool(claim.lane, claim.run_id, recorded.steps[0].number)
    await counted.store.runs.finish_tool(claim.lane, claim.run_id, recorded.steps[0].number, "a.txt")
    assert dict(meters.steps) == {("model",): 1, ("tool",): 1}
    assert dict(meters.tool_calls) == {("shell", "refused"): 1, (OTHER, "refused"): 1}


# --------------------------------------------------------------------------------------------------------- questions


async def test_questions_are_counted_by_how_they_ended_with_their_age(counted: Stage, meters: Meters) -> None:
    parked = await counted.park(SHELL, LIST)
    await counted.click(parked.approvals[0], Choice.APPROVE)
    await counted.click(parked.approvals[0], Choice.DENY)  # too late: it counts for nothing
    await counted.click(parked.approvals[1], Choice.DENY)
    assert meters.asked.value(ApprovalKind.CALL) == 2
    assert {labels[1]: count for labels, count in meters.settled if count} == {"approved": 1, "denied": 1}
    assert meters.question_age.sum(ApprovalKind.CALL) == pytest.approx(2 * AGES.total_seconds(), abs=10)


async def test_a_question_nobody_answered_is_counted_as_expired(counted: Stage, meters: Meters) -> None:
    await counted.park(SHELL)
    counted.clock.advance(hours=13)
    await counted.store.approvals.expire()
    assert meters.settled.value(ApprovalKind.CALL, "expired") == 1
    assert meters.question_age.sum(ApprovalKind.CALL) == 13 * 3600


# ------------------------------------------------------------------------------------------------------------ parts

Ending = Callable[[Stage, DeliveryId, Duty], Awaitable[bool]]
NOW = datetime(2026, 3, 1, tzinfo=UTC)

ENDINGS: Mapping[str, Ending] = {
    "retried": lambda stage, d, duty: stage.store.outbox.retry(duty, d, 1, NOW, "busy"),
    "plain": lambda stage, d, duty: stage.store.outbox.plain(duty, d, 1),
    "uncertain": lambda stage, d, duty: stage.store.outbox.doubt(duty, d, 1, NOW, "cut"),
    "dead": lambda stage, d, duty: stage.store.outbox.give_up(duty, d, 1, "closed"),
    "shown": lambda stage, d, duty: stage.store.outbox.checkpoint(duty, d, 1, Receipt("m1")),
}
SETTLEMENTS: Mapping[str, Ending] = {
    "absent": lambda stage, d, duty: stage.store.outbox.absent(duty, d, 1),
    "repeated": lambda stage, d, duty: stage.store.outbox.repeat(duty, d, 1),
    "held": lambda stage, d, duty: stage.store.outbox.hold(duty, d, 1, "nobody can tell"),
    "dropped": lambda stage, d, duty: stage.store.outbox.drop(duty, d, 1, PartEvent.ABSENT, "not there"),
}


def parts(meters: Meters) -> Mapping[str, float]:
    return {labels[2]: count for labels, count in meters.parts if count}


@pytest.mark.parametrize("outcome", ENDINGS)
async def test_what_becomes_of_a_send_is_counted(counted: Stage, meters: Meters, outcome: str) -> None:
    delivery, duty = await sending(counted)
    assert await ENDINGS[outcome](counted, delivery, duty)
    assert parts(meters) == {outcome: 1}


@pytest.mark.parametrize("outcome", SETTLEMENTS)
async def test_how_an_uncertain_part_is_settled_is_counted(counted: Stage, meters: Meters, outcome: str) -> None:
    delivery, duty = await sending(counted)
    await counted.store.outbox.doubt(duty, delivery, 1, NOW, "cut")
    assert await SETTLEMENTS[outcome](counted, delivery, duty)
    assert parts(meters) == {"uncertain": 1, outcome: 1}


async def test_a_part_cut_by_the_end_of_its_courier_is_uncertain(counted: Stage, meters: Meters) -> None:
    _, duty = await sending(counted)
    for _ in range(2):  # whoever takes the duty once more finds nothing new
        assert await counted.store.outbox.adopt(duty, "web", "main", timedelta(seconds=10))
    assert parts(meters) == {"uncertain": 1}


async def test_what_a_courier_without_its_duty_does_is_not_counted(counted: Stage, meters: Meters) -> None:
    delivery, duty = await sending(counted)
    assert not await counted.store.outbox.checkpoint(replace(duty, fence=9), delivery, 1, Receipt("m1"))
    assert not await counted.store.outbox.retry(replace(duty, fence=9), delivery, 1, NOW, "busy")
    assert parts(meters) == {}


# ------------------------------------------------------------------------------------------------------------ nodes


async def test_changes_of_nodes_are_counted(counted: Stage, meters: Meters) -> None:
    store, second = counted.store, timedelta(seconds=1)
    stays = await store.cluster.join(NodeId("stays"), "", timedelta(days=400), alone=False)
    late = await store.cluster.join(NodeId("late"), "", second, alone=False)
    counted.clock.advance(seconds=2)
    assert await store.cluster.reap(but=stays.node) == 1
    assert not await store.cluster.beat(late, second)
    assert await store.cluster.beat(stays, second)
    await store.cluster.leave(stays)
    assert {labels[0]: count for labels, count in meters.node_changes} == {
        "joined": 2,
        "left": 1,
        "lost": 1,
        "reaped": 1,
    }


async def test_a_role_counts_when_it_is_taken_and_when_it_is_lost(counted: Stage, meters: Meters) -> None:
    store, lease = counted.store, counted.lease
    for _ in range(3):
        assert await store.cluster.take(lease, ROLE)
        assert await store.cluster.take(lease, "sealer")
    counted.clock.advance(hours=24 * 366)
    await store.cluster.reap()
    for _ in range(3):
        assert await store.cluster.take(lease, ROLE) is None
    assert dict(meters.role_changes) == {
        ("courier:web:home", "taken"): 1,
        ("sealer", "taken"): 1,
        ("courier:web:home", "lost"): 1,
    }


async def test_a_node_declared_dead_has_lost_all_its_roles(counted: Stage, meters: Meters) -> None:
    await counted.store.cluster.take(counted.lease, "sealer")
    counted.clock.advance(hours=24 * 366)
    await counted.store.cluster.reap()
    assert not await counted.store.cluster.beat(counted.lease, timedelta(seconds=5))
    assert meters.role_changes.value("sealer", "lost") == 1
