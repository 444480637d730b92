"""A store with a hand-moved clock, and the words in which its promises are tested."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import select

from runtime.chat.cards.open_cards import question
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Body,
    Busy,
    Call,
    Choice,
    Clicked,
    Content,
    DeliveryId,
    Effect,
    FileRef,
    Identity,
    Kind,
    ModelReply,
    NodeId,
    Receipt,
    Role,
    RunId,
    Said,
    Signal,
    Stopped,
    Usage,
    Wire,
)
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState, StepState
from runtime.store.observer import Observer
from runtime.store.protocol import (
    Claim,
    Duty,
    Gate,
    Lane,
    Lease,
    NewDelivery,
    NewStep,
    OpenDelivery,
    Question,
    Recorded,
    Released,
    Taken,
)
from runtime.store.schema import metadata
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.statements import statement

START: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TTL: Final = timedelta(seconds=5)
LIFE: Final = timedelta(hours=12)
ROOM: Final = Address("web", "main", "r1")
OTHER_ROOM: Final = Address("web", "main", "r2")
COURIER: Final = "courier web:main"

ADA: Final = Identity("web:ada")  # an owner
OTTO: Final = Identity("web:otto")  # an operator
UMA: Final = Identity("web:uma")  # a user
VERA: Final = Identity("web:vera")  # a viewer
STRANGER: Final = Identity("web:nobody")
ROLES: Final = {ADA: Role.OWNER, OTTO: Role.OPERATOR, UMA: Role.USER, VERA: Role.VIEWER}

GATE: Final = Gate(open_to_all=False, busy=Busy.STEER, rights=Rights(), agent="main")
LIST: Final = Call("call-1", "list_files", '{"path": "."}')
WRITE: Final = Call("call-2", "write_file", '{"path": "a", "content": "b"}')
SHELL: Final = Call("call-3", "shell", '{"command": "uname -a"}')
EFFECTS: Final = {"list_files": Effect.READ, "write_file": Effect.WRITE, "shell": Effect.DANGER}
EVERYTHING: Final = {table.name: select(table) for table in metadata.sorted_tables}


class HandClock:
    """The time, moved by the test."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    @classmethod
    def of_today(cls) -> HandClock:
        """Beside a store with a clock of its own, to which a message of the spring came too late."""
        return cls(datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.at

    def advance(self, *, seconds: float = 0, hours: float = 0) -> None:
        self.at += timedelta(seconds=seconds, hours=hours)


def address(room: str) -> Address:
    return replace(ROOM, room=room)


def step(call: Call, state: StepState = StepState.OPEN, result: str = "") -> NewStep:
    return NewStep(call, EFFECTS[call.tool], hashed(call.arguments), state, result)


def hashed(arguments: str) -> str:
    return hashlib.sha256(arguments.encode()).hexdigest()


def reply(text: str = "", *calls: Call) -> ModelReply:
    return ModelReply(text, calls, Usage("demo", 10, 5, 7))


@dataclass
class Stage:
    """One store, and a node that works on it."""

    store: Store
    clock: HandClock
    lease: Lease = field(default_factory=lambda: Lease(NodeId("nowhere"), 0))
    events: int = 0

    async def open(self) -> None:
        for identity, role in ROLES.items():
            assert await self.store.people.add_person(
                identity.partition(":")[2].title(), role, [identity], actor="test"
            )
        self.lease = await self.store.cluster.join(NodeId("node-1"), "one", timedelta(days=365), alone=False)

    async def many(self) -> None:
        """Open every connection, so that tasks which start at once also run at once."""
        await asyncio.gather(*(self.store.check() for _ in range(8)))

    def observe(self, observer: Observer) -> None:
        """Go on over the same engine, told to `observer`."""
        self.store = Store.over(self.store.driver, new_id, observer)

    # -------------------------------------------------------------------------------------------- looking inside

    async def rows(self, sql: str, **given: object) -> list[tuple[Any, ...]]:
        """What the database itself says."""

        def read() -> Op[list[tuple[Any, ...]]]:
            return (yield statement(sql), given)

        return await self.store.driver.read(read)

    async def column(self, sql: str, **given: object) -> list[Any]:
        return [row[0] for row in await self.rows(sql, **given)]

    async def write(self, sql: str, **given: object) -> None:
        """Change rows behind the store's back."""

        def change() -> Op[None]:
            yield statement(sql), given

        await self.store.driver.write(change)

    async def audit(self, kind: str) -> list[tuple[str, str, str]]:
        """(actor, subject, detail) of each fact of a kind, oldest first."""
        sql = "SELECT actor, subject, detail FROM audit WHERE kind = :kind ORDER BY entry"
        return await self.rows(sql, kind=kind)

    async def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of all tables, in one order."""

        def read() -> Op[dict[str, list[tuple[Any, ...]]]]:
            found = {}
            for table, every in EVERYTHING.items():
                found[table] = sorted((yield every, {}), key=repr)
            return found

        return await self.store.driver.read(read)

    # ------------------------------------------------------------------------------------------------- the way in

    def signal(self, body: Body, *, actor: Identity = ADA, at: Address = ROOM, console: bool = False) -> Signal:
        self.events += 1
        name = actor.partition(":")[2].title()
        return Signal("web:main", f"e{self.events}", actor, name, at, body, self.clock(), console=console)

    async def take_in(self, signal: Signal, gate: Gate = GATE) -> Taken:
        return await self.store.intake.accept(signal, gate)

    async def say(
        self, text: str, *, actor: Identity = ADA, at: Address = ROOM, gate: Gate = GATE, files: Sequence[FileRef] = ()
    ) -> Taken:
        return await self.take_in(self.signal(Said(text, tuple(files)), actor=actor, at=at), gate)

    async def click(
        self,
        approval: ApprovalId,
        choice: Choice = Choice.APPROVE,
        reason: str = "",
        *,
        actor: Identity = ADA,
        at: Address = ROOM,
        gate: Gate = GATE,
        console: bool = False,
    ) -> Taken:
        return await self.take_in(
            self.signal(Clicked(approval, choice, reason), actor=actor, at=at, console=console), gate
        )

    async def stop(self, *, actor: Identity = ADA, at: Address = ROOM) -> Taken:
        return await self.take_in(self.signal(Stopped(), actor=actor, at=at))

    # ------------------------------------------------------------------------------------------------------- lanes

    async def claim(self, busy: Busy = Busy.STEER) -> Claim:
        claimed = await self.store.runs.claim(self.lease, busy)
        assert claimed is not None
        return claimed

    async def begin(self, text: str = "hello", *, actor: Identity = ADA, at: Address = ROOM) -> Claim:
        await self.say(text, actor=actor, at=at)
        return await self.claim()

    async def record(self, claim: Claim, *steps: NewStep, number: int | None = None) -> Recorded:
        recorded = await self.store.runs.record_model(
            claim.lane,
            claim.run_id,
            claim.next_step if number is None else number,
            reply("", *(s.call for s in steps)),
            steps,
        )
        assert recorded is not None
        return recorded

    def ask(self, claim: Claim, number: int, call: Call, *, kind: ApprovalKind = ApprovalKind.CALL) -> Question:
        asked = ApprovalId(new_id())
        card = NewDelivery(
            DeliveryId(new_id()),
            f"approval:{asked}",
            0,
            Kind.APPROVAL,
            claim.address,
            question(asked, kind, call.tool, call.arguments, ""),
        )
        return Question(asked, kind, number, self.clock() + LIFE, "policy-1", "", card)

    async def park(self, *calls: Call, text: str = "do it", actor: Identity = ADA, at: Address = ROOM) -> Parked:
        """A run that waits for people about `calls`."""
        claim = await self.begin(text, actor=actor, at=at)
        await self.record(claim, *(step(call, StepState.ASKED) for call in calls))
        questions = [self.ask(claim, number, call) for number, call in enumerate(calls, claim.next_step + 1)]
        assert await self.store.runs.park(claim.lane, claim.run_id, questions) is not None
        return Parked(claim, tuple(q.id for q in questions))

    def final(self, claim: Claim, text: str = "done", ordinal: int = 0) -> NewDelivery:
        return NewDelivery(
            DeliveryId(new_id()), f"run:{claim.run_id}", ordinal, Kind.FINAL, claim.address, Content(text)
        )

    async def finish(self, claim: Claim, text: str = "done", state: RunState = RunState.DONE) -> Released | None:
        return await self.store.runs.finish(
            claim.lane, claim.run_id, claim.next_step, reply(text), state, text, [self.final(claim, text)]
        )

    # ------------------------------------------------------------------------------------------------------ outbox

    async def duty(self, role: str = COURIER, lease: Lease | None = None) -> Duty:
        duty = await self.store.cluster.take(lease or self.lease, role)
        assert duty is not None
        return duty

    def new_delivery(
        self,
        text: str = "hello",
        *,
        at: Address = ROOM,
        kind: Kind = Kind.REPORT,
        origin: str = "",
        ordinal: int = 0,
        edits: DeliveryId | None = None,
    ) -> NewDelivery:
        fresh = DeliveryId(new_id())
        return NewDelivery(fresh, origin or f"o:{fresh}", ordinal, kind, at, Content(text), edits)

    async def enqueue(
        self,
        text: str = "hello",
        *,
        at: Address = ROOM,
        kind: Kind = Kind.REPORT,
        origin: str = "",
        ordinal: int = 0,
        edits: DeliveryId | None = None,
    ) -> DeliveryId:
        new = self.new_delivery(text, at=at, kind=kind, origin=origin, ordinal=ordinal, edits=edits)
        assert await self.store.outbox.enqueue(new)
        return new.id

    async def waiting(self, at: Address = ROOM) -> list[OpenDelivery]:
        return await self.store.outbox.open_deliveries(at)

    async def show(self, delivery: DeliveryId, duty: Duty, text: str = "shown") -> None:
        """Everything at once, as on a channel whose screen is our store."""
        assert await self.store.outbox.render_shown(duty, delivery, [Wire(text)], [Receipt(f"m-{delivery}")])

    async def drain(self, *rooms: Address) -> list[str]:
        """Show whatever waits in `rooms`, in order; what was shown."""
        duty, texts = await self.duty(), []
        for room in rooms or (ROOM,):
            while waiting := await self.waiting(room):
                first = waiting[0].delivery
                await self.show(first.id, duty, first.content.text)
                texts.append(first.content.text)
        return texts


@dataclass(frozen=True)
class Parked:
    claim: Claim
    approvals: tuple[ApprovalId, ...]

    @property
    def run(self) -> RunId:
        return self.claim.run_id

    @property
    def lane(self) -> Lane:
        return self.claim.lane
