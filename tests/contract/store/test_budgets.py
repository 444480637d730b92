"""Counters of budgets: equal to the usage and what is held back, whoever changes them and however a call ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract import Address, Busy, Identity, ModelReply, NodeId, Usage
from runtime.domain.runs import RunState, StepState
from runtime.policy.budgets import DOLLAR, MONEY, BudgetRules, Counter, Exceeded, Level, Scope, Then
from runtime.store.protocol import Claim, Recorded, Released, Summary, SummaryKind
from runtime.store.store import Store
from tests.contract.store.stage import ADA, LIST, OTHER_ROOM, ROOM, SHELL, UMA, Stage, step

HOLD = 50_000
CENT = DOLLAR // 100
WIDE = BudgetRules(
    {scope: 10 * DOLLAR if scope in MONEY else 100_000 for scope in Scope},
    hold=HOLD,
)


def of(**limits: float) -> BudgetRules:
    """Budgets in dollars, tokens or calls."""
    known = {Scope(name): value for name, value in limits.items()}
    return replace(WIDE, limits={scope: round(v * DOLLAR) if scope in MONEY else int(v) for scope, v in known.items()})


def costing(micros: int, *, unpriced: bool = False) -> ModelReply:
    return ModelReply("done", (), Usage("m", 7, 3, micros, unpriced=unpriced))


async def recorded(stage: Stage, claim: Claim, micros: int, number: int = 0) -> Recorded:
    """A model call that made one of a tool."""
    reply = replace(costing(micros), calls=(LIST,))
    made = await stage.store.runs.record_model(
        claim.lane, claim.run_id, number or claim.next_step, reply, [step(LIST, StepState.DONE, "seen")]
    )
    assert made is not None
    return made


async def finished(stage: Stage, claim: Claim, micros: int | None, number: int = 0) -> Released:
    reply = None if micros is None else costing(micros)
    state = RunState.FAILED if reply is None else RunState.DONE
    final = [stage.final(claim)]
    runs, at = stage.store.runs, number or claim.next_step
    ended = await runs.finish(claim.lane, claim.run_id, at, reply, state, "done", final)
    assert ended is not None
    return ended


def over(claim: Claim | Recorded) -> Exceeded | None:
    assert claim.allowance is not None
    return claim.allowance.over


async def spent(stage: Stage, micros: int, at: Address = ROOM, actor: Identity = ADA) -> Claim:
    """One message with one call."""
    claim = await stage.begin(f"hello {stage.events}", actor=actor, at=at)
    await finished(stage, claim, micros if over(claim) is None else None)
    return claim


async def counters(stage: Stage) -> dict[tuple[Scope, str], Counter]:
    return {(one.scope, one.subject): one for one in await stage.store.budgets.counters()}


async def counter(stage: Stage, scope: Scope) -> Counter:
    (found,) = [one for one in await stage.store.budgets.counters() if one.scope is scope]
    return found


async def held(stage: Stage) -> list[int]:
    return await stage.column("SELECT micros FROM reservations ORDER BY micros")


async def agree(rows: Callable[[str], Awaitable[list[tuple[Any, ...]]]], store: Store) -> None:
    """Counters equal usage rows plus open reservations, to the millionth of a dollar."""
    used = await rows(
        "SELECT coalesce(sum(cost_micros), 0), coalesce(sum(input_tokens + output_tokens), 0), count(*) FROM usage"
    )
    kept = await rows("SELECT coalesce(sum(micros), 0), count(*) FROM reservations")
    for scope in (Scope.DAY, Scope.MONTH, Scope.AGENT_DAY, Scope.AGENT_TOKENS_HOUR, Scope.AGENT_CALLS_HOUR):
        (one,) = [one for one in await store.budgets.counters() if one.scope is scope]
        assert (one.spent, one.tokens, one.calls) == tuple(map(int, used[0])), scope
        assert (one.reserved, one.held) == tuple(map(int, kept[0])), scope


async def test_money_is_held_back_before_a_call_and_settled_by_what_it_cost(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    claim = await stage.begin(f"hello {stage.events}")
    assert over(claim) is None
    assert await held(stage) == [HOLD]
    await agree(stage.rows, stage.store)
    assert over(await recorded(stage, claim, 70_001)) is None
    assert await held(stage) == [70_001]  # the next call may be as dear as the last one
    await agree(stage.rows, stage.store)
    await finished(stage, claim, 12_345, number=3)
    assert await held(stage) == []
    assert (await counter(stage, Scope.ROOM_DAY)).spent == 82_346
    await agree(stage.rows, stage.store)


@pytest.mark.parametrize(
    ("rules", "scope"),
    [
        (of(day=0.05), Scope.DAY),
        (of(month=0.05), Scope.MONTH),
        (of(person_day=0.05), Scope.PERSON_DAY),
        (of(room_day=0.05), Scope.ROOM_DAY),
        (of(agent_day=0.05), Scope.AGENT_DAY),
        (of(agent_tokens_hour=10), Scope.AGENT_TOKENS_HOUR),
        (of(agent_calls_hour=1), Scope.AGENT_CALLS_HOUR),
    ],
    ids=lambda given: given.value if isinstance(given, Scope) else "",
)
async def test_a_spent_budget_forbids_the_next_call_until_its_time_is_over(
    stage: Stage, rules: BudgetRules, scope: Scope
) -> None:
    await stage.store.budgets.begin(rules)
    assert over(await spent(stage, 5 * CENT)) is None
    refused = over(await spent(stage, 5 * CENT))
    assert refused is not None
    assert (refused.scope, refused.is_held, refused.then) == (scope, False, Then.STOP)
    assert await held(stage) == []
    stage.clock.at = refused.ends_at
    assert over(await spent(stage, CENT)) is None


async def test_a_person_and_a_room_have_their_own(stage: Stage) -> None:
    await stage.store.budgets.begin(of(person_day=0.05, room_day=0.08))
    await spent(stage, 5 * CENT, actor=ADA)
    assert over(await spent(stage, 5 * CENT, at=OTHER_ROOM, actor=ADA)) is not None
    assert over(await spent(stage, 5 * CENT, actor=UMA)) is None
    ending = over(await spent(stage, CENT, actor=UMA))
    assert ending is not None
    assert ending.scope in (Scope.PERSON_DAY, Scope.ROOM_DAY)


async def test_a_thread_counts_for_its_room(stage: Stage) -> None:
    await stage.store.budgets.begin(of(room_day=0.05))
    thread = replace(ROOM, thread="t1")
    await spent(stage, 5 * CENT, at=thread)
    assert over(await spent(stage, 5 * CENT)) is not None
    await stage.store.budgets.begin(of(room_day=0.06))
    await stage.write("DELETE FROM budgets")
    await spent(stage, CENT)
    assert (await counter(stage, Scope.ROOM_DAY)).spent == 6 * CENT


async def test_a_budget_that_is_set_today_knows_what_was_spent_before(stage: Stage) -> None:
    claim = await stage.begin(f"hello {stage.events}")
    await recorded(stage, claim, 3 * CENT)
    await stage.store.budgets.begin(WIDE)
    await recorded(stage, claim, 2 * CENT, number=3)
    await agree(stage.rows, stage.store)
    await finished(stage, claim, CENT, number=5)
    assert (await counter(stage, Scope.DAY)).spent == 6 * CENT
    await agree(stage.rows, stage.store)


async def test_without_budgets_nothing_is_counted(stage: Stage) -> None:
    claim = await stage.begin(f"hello {stage.events}")
    assert claim.allowance is None
    assert (await recorded(stage, claim, CENT)).allowance is None
    await finished(stage, claim, CENT, number=3)
    assert await stage.store.budgets.counters() == []
    assert await held(stage) == []


async def test_what_a_killed_call_holds_counts_until_its_repeat_is_recorded(stage: Stage) -> None:
    await stage.store.budgets.begin(of(day=0.05))
    claim = await stage.begin(f"hello {stage.events}")
    other = await stage.begin("me too", actor=UMA, at=OTHER_ROOM)
    refused = over(other)
    assert refused is not None
    assert refused.is_held  # nothing is spent, and a call under way may take it all
    await finished(stage, other, None)
    stage.lease = await stage.store.cluster.join(NodeId("node-2"), "two", timedelta(days=1), alone=True)
    again = await stage.claim()
    assert (again.run_id, again.resumed, over(again)) == (claim.run_id, True, None)
    assert await held(stage) == [HOLD]
    await finished(stage, again, 2 * CENT)
    assert await held(stage) == []
    assert (await counter(stage, Scope.DAY)).spent == 2 * CENT


async def test_a_run_that_waits_for_people_holds_nothing(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    parked = await stage.park(SHELL)
    assert await held(stage) == []
    await stage.click(parked.approvals[0])
    again = await stage.claim()
    assert over(again) is None
    assert await held(stage) == [HOLD]
    await agree(stage.rows, stage.store)


async def test_runs_side_by_side_hold_no_more_than_the_budget_leaves(stage: Stage) -> None:
    """Twenty begin at once, and five calls fit: the others are refused before they are made."""
    await stage.store.budgets.begin(of(day=5 * HOLD / DOLLAR, person_day=100))
    rooms = [replace(ROOM, room=f"x{number}") for number in range(20)]
    for room in rooms:
        await stage.say("hello", at=room)
    await stage.many()
    claims = await asyncio.gather(*(stage.store.runs.claim(stage.lease, Busy.STEER) for _ in rooms))
    allowed = [claim for claim in claims if claim and over(claim) is None]
    assert (len(claims), len(allowed), await held(stage)) == (20, 5, [HOLD] * 5)
    await asyncio.gather(*(finished(stage, claim, HOLD if claim in allowed else None) for claim in claims if claim))
    assert await held(stage) == []
    assert (await counter(stage, Scope.DAY)).spent == 5 * HOLD


async def test_a_call_over_midnight_counts_for_the_day_in_which_it_ended(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    await spent(stage, 9 * CENT)
    claim = await stage.begin(f"hello {stage.events}")
    stage.clock.advance(hours=13)
    await finished(stage, claim, 2 * CENT)
    assert (await counter(stage, Scope.DAY)).spent == 2 * CENT
    assert (await counter(stage, Scope.MONTH)).spent == 11 * CENT
    assert {one.reserved for one in await stage.store.budgets.counters()} == {0}


async def test_each_step_is_told_once(stage: Stage) -> None:
    await stage.store.budgets.begin(of(room_day=0.10, day=100))
    told = [(await _told(stage, 2 * CENT)) for _ in range(6)]
    assert told == [(), (), (), (ROOM,), (), ()]
    assert [text for text in await stage.drain() if "nearly spent" in text] == [
        "This room's budget for today is nearly spent: $0.0800 of $0.10. A new budget starts at "
        "[2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z)."
    ]
    assert len(await stage.audit("budget nearly spent")) == 1
    assert len(await stage.audit("budget spent")) == 1
    assert [(one.scope, one.level) for one in await stage.store.budgets.alarms()] == [(Scope.ROOM_DAY, Level.REACHED)]
    stage.clock.advance(hours=24)
    assert await stage.store.budgets.alarms() == []


async def test_who_is_warned_is_named(stage: Stage) -> None:
    await stage.store.budgets.begin(of(person_day=0.10))
    await spent(stage, 9 * CENT, actor=UMA)
    assert [text.partition(":")[0] for text in await stage.drain() if "nearly" in text] == [
        "Uma's budget for today is nearly spent"
    ]


async def _told(stage: Stage, micros: int) -> tuple[Address, ...]:
    claim = await stage.begin(f"hello {stage.events}")
    return (await finished(stage, claim, micros if over(claim) is None else None)).told


async def test_a_summary_is_paid_like_any_call(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    claim = await stage.begin(f"hello {stage.events}")
    summary = Summary(0, 1, SummaryKind.MODEL, "so far", "", "")
    assert await stage.store.runs.keep_summary(claim.run_id, claim.lane, summary, costing(4 * CENT).usage)
    assert (await counter(stage, Scope.DAY)).spent == 4 * CENT
    await agree(stage.rows, stage.store)
    await finished(stage, claim, CENT, number=2)
    await agree(stage.rows, stage.store)
    later = replace(summary, upto=2)
    assert await stage.store.runs.keep_summary(claim.run_id, None, later, costing(3 * CENT).usage)
    await agree(stage.rows, stage.store)
    assert await stage.store.runs.affords(claim.run_id)
    await stage.store.budgets.begin(of(room_day=0.08))
    assert not await stage.store.runs.affords(claim.run_id)


async def test_a_budget_that_is_no_longer_set_is_not_kept_wrong(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    await spent(stage, 4 * CENT)
    await stage.store.budgets.begin(of(day=10))
    assert set(await counters(stage)) == {(Scope.DAY, "")}
    await spent(stage, 4 * CENT)
    await stage.store.budgets.begin(WIDE)
    await spent(stage, CENT)
    await agree(stage.rows, stage.store)


async def test_a_refusal_is_looked_at_again(stage: Stage) -> None:
    await stage.store.budgets.begin(of(agent_calls_hour=1))
    claim = await stage.begin(f"hello {stage.events}")
    assert over(await recorded(stage, claim, CENT)) is not None
    again = await stage.store.runs.reserve(claim.lane, claim.run_id)
    assert again is not None
    assert again.over is not None
    stage.clock.advance(hours=1)
    again = await stage.store.runs.reserve(claim.lane, claim.run_id)
    assert again is not None
    assert again.over is None
    assert await held(stage) == [HOLD]
    fenced = replace(claim.lane, fence=claim.lane.fence + 1)
    assert await stage.store.runs.reserve(fenced, claim.run_id) is None


async def test_calls_without_a_price_are_counted_and_named(stage: Stage) -> None:
    await stage.store.budgets.begin(WIDE)
    claim = await stage.begin(f"hello {stage.events}")
    runs = stage.store.runs
    reply = costing(0, unpriced=True)
    await runs.finish(claim.lane, claim.run_id, 1, reply, RunState.DONE, "done", [stage.final(claim)])
    assert (await counter(stage, Scope.DAY)).unpriced == 1
    assert await stage.store.budgets.without_price() == ["m"]


async def test_who_is_one_person_has_one_budget_and_who_is_removed_has_none(stage: Stage) -> None:
    await stage.store.budgets.begin(of(person_day=10))
    await spent(stage, 4 * CENT, actor=UMA)
    await spent(stage, 3 * CENT, actor=ADA)
    await stage.store.people.merge("Uma", "Ada", actor="test")
    assert await counters(stage) == {}
    await spent(stage, CENT, actor=ADA)
    assert [one.spent for one in (await counters(stage)).values()] == [8 * CENT]
    await spent(stage, CENT, actor=Identity("web:otto"))
    await stage.store.people.remove("Otto", actor="test")
    assert [one.spent for one in (await counters(stage)).values()] == [8 * CENT]


async def test_a_budget_that_is_set_while_a_call_is_under_way_holds_nothing_back_once_it_is_recorded(
    stage: Stage,
) -> None:
    await stage.store.budgets.begin(of(day=10))
    claim = await stage.begin("hello")
    await stage.store.budgets.begin(of(day=10, month=100))
    await finished(stage, claim, CENT)
    held = [(one.scope, one.spent, one.reserved, one.held) for one in await stage.store.budgets.counters()]
    assert held == [(Scope.DAY, CENT, 0, 0), (Scope.MONTH, CENT, 0, 0)]


async def test_a_clock_that_was_ahead_leaves_no_budget_spent(stage: Stage) -> None:
    await stage.store.budgets.begin(of(day=0.05, agent_calls_hour=1))
    stage.clock.advance(hours=40 * 24)
    await finished(stage, await stage.begin("hello"), 5 * CENT)
    stage.clock.advance(hours=-40 * 24)
    assert [one.used for one in await stage.store.budgets.counters()] == [0, 0]
    stage.clock.advance(hours=24)
    claim = await stage.begin("again")
    assert over(claim) is None


async def test_a_vendor_that_counts_below_zero_gives_nothing_back(stage: Stage) -> None:
    await stage.store.budgets.begin(of(day=1))
    await finished(stage, await stage.begin("hello"), 4 * CENT)
    await finished(stage, await stage.begin("again"), -4 * CENT)
    assert [one.spent for one in await stage.store.budgets.counters()] == [4 * CENT]


async def test_an_agent_may_have_a_budget_of_its_own(stage: Stage) -> None:
    own = replace(of(), agents={"main": {Scope.AGENT_DAY: CENT}, "ops": {Scope.AGENT_TOKENS_HOUR: 1}})
    await stage.store.budgets.begin(own)
    assert over(await spent(stage, CENT)) is None
    refused = over(await stage.begin("again"))
    assert refused is not None
    assert (refused.scope, refused.limit) == (Scope.AGENT_DAY, CENT)
    assert list(await counters(stage)) == [(Scope.AGENT_DAY, "main")]


async def test_an_agents_own_budget_stands_in_place_of_that_of_each(stage: Stage) -> None:
    await stage.store.budgets.begin(replace(of(agent_day=0.01), agents={"main": {Scope.AGENT_DAY: DOLLAR}}))
    await spent(stage, CENT * 2)
    assert over(await spent(stage, CENT)) is None


async def test_a_counter_of_an_agent_that_is_bounded_no_longer_is_not_kept_wrong(stage: Stage) -> None:
    own = replace(of(), agents={"main": {Scope.AGENT_DAY: DOLLAR}, "ops": {Scope.AGENT_DAY: DOLLAR}})
    await stage.store.budgets.begin(own)
    await spent(stage, CENT)
    await stage.store.budgets.begin(replace(own, agents={"ops": {Scope.AGENT_DAY: DOLLAR}}))
    await spent(stage, CENT)
    assert await counters(stage) == {}
    await stage.store.budgets.begin(own)
    await spent(stage, CENT)
    assert (await counters(stage))[Scope.AGENT_DAY, "main"].spent == 3 * CENT
