"""Many runs side by side, and what becomes of them when the store, the lease or the process fails in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import pytest
from structlog.testing import capture_logs

from bot.testing.scripted import held
from runtime.agent import tool_calls
from runtime.cluster import poller
from runtime.contract import Busy, Effect, Json, NodeId, Outcome, RunId, SessionKey, Signal, Turn
from runtime.domain.ids import new_id
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState
from runtime.errors import StoreError
from runtime.intake import dispatch as module
from runtime.policy.rules import Rule, Ruling
from runtime.store.delivery.store import OutboxStore
from runtime.store.intake.signals import IntakeStore
from runtime.store.protocol import Changed, Claim, Gate, KeptRoom, Lane, Lease, Offer, Recorded, Released, Taken
from runtime.store.runs.store import RunStore
from runtime.store.store import Store
from tests.contract.runtime.stage import LEASE, PATIENCE, READ, WRITE, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned, Strict

T = TypeVar("T")
FREE = [Rule(Ruling.ALLOW)]


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits by the real clock, shortened."""
    monkeypatch.setattr(module, "CLAIM_RETRY_DELAY", module.CLAIM_RETRY_DELAY / 100)
    monkeypatch.setattr(tool_calls, "STORE_RETRY_DELAY", tool_calls.STORE_RETRY_DELAY / 100)
    monkeypatch.setattr(poller, "POLL_INTERVAL", poller.POLL_INTERVAL / 50)


# ----------------------------------------------------------------------------------------------------------- width


async def test_no_more_runs_than_the_width_go_at_once(stage: Stage) -> None:
    live, most, full = 0, 0, asyncio.Event()

    async def look(arguments: Mapping[str, Json]) -> str:
        nonlocal live, most
        live += 1
        most = max(most, live)
        if live == 3:
            full.set()
        await full.wait()
        await asyncio.sleep(0.001)  # for a fourth, if there were one
        live -= 1
        return "seen"

    process = await stage.process(Planned(READ, READ), [fake_tool("look", Effect.READ, look)], width=3)
    for number in range(12):
        await process.say("look", room=f"r{number}")
    await process.answer_all()
    assert most == 3
    assert [await stage.answers(f"r{number}") for number in range(12)] == [["done"]] * 12


async def test_a_run_that_waits_for_people_leaves_its_place_to_others(stage: Stage) -> None:
    """A parked run costs rows only."""
    process = await stage.process(Planned(WRITE), [fake_tool("write", Effect.WRITE)], width=1)
    for number in range(5):
        await process.say("write", room=f"r{number}")
    await process.answer_all()
    assert len(await stage.pending()) == 5


async def test_one_session_never_has_two_runs_at_once(stage: Stage) -> None:
    """Scenario 3."""
    live = most = 0

    async def look(arguments: Mapping[str, Json]) -> str:
        nonlocal live, most
        live += 1
        most = max(most, live)
        await asyncio.sleep(0.002)
        live -= 1
        return "seen"

    tool = fake_tool("look", Effect.READ, look)
    process = await stage.process(Planned(READ), [tool], busy=Busy.FOLLOWUP)
    async with process.running():
        for number in range(6):
            await process.say(f"look {number}")
        await process.rest()
    assert most == 1
    assert await stage.states() == [RunState.DONE] * 6


# ----------------------------------------------------------------------------------------------------------- drain


async def test_drain_waits_for_the_runs_that_go_and_begins_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poller, "POLL_INTERVAL", timedelta(hours=1))  # no claim is under way when the drain begins
    answer = held("one")
    process = await stage.process(Strict([answer]))
    async with process.running():
        await process.say("first")
        await answer.begun.wait()
        async with asyncio.TaskGroup() as group:
            draining = group.create_task(process.dispatch.drain())
            await asyncio.sleep(0)  # it begins to drain
            await process.say("second", room="r2")
            await asyncio.sleep(0.05)
            assert not draining.done()
            answer.until.set()
    assert await stage.states() == [RunState.DONE]
    assert await stage.rows("SELECT count(*) FROM signals WHERE state = 'waiting'") == [(1,)]


async def test_drain_of_an_idle_process_ends_at_once(stage: Stage) -> None:
    process = await stage.process(Strict([]))
    async with process.running(), asyncio.timeout(30):
        await process.dispatch.drain()
    assert await stage.states() == []


# ---------------------------------------------------------------------------------------------- the store is away


class Flaky(RunStore):
    """Runs of a store that is away for the next `failures` calls of the operation named by `away`."""

    away = ""
    failures = 0

    def _fail(self, name: str) -> None:
        if name == self.away and self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")

    async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
        self._fail("claim")
        return await super().claim(lease, busy)

    async def turns(self, session: SessionKey, since: int | None = None) -> list[Turn]:
        self._fail("turns")
        return await super().turns(session, since)

    async def record_model(self, *given: object) -> Recorded | None:
        self._fail("record_model")
        return await super().record_model(*given)  # type: ignore[arg-type]  # as given

    async def mark_tool(self, lane: Lane, run: RunId, number: int, *, changes: bool = False) -> Recorded | None:
        self._fail("mark_tool")
        return await super().mark_tool(lane, run, number, changes=changes)

    async def finish_tool(self, *given: object) -> Recorded | None:
        self._fail("finish_tool")
        return await super().finish_tool(*given)  # type: ignore[arg-type]  # as given

    async def finish(self, *given: object, **named: object) -> Released | None:
        self._fail("finish")
        return await super().finish(*given, **named)  # type: ignore[arg-type]  # as given

    async def release(self, lane: Lane) -> None:
        self._fail("release")
        await super().release(lane)


def flaky(stage: Stage, away: str, failures: int = 1) -> Flaky:
    runs = Flaky(stage.store.driver, new_id)
    runs.away, runs.failures = away, failures
    return runs


@pytest.mark.parametrize("away", ["claim", "turns", "record_model", "mark_tool", "finish_tool", "finish"])
async def test_a_store_that_fails_in_the_middle_costs_time_and_no_answer(away: str, stage: Stage) -> None:
    """The lane is given back, and the run resumes after its last recorded step."""
    process = await stage.process(
        Planned((READ, READ), end="seen"),
        [fake_tool("look", Effect.READ)],
        store=replace(stage.store, runs=flaky(stage, away)),
    )
    with capture_logs():
        await process.say("look")
        await process.answer_all()
    assert await stage.answers() == ["seen"]


async def test_a_lane_is_given_back_as_often_as_it_takes(stage: Stage) -> None:
    runs = flaky(stage, "release", failures=3)
    store = replace(stage.store, runs=runs)
    process = await stage.process(Strict([StoreError("the disk is full"), "hello"]), store=store)
    with capture_logs():
        await process.say("hi")
        await process.answer_all()
    assert runs.failures == 0
    assert await stage.answers() == ["hello"]


async def test_a_result_that_cannot_be_recorded_at_first_is_not_lost(stage: Stage) -> None:
    """A tool with effects ran: only we know its outcome, so it is kept until the store has it."""
    tool = fake_tool("write", Effect.WRITE)
    process = await stage.process(
        Planned(WRITE, end="written"),
        [tool],
        rules=FREE,
        store=replace(stage.store, runs=flaky(stage, "finish_tool", failures=3)),
    )
    with capture_logs():
        await process.say("write")
        await process.answer_all()
    assert len(tool.calls) == 1
    assert await stage.answers() == ["written"]


# ----------------------------------------------------------------------------------------------------- lost leases


async def test_a_process_that_lost_its_lane_drops_the_work(any_stage: Stage) -> None:
    """Design 3: a node that finds itself dead drops its work; who owns the lane now answers, once."""
    answer = held("too late")
    before = await any_stage.process(Strict([answer]))
    async with before.running():
        await before.say("hi")
        await answer.begun.wait()
        after = await any_stage.process(Strict(["hello"]))  # it proves every earlier process dead
        async with after.running():
            await after.rest()
        answer.until.set()
        await asyncio.sleep(0.02)
    assert await any_stage.answers() == ["hello"]


async def test_without_a_fresh_lease_no_tool_is_started(stage: Stage) -> None:
    tool = fake_tool("write", Effect.WRITE)
    answer = held(WRITE)
    process = await stage.process(Strict([answer]), [tool], rules=FREE)
    async with process.running():
        await process.say("write")
        await answer.begun.wait()
        process.fresh = False
        answer.until.set()
        await asyncio.sleep(0.05)
    assert tool.calls == []


async def test_a_run_dropped_for_a_lease_that_was_only_late_goes_on(stage: Stage) -> None:
    """The lease was renewed after all, so nobody else will ever own that lane."""
    tool = fake_tool("write", Effect.WRITE)
    answer = held(WRITE)
    process = await stage.process(Strict([answer, "written"]), [tool], rules=FREE)
    async with process.running():
        await process.say("write")
        await answer.begun.wait()
        process.fresh = False
        answer.until.set()
        await asyncio.sleep(0.05)
        process.fresh = True
        await process.rest()
    assert len(tool.calls) == 1
    assert await stage.answers() == ["written"]


async def test_without_a_fresh_lease_nothing_is_claimed(stage: Stage) -> None:
    process = await stage.process(Strict([]))
    process.fresh = False
    async with process.running():
        await process.say("hi")
        await asyncio.sleep(0.05)
    assert await stage.states() == []


async def test_a_dead_node_claims_nothing(any_stage: Stage) -> None:
    dead = await any_stage.process(Strict([]))
    any_stage.clock.advance(LEASE)
    await any_stage.store.cluster.reap()
    async with dead.running():
        await dead.say("hi")
        await asyncio.sleep(0.05)
    assert await any_stage.states() == []


async def test_two_nodes_share_the_work_and_answer_each_message_once(any_stage: Stage) -> None:
    model = Planned(READ, end="seen")
    one = await any_stage.process(model, [fake_tool("look", Effect.READ)])
    lease = await any_stage.store.cluster.join(NodeId("second"), "test", LEASE, alone=False)
    two = Process(any_stage, model, [fake_tool("look", Effect.READ)], lease)
    async with one.running(), two.running():
        for number in range(20):
            await (one, two)[number % 2].say("look", room=f"r{number}")
        await one.rest()
    assert [await any_stage.answers(f"r{number}") for number in range(20)] == [["seen"]] * 20


# ------------------------------------------------------------------------- a message begins its run where it is taken in


@dataclass
class Lossy:
    """A store whose next commit of the operation named by `lost` goes in, and its answer does not come back."""

    stage: Stage
    lost: str

    @property
    def store(self) -> Store:
        loss = self

        class Runs(RunStore):
            async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
                return loss.answer("claim", await super().claim(lease, busy))

        class Intake(IntakeStore):
            async def accept(
                self,
                signal: Signal,
                gate: Gate,
                offer: Offer | None = None,
                changed: Changed | None = None,
                kept: KeptRoom | None = None,
            ) -> Taken:
                return loss.answer("accept", await super().accept(signal, gate, offer, changed, kept))

        driver = self.stage.store.driver
        return replace(self.stage.store, runs=Runs(driver, new_id), intake=Intake(driver, new_id))

    def answer(self, name: str, outcome: T) -> T:
        if name == self.lost and outcome is not None:
            self.lost = ""
            raise StoreError("the connection broke off")
        return outcome


async def test_who_goes_away_while_a_message_is_taken_in_loses_nothing(stage: Stage) -> None:
    process = await stage.process(Strict(["hello"]))
    async with process.running():
        await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            saying = group.create_task(process.say("hi"))
            await asyncio.sleep(0)  # its commit is under way
            saying.cancel()
        await process.rest()
    assert await stage.answers() == ["hello"]


async def test_a_run_whose_commit_was_not_answered_is_taken_up(stage: Stage) -> None:
    """The platform was not told, so it says it again: one signal, and nobody waits for a node that knows nothing of it."""
    process = await stage.process(Strict(["hello"]), store=Lossy(stage, "accept").store)
    with capture_logs():
        async with process.running():
            await asyncio.sleep(0)
            with pytest.raises(StoreError):
                await process.say("hi", key="once")
            assert (await process.say("hi", key="once")).outcome is Outcome.DUPLICATE
            await process.rest()
    assert await stage.answers() == ["hello"]


async def test_a_claim_that_was_not_answered_is_made_again(stage: Stage) -> None:
    process = await stage.process(Strict(["hello"]), store=Lossy(stage, "claim").store)
    await process.say("hi")
    with capture_logs():
        await process.answer_all()
    assert await stage.answers() == ["hello"]


async def test_lanes_at_work_are_not_taken_for_strays(stage: Stage) -> None:
    answer, loss = held("one"), Lossy(stage, "")
    process = await stage.process(Strict([answer, "two"]), store=loss.store)
    with capture_logs():
        async with process.running():
            await asyncio.sleep(0)
            await process.say("first")
            await answer.begun.wait()
            loss.lost = "accept"
            with pytest.raises(StoreError):
                await process.say("second", room="r2")
            await asyncio.sleep(0.1)
            answer.until.set()
            await process.rest()
    assert (await stage.answers("r1"), await stage.answers("r2")) == (["one"], ["two"])


async def test_a_message_is_answered_in_two_commits(stage: Stage) -> None:
    """Taken in and begun; ended and shown."""
    writes: list[str] = []

    class Intake(IntakeStore):
        async def accept(
            self,
            signal: Signal,
            gate: Gate,
            offer: Offer | None = None,
            changed: Changed | None = None,
            kept: KeptRoom | None = None,
        ) -> Taken:
            writes.append("accept")
            return await super().accept(signal, gate, offer, changed, kept)

    class Runs(RunStore):
        async def finish(self, *given: object, **named: object) -> Released | None:
            writes.append("finish")
            return await super().finish(*given, **named)  # type: ignore[arg-type]  # as given

        async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
            claimed = await super().claim(lease, busy)
            writes.extend(["claim"] if claimed else [])
            return claimed

    class Outbox(OutboxStore):
        async def render_shown(self, *given: object) -> bool:
            writes.append("render_shown")
            return await super().render_shown(*given)  # type: ignore[arg-type]  # as given

    given = stage.store.driver, new_id
    store = replace(stage.store, intake=Intake(*given), runs=Runs(*given), outbox=Outbox(*given))
    process = await stage.process(Strict(["hello"]), store=store)
    async with process.running():
        async with asyncio.timeout(PATIENCE):
            while not process.courier.on_duty:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0)
        await process.courier.quiet()
        await process.say("hi")
        await process.rest()
    assert await stage.answers() == ["hello"]
    assert writes == ["accept", "finish"]
