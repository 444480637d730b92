"""A store's life in any order: people talk, click and stop, runs step and park, nodes die. Then everything drains.

After each event the lane counters are what the rows say. At the end every accepted message has been answered, by the
one final reply of the one run that took it in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from runtime.contract import Address, Busy, Choice, Identity, NodeId, Outcome
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim, Lease, ToolStep
from runtime.store.store import open_store
from tests.contract.store.stage import ADA, LIST, OTTO, SHELL, TTL, UMA, WRITE, HandClock, Stage, address, step

T = TypeVar("T")

ROOMS = [address("a"), address("b")]
PEOPLE = [ADA, OTTO, UMA]
CALLS = [LIST, WRITE, SHELL]
STATES = [StepState.OPEN, StepState.ASKED, StepState.DONE]

picks = st.integers(0, 50)
Move = tuple[int, Busy, list[StepState], bool]
MOVES = st.tuples(
    picks, st.sampled_from(list(Busy)), st.lists(st.sampled_from(STATES), min_size=1, max_size=3), st.booleans()
)

ALWAYS = """
SELECT 'counters that are not what the rows say', key FROM sessions
WHERE waiting <> (SELECT count(*) FROM signals WHERE session = key AND state = 'waiting')
   OR resumable <> (SELECT count(*) FROM runs WHERE session = key AND state = 'ready')
UNION ALL
SELECT 'a lane that has work and is idle', key FROM sessions
WHERE state = 'idle'
  AND (waiting > 0 OR resumable > 0 OR EXISTS (SELECT 1 FROM runs WHERE session = key AND state = 'running'))
UNION ALL
SELECT 'an owner of a lane that is not at work, or none of one that is', key FROM sessions
WHERE (state = 'running') <> (owner IS NOT NULL)
UNION ALL
SELECT 'two runs at work in a lane', session FROM runs WHERE state = 'running' GROUP BY session HAVING count(*) > 1
UNION ALL
SELECT 'a gap in the numbers of signals', session FROM signals WHERE seq > 0 GROUP BY session HAVING count(*) <> max(seq)
UNION ALL
SELECT 'a gap in the numbers of turns', session FROM turns GROUP BY session HAVING count(*) <> max(number)
UNION ALL
SELECT 'an open question of a run that does not wait', a.id FROM approvals a JOIN runs r ON r.id = a.run_id
WHERE a.state = 'pending' AND r.state <> 'parked'
UNION ALL
SELECT 'a parked run that waits for nothing, or another that waits', id FROM runs r
WHERE (state = 'parked') <> EXISTS (SELECT 1 FROM waits WHERE run_id = r.id AND settled_at IS NULL)
UNION ALL
SELECT 'a wait for a question that is settled when the other is not', subject FROM waits w JOIN approvals a ON a.id = w.subject
WHERE (a.state = 'pending') <> (w.settled_at IS NULL)
UNION ALL
SELECT 'words worked on with the rights of somebody who may do more', s.id FROM signals s
JOIN people said ON said.id = s.person_id JOIN runs r ON r.id = s.run_id JOIN people asked ON asked.id = r.requester
WHERE said.role < asked.role
UNION ALL
SELECT 'at work', key FROM sessions WHERE state = 'running'
"""
"""What is broken, which nothing ever may be; and which lanes are at work."""


@dataclass
class Work:
    """A run as its owner sees it: what is left, and whether the owner is still alive."""

    claim: Claim
    next_step: int
    steps: list[ToolStep]
    stop: bool


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[Lease] = []
        self.works: list[Work] = []
        self.said = 0
        self.born = 0

    def do(self, work: Awaitable[T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(30):
                return await work

        return self.loop.run_until_complete(bounded())

    @initialize()
    def open(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = HandClock()
        self.stage = Stage(self.do(open_store("sqlite:///:memory:", now=self.clock)), self.clock)
        self.store = self.stage.store
        self.do(self.stage.open())  # its node lives for long: it is the courier
        for _ in range(2):
            self.join()

    def join(self) -> None:
        self.born += 1
        self.nodes.append(self.do(self.store.cluster.join(NodeId(f"worker-{self.born}"), "", TTL, alone=False)))

    # ------------------------------------------------------------------------------------------------------ people

    @rule(room=st.sampled_from(ROOMS), who=st.sampled_from(PEOPLE), words=st.integers(0, 3), busy=st.booleans())
    def say(self, room: Address, who: Identity, words: int, busy: bool) -> None:
        taken = self.do(self.stage.say(f"words {words}", actor=who, at=room))
        assert taken.verdict.outcome in (Outcome.ACCEPTED, Outcome.MERGED)
        if busy:
            again = self.stage.events  # the platform delivers it once more
            self.stage.events -= 1
            assert self.do(self.stage.say(f"words {words}", actor=who, at=room)).verdict.outcome is Outcome.DUPLICATE
            assert self.stage.events == again
        self.said += 1

    @rule(pick=picks, choice=st.sampled_from([Choice.APPROVE, Choice.DENY]), who=st.sampled_from([ADA, OTTO, UMA]))
    def click(self, pick: int, choice: Choice, who: Identity) -> None:
        asked = self.do(self.store.approvals.approvals(state=ApprovalState.PENDING if pick % 3 else None))
        if asked:
            approval = asked[pick % len(asked)]
            taken = self.do(self.stage.click(approval.id, choice, actor=who, at=approval.address))
            counts = approval.state is ApprovalState.PENDING and who is not UMA
            assert (taken.verdict.outcome is Outcome.DECIDED) is counts

    @rule(room=st.sampled_from(ROOMS))
    def stop(self, room: Address) -> None:
        self.do(self.stage.stop(at=room))

    # -------------------------------------------------------------------------------------------------------- time

    @rule(seconds=st.sampled_from([1, 61]))
    def wait(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.advance(seconds=1)
        for lease in self.nodes:
            assert self.do(self.store.cluster.beat(lease, TTL))

    @rule()
    def expire(self) -> None:
        self.clock.advance(hours=12)
        for lease in self.nodes:
            assert self.do(self.store.cluster.beat(lease, TTL))
        self.do(self.store.approvals.expire())
        assert self.do(self.store.approvals.approvals(state=ApprovalState.PENDING)) == []

    @precondition(lambda self: self.nodes)
    @rule(pick=picks)
    def die(self, pick: int) -> None:
        dead = self.nodes.pop(pick % len(self.nodes))
        self.clock.advance(seconds=4)
        for lease in self.nodes:
            assert self.do(self.store.cluster.beat(lease, TTL))
        self.clock.advance(seconds=2)
        assert self.do(self.store.cluster.reap()) == 1
        self.join()
        self.check_that_the_dead_write_nothing(dead)

    def check_that_the_dead_write_nothing(self, dead: Lease) -> None:
        gone = [work for work in self.works if work.claim.lane.node == dead.node]
        self.works = [work for work in self.works if work.claim.lane.node != dead.node]
        for work in gone:
            lane, run = work.claim.lane, work.claim.run_id
            assert self.do(self.store.runs.steer(lane, run)) is None
            assert self.do(self.stage.finish(work.claim)) is None

    # --------------------------------------------------------------------------------------------------------- work

    @rule(moves=st.lists(MOVES, min_size=1, max_size=4))
    def work(self, moves: list[Move]) -> None:
        """Some in a row, so that much of what happens is work."""
        for move in moves:
            self.go_on(*move)

    def go_on(self, pick: int, busy: Busy, states: list[StepState], hasty: bool) -> None:
        """A node goes on with a run that it has, or takes the next.

        `hasty`: the end of a tool is never told, and people are asked before all tools ended.
        """
        if pick % 3 == 0 or not self.works:
            self.claim(self.nodes[pick % len(self.nodes)], busy)
            return
        work = self.works[pick % len(self.works)]
        going = [s for s in work.steps if s.state in (StepState.OPEN, StepState.MARKED)]
        asked = [s for s in work.steps if s.state is StepState.ASKED]
        if asked and (hasty or not going):
            self.park(work, asked)
        elif going:
            self.use(work, going[0], told=not hasty)
        else:
            self.think(work, states)

    def claim(self, lease: Lease, busy: Busy) -> None:
        claim = self.do(self.next_of(lease, busy))
        if claim is None:  # then somebody speaks, so that there is work more often than not
            self.say(ROOMS[self.said % 2], PEOPLE[self.said % 3], 0, busy=False)
            claim = self.do(self.next_of(lease, busy))
        if claim:
            assert claim.lane.session not in {work.claim.lane.session for work in self.works}
            self.works.append(Work(claim, claim.next_step, list(claim.steps), claim.stop))

    async def next_of(self, lease: Lease, busy: Busy) -> Claim | None:
        return await self.store.runs.claim(lease, busy) or await self.store.runs.claim_suspect(lease, busy, most=3)

    def think(self, work: Work, states: list[StepState]) -> None:
        calls = [step(call, state) for call, state in zip(CALLS, states, strict=False)]
        recorded = self.do(self.stage.record(work.claim, *calls, number=work.next_step))
        work.next_step += len(calls) + 1
        work.steps, work.stop = list(recorded.steps), recorded.stop

    def use(self, work: Work, tool: ToolStep, *, told: bool) -> None:
        lane, run = work.claim.lane, work.claim.run_id
        assert self.do(self.store.runs.mark_tool(lane, run, tool.number)) is not None
        if told:
            assert self.do(self.store.runs.finish_tool(lane, run, tool.number, "did it")) is not None
            work.steps.remove(tool)

    def park(self, work: Work, asked: list[ToolStep]) -> None:
        questions = [self.stage.ask(work.claim, s.number, s.call) for s in asked]
        assert self.do(self.store.runs.park(work.claim.lane, work.claim.run_id, questions)) is not None
        self.works.remove(work)

    @precondition(lambda self: self.works)
    @rule(pick=picks)
    def steer(self, pick: int) -> None:
        work = self.works[pick % len(self.works)]
        recorded = self.do(self.store.runs.steer(work.claim.lane, work.claim.run_id))
        left = self.rows(
            "SELECT p.role < asker.role FROM signals s JOIN people p ON p.id = s.person_id JOIN runs r ON r.id = :run "
            "JOIN people asker ON asker.id = r.requester WHERE s.session = r.session AND s.state = 'waiting' ORDER BY seq",
            run=work.claim.run_id,
        )
        assert recorded is not None
        assert recorded.waiting == len(left)
        assert not left or left[0] == (True,)

    @precondition(lambda self: self.works)
    @rule(pick=picks, state=st.sampled_from([RunState.DONE, RunState.FAILED, RunState.STOPPED]))
    def finish(self, pick: int, state: RunState) -> None:
        self.end(self.works[pick % len(self.works)], state)

    def end(self, work: Work, state: RunState = RunState.DONE) -> None:
        claim = work.claim
        new = self.stage.final(claim)
        ended = self.store.runs.finish(claim.lane, claim.run_id, work.next_step, None, state, "done", [new])
        assert self.do(ended) is not None
        self.works.remove(work)

    @precondition(lambda self: self.works)
    @rule(pick=picks)
    def release(self, pick: int) -> None:
        work = self.works.pop(pick % len(self.works))
        self.do(self.store.runs.release(work.claim.lane))

    @rule(room=st.sampled_from(ROOMS))
    def deliver(self, room: Address) -> None:
        waiting = self.do(self.stage.waiting(room))
        if waiting:
            first = waiting[0].delivery
            self.do(self.stage.show(first.id, self.do(self.stage.duty()), first.content.text))

    # ------------------------------------------------------------------------------------------------------- always

    def rows(self, sql: str, **given: object) -> list[tuple[object, ...]]:
        return self.do(self.stage.rows(sql, **given))

    @invariant()
    def the_rows_agree(self) -> None:
        """One look, since it is made after each event: nothing is broken, and at work are the lanes that we own."""
        told = self.rows(ALWAYS)
        assert [row for row in told if row[0] != "at work"] == []
        assert {row[1] for row in told} == {work.claim.lane.session for work in self.works}

    # ----------------------------------------------------------------------------------------------------- the end

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            try:
                self.drain()
                self.check_the_end()
            finally:
                self.do(self.store.close())
                self.loop.close()

    def drain(self) -> None:
        for work in list(self.works):
            self.end(work)
        while True:
            self.expire()
            claim = self.do(self.next_of(self.nodes[0], Busy.STEER))
            if claim is None:
                break
            self.works.append(Work(claim, claim.next_step, [], stop=False))
            self.end(self.works[-1])
        self.do(self.stage.drain(*ROOMS))

    def check_the_end(self) -> None:
        assert self.rows("SELECT count(*) FROM signals WHERE kind = 'said'") == [(self.said,)]
        assert not self.rows("SELECT id FROM signals WHERE kind = 'said' AND (answered_at IS NULL OR run_id IS NULL)")
        assert not self.rows("SELECT DISTINCT state FROM runs WHERE state NOT IN ('done', 'failed', 'stopped')")
        finals = "SELECT count(*) FROM deliveries d WHERE d.run_id = r.id AND kind = 'final' AND state = 'shown'"
        assert not self.rows(f"SELECT r.id FROM runs r WHERE ({finals}) <> 1")
        assert not self.rows("SELECT key FROM sessions WHERE state <> 'idle'")
        assert not self.rows("SELECT run_id FROM steps WHERE state <> 'done'")
        self.the_rows_agree()


TestLife = pytest.mark.timeout(400)(Life.TestCase)
"""Seconds. It takes a few; but where it fails Hypothesis looks up to five minutes for a shorter life that does too, and a
time-out of 60 s would tell of that instead."""
TestLife.settings = settings(stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow])
