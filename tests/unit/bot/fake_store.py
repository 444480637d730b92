"""What the console asks of a store, kept in lists: for states that a real one reaches only after many steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

from bot.operator.context import OperatorContext
from runtime.chat.pairing import wrong
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import (
    Activity,
    Address,
    ApprovalId,
    ApprovalKind,
    Choice,
    Clicked,
    Content,
    DayCost,
    DeliveryId,
    Effect,
    Entry,
    Failure,
    Identity,
    Kind,
    Links,
    Outcome,
    Person,
    PersonId,
    Role,
    RunId,
    SessionKey,
    Signal,
    SignalId,
    Verdict,
    View,
)
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState, StepState
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import BudgetRules, Counter
from runtime.policy.modes import Mode, RoomMode
from runtime.store.protocol import (
    AuditRow,
    DeliveryRow,
    Head,
    Known,
    Paired,
    Pairing,
    Posted,
    RoomWork,
    RunRow,
    StepRow,
    Unmoved,
    Unpaired,
)
from runtime.store.protocol.people import BrowserSession, Invitation
from runtime.store.store import Store
from runtime.timeline.trail import Candidate, Thing, Trail

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROOM = Address("web", "w1", "room01")
TOKEN = "control-token-of-the-test"


def approval(approval_id: str = "a1", state: ApprovalState = ApprovalState.PENDING, **changed: object) -> Approval:
    made = Approval(
        id=ApprovalId(approval_id),
        kind=ApprovalKind.CALL,
        state=state,
        run_id=RunId("r1"),
        step=2,
        session="main|web",
        address=ROOM,
        tool="shell",
        effect=Effect.DANGER,
        arguments='{"command": "uname -a"}',
        arguments_hash="",
        policy_version="1",
        requester=None,
        asked_at=NOW,
        expires_at=NOW + timedelta(hours=12),
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # a test names fields that exist


def delivery(delivery_id: str = "d1", state: DeliveryState = DeliveryState.HELD, text: str = "hello") -> DeliveryRow:
    return DeliveryRow(
        id=DeliveryId(delivery_id),
        kind=Kind.FINAL,
        address=ROOM,
        origin="run:r1",
        state=state,
        attempts=2,
        created_at=NOW,
        settled_at=None,
        not_before=NOW,
        reason="nobody can tell",
        content=Content(text),
    )


def run(run_id: str = "r1", state: RunState = RunState.DONE, words: str = "list the files") -> RunRow:
    return RunRow(RunId(run_id), SessionKey("main|web"), ROOM, state, "ada", NOW, None, 2, "", (words,))


CODE = "ABCD2345"


def pairing(name: str = "Sam") -> Pairing:
    there = Address("telegram", "77", "1001")
    return Pairing(Identity("telegram:1001"), name, there, NOW, NOW + timedelta(hours=1))


STEP = StepRow(1, "tool", "shell", '{"command": "ls"}', StepState.DONE, "<b>output</b>", NOW, NOW)


@dataclass
class FakeStore:
    """Behaves as each aggregate of `runtime.store.store.Store` does, as far as the console looks."""

    known: dict[str, Known] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    once: dict[str, str] = field(default_factory=dict)
    unpaired: list[Pairing] = field(default_factory=list)
    asked: list[Approval] = field(default_factory=list)
    moded: dict[Address, RoomMode] = field(default_factory=dict)
    title: str = ""
    sent: list[DeliveryRow] = field(default_factory=list)
    ran: list[RunRow] = field(default_factory=list)
    said: list[Entry] = field(default_factory=list)
    working: bool = False
    audited: list[AuditRow] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    mended: list[tuple[str, str, str]] = field(default_factory=list)
    actors: list[str] = field(default_factory=list)
    traceable: list[Candidate] = field(default_factory=list)
    trails: dict[str, Trail] = field(default_factory=dict)
    rules: BudgetRules = field(default_factory=BudgetRules)

    def as_store(self) -> Store:
        """The record, with this for each of its aggregates."""
        return cast("Store", SimpleNamespace(**{one.name: self for one in fields(Store)} | {"now": lambda: NOW}))

    async def people(self) -> list[Known]:
        return [self.known[name] for name in sorted(self.known)]

    async def person_named(self, name: str) -> Known | None:
        return self.known.get(name)

    async def add_person(self, name: str, role: Role, identities: Sequence[Identity], *, actor: str) -> Person | None:
        self.actors.append(actor)
        taken = {identity for known in self.known.values() for identity in known.identities}
        if name in self.known or taken & set(identities):
            return None
        person = Person(PersonId(f"p{len(self.known)}"), name, role)
        self.known[name] = Known(person, (*identities, Identity(f"web:{person.id}")), linked=False)
        return person

    async def set_role(self, name: str, role: Role, *, actor: str) -> Person | Unmoved:
        self.actors.append(actor)
        if name not in self.known:
            return Unmoved.NOBODY
        if role is not Role.OWNER and [one for one in self.known if self.known[one].person.role is Role.OWNER] == [
            name
        ]:
            return Unmoved.LAST_OWNER
        known = self.known[name]
        self.known[name] = replace(known, person=replace(known.person, role=role))
        return self.known[name].person

    async def set_link(self, name: str, token: str, *, actor: str) -> Person | None:
        self.actors.append(actor)
        if name not in self.known:
            return None
        self.links = {old: who for old, who in self.links.items() if who != name} | {token: name}
        self.known[name] = replace(self.known[name], linked=True)
        return self.known[name].person

    async def invite(self, name: str, within: timedelta, *, actor: str) -> str | None:
        if name not in self.known:
            return None
        self.once = {f"once-{name}": name}
        return f"once-{name}"

    async def invited(self, token: str) -> Person | None:
        name = self.once.get(token)
        return self.known[name].person if name else None

    async def linked(self, token: str) -> Person | None:
        found = await self.person_of(token)
        return found[0] if found else None

    async def leave(self, token: str) -> None:
        self.links.pop(token, None)

    async def redeem(self, token: str, browser: str = "") -> str | None:
        if token in self.links:
            return token
        name = self.once.pop(token, "")
        return f"link-of-{name}" if name and await self.set_link(name, f"link-of-{name}", actor="") else None

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        known = self.known.get(self.links.get(token, ""))
        return (known.person, Identity(f"web:{known.person.id}")) if known else None

    async def invitations(self) -> list[Invitation]:
        return []

    async def sessions_of(self, name: str) -> list[BrowserSession]:
        return []

    async def pairings(self) -> list[Pairing]:
        return self.unpaired

    async def pair(
        self, code: str, name: str, role: Role | None, by: Person, *, actor: str, given: Collection[str] = ()
    ) -> Paired | Unpaired:
        """Every code but `CODE` is wrong."""
        if code != CODE:
            return Unpaired(wrong(4))
        one = self.unpaired.pop(0)
        person = await self.add_person(name or one.name, role or Role.USER, [one.identity], actor=actor)
        assert person
        return Paired(person, one.identity, one.address)

    async def approval(self, approval_id: ApprovalId) -> Approval | None:
        return next((row for row in self.asked if row.id == approval_id), None)

    async def approved_by(self, approval: Approval, rights: Rights) -> list[str]:
        return ["ada"]

    async def approvals(
        self, *, state: ApprovalState | None = None, room: Address | None = None, limit: int = 200, oldest: bool = False
    ) -> list[Approval]:
        rows = [row for row in self.asked if state in (None, row.state) and room in (None, row.address)]
        return sorted(rows, key=lambda row: row.asked_at, reverse=not oldest)[:limit]

    async def modes(self) -> list[tuple[Address, RoomMode]]:
        return list(self.moded.items())[::-1]

    async def set_mode(self, agent: str, address: Address, mode: Mode, who: Person, hand: str) -> RoomMode:
        self.moded[address] = RoomMode(mode, set_by=who.id, set_by_name=hand, set_at=NOW)
        return self.moded[address]

    async def deliveries(
        self, *, state: DeliveryState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[DeliveryRow]:
        return [row for row in self.sent if state in (None, row.state) and room in (None, row.address)][:limit]

    async def delivery(self, delivery_id: DeliveryId) -> DeliveryRow | None:
        return next((row for row in self.sent if row.id == delivery_id), None)

    async def requeue(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        return self._mend(delivery_id, actor, (DeliveryState.HELD, DeliveryState.DEAD), DeliveryState.OPEN)

    async def discard(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        return self._mend(delivery_id, actor, (DeliveryState.HELD, DeliveryState.DEAD), DeliveryState.DISCARDED)

    async def runs(
        self, *, state: RunState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[RunRow]:
        return [row for row in self.ran if state in (None, row.state) and room in (None, row.address)][:limit]

    async def run(self, run_id: RunId) -> tuple[RunRow, list[StepRow]] | None:
        return next(((row, [STEP]) for row in self.ran if row.id == run_id), None)

    async def counters(self) -> list[Counter]:
        return []

    async def resting(self) -> list[Rest]:
        return []

    async def activity(self, since: datetime) -> Activity:
        failures = tuple(Failure(one.id, one.address, one.error, NOW) for one in self.ran if one.error)
        return Activity({"consumed": 3}, {"done": 2}, failures=failures)

    async def cost_by_day(self, first: datetime, days: int) -> list[DayCost]:
        return [DayCost(first + timedelta(days=day), day * 500_000, day * 1_000) for day in range(days)]

    async def occurrence_of(self, run: RunId) -> None:
        """No schedule began any of these."""

    async def posted(self, origins: Collection[str]) -> list[Posted]:
        return [
            Posted(row.id, row.origin, row.kind, row.address, row.state) for row in self.sent if row.origin in origins
        ]

    async def tree_around(self, run: RunId) -> None:
        return None

    async def titles(self, rooms: Collection[Address], owner: Identity | None = None) -> Mapping[Address, str]:
        return {room: self.title for room in rooms if self.title}

    async def conversations(
        self, channel: str, account: str, *, limit: int = 200, owner: Identity | None = None
    ) -> Mapping[Address, str]:
        return {ROOM: self.title} if self.title else {}

    async def find(self, words: str, *, things: Collection[Thing] = tuple(Thing), limit: int = 10) -> list[Candidate]:
        every = [
            *self.traceable,
            *(Candidate(a.id, Thing.APPROVAL, NOW, "ada", a.address, a.state, a.tool) for a in self.asked),
            *(Candidate(d.id, Thing.DELIVERY, NOW, "", d.address, d.state, d.content.text) for d in self.sent),
            *(Candidate(r.id, Thing.RUN, NOW, r.requester, r.address, r.state, "") for r in self.ran),
        ]
        fit = [one for one in every if one.thing in things and one.id.startswith(words)]
        return [one for one in fit if one.id == words][:1] or fit[:limit]

    async def recent(self, address: Address | None = None, *, limit: int = 10) -> list[Candidate]:
        return [one for one in self.traceable if address in (None, one.address)][:limit]

    async def trail(self, about: str) -> Trail | None:
        return self.trails.get(about)

    async def named_accounts(self) -> list[tuple[str, str, str]]:
        return [("web", "w1", "main")]

    async def counts(self) -> Mapping[str, int]:
        return {"approvals.pending": len(self.asked), "deliveries.held": len(self.sent)}

    async def room_work(self, address: Address) -> RoomWork:
        asked = [row for row in self.asked if row.address == address and row.state is ApprovalState.PENDING]
        return RoomWork(next((row.state for row in self.ran if row.address == address), None), tuple(asked))

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        return View(tuple(self.said) if address == ROOM else (), self.working)

    async def audit_rows(self, after: int, *, limit: int = 1000) -> list[AuditRow]:
        return [row for row in self.audited if (row.number or 0) > after][:limit]

    async def newest_audit(self, kind: str = "", *, limit: int) -> list[AuditRow]:
        return [row for row in reversed(self.audited) if kind in ("", row.kind)][:limit]

    async def audit_head(self) -> Head:
        last = self.audited[-1]
        return Head(last.number or 0, last.hash)

    async def audit_unsealed(self) -> int:
        return 0

    async def sink(self, signal: Signal) -> Verdict:
        """Decides a click as a store would: once, and for a pending question only."""
        self.signals.append(signal)
        if not isinstance(signal.body, Clicked):
            return Verdict(Outcome.ACCEPTED, SignalId("s1"))
        row = await self.approval(signal.body.approval_id)
        if row is None or row.state is not ApprovalState.PENDING:
            return Verdict(Outcome.UNCHANGED, SignalId("s1"), "This was already settled.")
        state = ApprovalState.APPROVED if signal.body.choice is Choice.APPROVE else ApprovalState.DENIED
        settled = replace(row, state=state, choice=signal.body.choice, reason=signal.body.reason, decided_name="ada")
        self.asked = [settled if one is row else one for one in self.asked]
        return Verdict(Outcome.DECIDED, SignalId("s1"))

    def _mend(
        self, delivery_id: DeliveryId, actor: str, allowed: tuple[DeliveryState, ...], to: DeliveryState
    ) -> DeliveryRow | None:
        row = next((one for one in self.sent if one.id == delivery_id and one.state in allowed), None)
        if row is None:
            return None
        mended = replace(row, state=to)
        self.sent = [mended if one is row else one for one in self.sent]
        self.mended.append((delivery_id, to.value, actor))
        return mended


def context_of(
    store: FakeStore, notifier: LocalNotifier | None = None, nudged: list[Address] | None = None, token: str = TOKEN
) -> OperatorContext:
    counter = iter(range(1000))
    return OperatorContext(
        store=store.as_store(),
        sink=store.sink,
        links=cast("Links", store),
        notifier=notifier or LocalNotifier(),
        web_account="w1",
        now=lambda: NOW,
        new_id=lambda: f"id{next(counter):08}",
        control_token=token,
        nudge=(nudged if nudged is not None else []).append,
        info={"version": "1", "model": "demo <b>"},
    )


async def crowd() -> FakeStore:
    """An owner, an operator and a user, each with a link named after them."""
    store = FakeStore()
    for name, role in (("ada", Role.OWNER), ("oscar", Role.OPERATOR), ("uma", Role.USER)):
        await store.add_person(name, role, [], actor="test")
        await store.set_link(name, f"link-of-{name}", actor="test")
    return store
