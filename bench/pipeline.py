"""The fixed operation set of the store's benchmark (design.md, section 12), through the product's own store.

One set is what a message with one allowed tool call costs on a channel that is not our own page:

    accept        the signal, its place in the session's lane, the audit fact "asked"
    claim         the session; the signal becomes a run and a turn
    record_model  step 1: the model's turn with one tool call, its usage, a turn for the result to come
    mark_tool     step 2: the marker before the tool
    finish_tool   step 2: the result after it, the audit fact "tool ran"
    finish        the last model turn, the run's end, one delivery in the outbox
    render        the delivery as one part, with the marker before its send
    checkpoint    the part's receipt: shown, the signal answered, the audit fact "shown"

These are eight transactions. Reads for the model and the courier (`turns`, `open_deliveries`) are not in it, and no
signal shares a session with another: every set opens a session of its own.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import timedelta
from typing import Final

from bench.tape import Timed
from runtime.contract import (
    Address,
    Busy,
    Call,
    Content,
    DeliveryId,
    Effect,
    Identity,
    Kind,
    ModelReply,
    NodeId,
    Receipt,
    Role,
    Said,
    Signal,
    Usage,
    Wire,
)
from runtime.domain.approvals import Rights
from runtime.domain.ids import digest, new_id
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim, Duty, Gate, Lease, NewDelivery, NewStep
from runtime.store.sql.driver import T
from runtime.store.store import Store

ADA: Final = Identity("bench:ada")
HERE: Final = Address("bench", "main", "")
GATE: Final = Gate(open_to_all=False, busy=Busy.STEER, rights=Rights(), agent="main")
LONG: Final = timedelta(days=365)
CALL: Final = Call("call_1", "list_files", '{"path": "."}')
LISTING: Final = "\n".join(f"notes/2026-03-{day:02}.md (1,{day}24 bytes)" for day in range(1, 11))
QUESTION: Final = "What changed in the notes since yesterday, and who should know about it?"
ANSWER: Final = "Three notes are new since yesterday. " * 8
ASKED: Final = ModelReply("", (CALL,), Usage("bench", 812, 31, 210))
ANSWERED: Final = ModelReply(ANSWER, (), Usage("bench", 951, 84, 390))


class Pipeline:
    """A node and a courier at work on one store."""

    def __init__(self, store: Store, lease: Lease, duty: Duty) -> None:
        self._store = store
        self._lease = lease
        self._duty = duty

    @classmethod
    async def over(cls, store: Store) -> Pipeline:
        await store.people.add_person("Ada", Role.OWNER, [ADA], actor="bench")
        lease = await store.cluster.join(NodeId(new_id()), "bench", LONG, alone=True)
        return cls(store, lease, kept(await store.cluster.take(lease, "courier bench:main")))

    def on(self, store: Store) -> Pipeline:
        """The same node and courier on a copy of the store."""
        return Pipeline(store, self._lease, self._duty)

    async def run(self, sets: int, *, together: bool) -> Timed:
        return await (self.together(sets) if together else self.one_by_one(sets))

    async def one_by_one(self, sets: int) -> Timed:
        """One session after another: nothing to share a commit with."""
        each = []
        began, used = time.perf_counter(), time.process_time()
        for _ in range(sets):
            start = time.perf_counter()
            await self._set()
            each.append(time.perf_counter() - start)
        return Timed(sets, time.perf_counter() - began, time.process_time() - used, tuple(each))

    async def together(self, sets: int) -> Timed:
        """As many sessions at once."""
        began, used = time.perf_counter(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for _ in range(sets):
                group.create_task(self._set())
        return Timed(sets, time.perf_counter() - began, time.process_time() - used)

    async def _set(self) -> None:
        await self.accept(replace(HERE, room=new_id()))
        claim = await self._claimed()
        await self._tool_step(claim)
        await self._show(await self._finish(claim))

    async def accept(self, room: Address) -> None:
        await self._store.intake.accept(self._signal(room), GATE)

    def _signal(self, room: Address) -> Signal:
        return Signal("bench:main", new_id(), ADA, "Ada", room, Said(QUESTION), self._store.now())

    async def claim(self) -> Claim | None:
        return await self._store.runs.claim(self._lease, GATE.busy)

    async def _claimed(self) -> Claim:
        """As many claim as were accepted. On PostgreSQL others may be quicker than our look; then we look again."""
        while True:
            if claim := await self.claim():
                return claim

    async def _tool_step(self, claim: Claim) -> None:
        lane, run, number = claim.lane, claim.run_id, claim.next_step
        step = NewStep(CALL, Effect.READ, digest(CALL.arguments), StepState.OPEN)
        kept(await self._store.runs.record_model(lane, run, number, ASKED, [step]))
        kept(await self._store.runs.mark_tool(lane, run, number + 1))
        kept(await self._store.runs.finish_tool(lane, run, number + 1, LISTING))

    async def _finish(self, claim: Claim) -> DeliveryId:
        delivery, number = DeliveryId(new_id()), claim.next_step + 2
        last = NewDelivery(delivery, f"run:{claim.run_id}", 0, Kind.FINAL, claim.address, Content(ANSWER))
        kept(await self._store.runs.finish(claim.lane, claim.run_id, number, ANSWERED, RunState.DONE, ANSWER, [last]))
        return delivery

    async def _show(self, delivery: DeliveryId) -> None:
        kept(await self._store.outbox.render(self._duty, delivery, [Wire(ANSWER)], mark=True))
        kept(await self._store.outbox.checkpoint(self._duty, delivery, 1, Receipt(f"message-{delivery}")))


def kept(answer: T | None) -> T:
    """What an owner's write returned. Errors: RuntimeError where it was refused: the figure would be of less work."""
    if not answer:
        raise RuntimeError("the store refused a write of its only owner")
    return answer
