"""Taking a Signal in: gate, dedupe, queue or decide, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, case, exists, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from runtime.approvals import Voter
from runtime.contract import (
    Address,
    Amended,
    Clicked,
    Commanded,
    Content,
    DeliveryId,
    Kind,
    Moved,
    NewId,
    Outcome,
    Person,
    Role,
    RunId,
    Said,
    SessionKey,
    Signal,
    SignalId,
    Stopped,
    Verdict,
    files_json,
)
from runtime.runs import RunEvent
from runtime.store.base import Base
from runtime.store.claims import claim_lane
from runtime.store.common import (
    ADD_DELIVERY,
    ADD_IDENTITY,
    LOCK_LANE,
    delivery_row,
    digest,
    fact,
    moved,
    names_of,
    new_person,
    whom,
)
from runtime.store.desk import decide, withdraw
from runtime.store.driver import Op, is_word, micros
from runtime.store.people import web_identity
from runtime.store.protocol import Gate, NewDelivery, Offer, Taken
from runtime.store.schema import runs, sessions, signals, steps
from runtime.store.turns import SET_TURN

STRANGER = "I do not know you. Ask the owner to add you (signalbox people add)."
READER = "You may read here, but not ask. An owner can change that (signalbox people role)."

NOTICE: Final = 200

SEEN = select(signals.c.id).where(
    or_(
        (signals.c.platform == bindparam("p")) & (signals.c.dedupe_key == bindparam("d")),
        (signals.c.platform == bindparam("p")) & (signals.c.natural_key == bindparam("nk")),
    )
)
ADD_SIGNAL = (
    insert(signals)
    .values({c.name: bindparam(c.name) for c in signals.columns})
    .on_conflict_do_nothing()
    .returning(signals.c.id)
)
TWIN = (
    select(signals.c.id, signals.c.run_id)
    .where(
        signals.c.session == bindparam("s"),
        signals.c.words_hash == bindparam("h"),
        is_word(signals.c.kind, "said"),
        signals.c.answered_at.is_(None),
        signals.c.actor == bindparam("a"),
        signals.c.accepted_at >= bindparam("since"),
        is_word(signals.c.state, "waiting", "consumed"),
        ~exists().where(runs.c.id == signals.c.run_id, or_(runs.c.stop == 1, is_word(runs.c.state, "stopped"))),
    )
    .limit(1)
    .with_for_update()  # the courier that answers it locks it too: answered with its twin, or no twin any more
)
OPEN_LANE = (
    insert(sessions)
    .values({c.name: bindparam(c.name) for c in sessions.columns})
    .on_conflict_do_update(
        index_elements=["key"],
        set_={
            "last_seq": sessions.c.last_seq + 1,
            "waiting": sessions.c.waiting + 1,
            "state": case((sessions.c.state == "idle", "ready"), else_=sessions.c.state),
            "ready_at": case((sessions.c.state == "idle", bindparam("ready_at")), else_=sessions.c.ready_at),
        },
    )
    .returning(sessions.c.last_seq, sessions.c.state)
)
# Only in the race where two nodes take in the same event, or the same words, at once: the second gives its place in
# the lane back.
UNDO_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(last_seq=sessions.c.last_seq - 1, waiting=sessions.c.waiting - 1)
)
OPEN_RUNS = select(runs.c.id, runs.c.state).where(
    runs.c.session == bindparam("s"), is_word(runs.c.state, "running", "parked", "ready")
)
ASK_STOP = update(runs).where(runs.c.id == bindparam("run")).values(stop=1)
END_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(state="stopped", ended_at=bindparam("at"), error=bindparam("why"))
)
UNRESUME = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(resumable=sessions.c.resumable - bindparam("less"))
)
OPEN_STEPS = select(steps.c.turn).where(
    steps.c.run_id == bindparam("run"), is_word(steps.c.state, "open", "asked", "marked")
)
CLOSE_STEPS = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, "open", "asked", "marked"))
    .values(state="done", result=bindparam("text"), ended_at=bindparam("at"))
)


def session_key(agent: str, address: Address) -> SessionKey:
    """One agent in one thread, or else in one room."""
    return SessionKey(f"{agent}|{address}")


def accept(signal: Signal, gate: Gate, offer: Offer | None, now: datetime, new_id: NewId) -> Op[Taken]:
    """The whole of taking in. Ids made here are made anew when a batch is replayed; nobody saw the old ones."""
    if (yield SEEN, _keys(signal)):
        return (yield from _repeated(signal))
    who = yield from whom(signal.actor)
    if who is None and gate.open_to_all:
        who = yield from _welcome(signal, now, new_id)
    if who is None:
        return (yield from _refuse(signal, None, STRANGER, now, new_id))
    match signal.body:
        case Said():
            return (yield from _said(signal, signal.body, who, gate, offer, now, new_id))
        case Clicked():
            return (yield from _clicked(signal, signal.body, who, gate, now, new_id))
        case Stopped():
            return (yield from _stopped(signal, who, gate, now, new_id))
        case Commanded() | Amended() | Moved():
            return (yield from _refuse(signal, who, "Not yet.", now, new_id))


def _keys(signal: Signal) -> Mapping[str, object]:
    return {"p": signal.platform, "d": signal.dedupe_key, "nk": signal.natural_key}


def _repeated(signal: Signal) -> Op[Taken]:
    """This event was taken in before, perhaps by another node between our first look and our write."""
    rows = yield SEEN, _keys(signal)
    return Taken(Verdict(Outcome.DUPLICATE, SignalId(rows[0][0])))


def _welcome(signal: Signal, now: datetime, new_id: NewId) -> Op[Person]:
    # The identity is part of the name, since two strangers may call themselves the same.
    who = yield from new_person(f"{signal.actor_name} ({signal.actor})", Role.USER, now, new_id)
    for identity in (signal.actor, web_identity(who)):
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id}
    return who


def _row(signal: Signal, who: Person | None, state: str, now: datetime, signal_id: str) -> dict[str, object]:
    """A tombstone; what is worth keeping is added by the caller."""
    return {
        "id": signal_id,
        "platform": signal.platform,
        "dedupe_key": signal.dedupe_key,
        "natural_key": signal.natural_key,
        "kind": type(signal.body).__name__.lower(),
        "urgency": signal.urgency.value,
        "actor": signal.actor,
        "actor_name": signal.actor_name,
        "person_id": who.id if who else None,
        "address": str(signal.address),
        "text": "",
        "files": "[]",
        "words_hash": "",
        "session": None,
        "seq": None,
        "state": state,
        "run_id": None,
        "merged_into": None,
        "received_at": micros(signal.received_at),
        "accepted_at": micros(now),
        "answered_at": None,
        "node": None,
        "message_id": signal.message_id,
    }


def _store(row: Mapping[str, object]) -> Op[bool]:
    rows = yield ADD_SIGNAL, row
    return bool(rows)


def _refuse(signal: Signal, who: Person | None, notice: str, now: datetime, new_id: NewId) -> Op[Taken]:
    signal_id = SignalId(new_id())
    if not (yield from _store(_row(signal, who, "refused", now, signal_id))):
        return (yield from _repeated(signal))
    subject = signal.body.approval_id if isinstance(signal.body, Clicked) else str(signal.address)
    yield from fact(now, "refused", signal.actor, subject, notice)
    yield from moved(now, signal_id, None, Outcome.REFUSED, notice)
    return Taken(Verdict(Outcome.REFUSED, signal_id, notice))


def _said(
    signal: Signal, said: Said, who: Person, gate: Gate, offer: Offer | None, now: datetime, new_id: NewId
) -> Op[Taken]:
    if who.role < Role.USER:
        return (yield from _refuse(signal, who, READER, now, new_id))
    key = session_key(gate.agent, signal.address)
    row = _row(signal, who, "waiting", now, new_id()) | {
        "text": said.text,
        "files": files_json(said.files),
        "words_hash": digest(said.text),
        "session": key,
        "node": offer.lease.node if offer else None,  # None: this node had no room to begin with it at once
    }
    mergeable = not said.files
    # The lane is locked, else a claim could consume the twin beside us and leave us behind.
    known = mergeable and bool((yield LOCK_LANE, {"k": key}))
    if known and (twin := (yield from _twin(row, gate, now))):
        return (yield from _merge(row, twin, signal))
    lanes = yield OPEN_LANE, _fresh_lane(key, gate.agent, signal.address, now)
    seq, state = lanes[0]
    if mergeable and not known and seq > 1 and (twin := (yield from _twin(row, gate, now))):
        yield UNDO_LANE, {"k": key}  # another opened this lane beside us, with the same words
        return (yield from _merge(row, twin, signal))
    if not (yield from _store(row | {"seq": seq})):
        yield UNDO_LANE, {"k": key}
        return (yield from _repeated(signal))
    yield from fact(now, "asked", signal.actor_name, str(row["id"]), str(signal.address))
    verdict, ready = Verdict(Outcome.ACCEPTED, SignalId(str(row["id"]))), state == "ready"
    claim = (yield from claim_lane(key, offer, now)) if ready and offer else None
    return Taken(verdict, key, ready and claim is None, claim=claim)


def _twin(row: Mapping[str, object], gate: Gate, now: datetime) -> Op[tuple[str, str | None] | None]:
    since = micros(now - gate.same_words_within)
    rows = yield TWIN, {"s": row["session"], "h": row["words_hash"], "a": row["actor"], "since": since}
    return (rows[0][0], rows[0][1]) if rows else None


def _merge(row: dict[str, object], twin: tuple[str, str | None], signal: Signal) -> Op[Taken]:
    if not (yield from _store(row | {"state": "merged", "merged_into": twin[0], "run_id": twin[1]})):
        return (yield from _repeated(signal))
    return Taken(Verdict(Outcome.MERGED, SignalId(str(row["id"]))))


def _fresh_lane(key: SessionKey, agent: str, address: Address, now: datetime) -> Mapping[str, object]:
    return {
        "key": key,
        "agent": agent,
        "address": str(address),
        "state": "ready",
        "owner": None,
        "fence": 0,
        "waiting": 1,
        "resumable": 0,
        "last_seq": 1,
        "next_turn": 1,
        "ready_at": micros(now),
        "created_at": micros(now),
        "since_turn": 0,
    }


def _clicked(signal: Signal, click: Clicked, who: Person, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    signal_id = SignalId(new_id())
    if not (yield from _store(_row(signal, who, "decided", now, signal_id))):
        return (yield from _repeated(signal))
    voter = Voter(who, (yield from names_of(who)), signal.address, signal.console)
    decided = yield from decide(click.approval_id, voter, click.choice, click.reason, gate.rights, now, new_id)
    if decided.objection:
        return Taken(Verdict(Outcome.UNCHANGED, signal_id, brief(decided.objection)))
    verdict = Verdict(Outcome.DECIDED, signal_id)
    return Taken(verdict, decided.session, decided.lane_ready, None, decided.deliveries)


def brief(text: str) -> str:
    """A notice, within what a platform's private answer holds."""
    return text if len(text) <= NOTICE else text[: NOTICE - 1] + "…"


def _stopped(signal: Signal, who: Person, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    if who.role < Role.USER:
        return (yield from _refuse(signal, who, READER, now, new_id))
    key = session_key(gate.agent, signal.address)
    signal_id = SignalId(new_id())
    if not (yield from _store(_row(signal, who, "decided", now, signal_id))):
        return (yield from _repeated(signal))
    yield LOCK_LANE, {"k": key}
    open_runs = yield OPEN_RUNS, {"s": key}
    if not open_runs:
        return Taken(Verdict(Outcome.UNCHANGED, signal_id, "There is nothing to stop here."))
    yield from fact(now, "stop", who.name, signal_id, str(signal.address))
    live, addresses = None, []
    for run, state in open_runs:
        yield from moved(now, run, None, RunEvent.STOP, who.name)
        if state == "running":
            live = RunId(run)
            yield ASK_STOP, {"run": run}
        else:
            addresses += yield from _end_parked(RunId(run), key, state, signal, who, now, new_id)
    return Taken(Verdict(Outcome.DECIDED, signal_id), key, False, live, tuple(addresses))


def _end_parked(
    run: RunId, key: SessionKey, state: str, signal: Signal, who: Person, now: datetime, new_id: NewId
) -> Op[list[Address]]:
    """A run that waits for people has no owner to end it: it ends here, with its cards and its last words."""
    text = f"Stopped by {who.name}."
    cards = yield from withdraw(run, text, now, new_id)
    open_steps = yield OPEN_STEPS, {"run": run}
    yield CLOSE_STEPS, {"run": run, "text": text, "at": micros(now)}
    for (turn,) in open_steps:
        yield SET_TURN, {"s": key, "n": turn, "new_text": text}
    yield END_RUN, {"run": run, "at": micros(now), "why": text}
    if state == "ready":
        yield UNRESUME, {"k": key, "less": 1}
    address = signal.address
    last = NewDelivery(DeliveryId(new_id()), f"run:{run}", 0, Kind.FINAL, address, Content(text))
    yield ADD_DELIVERY, delivery_row(last, now, run)
    return [*cards, address]


class IntakeStore(Base):
    """Implements `protocol.Intake`."""

    async def accept(self, signal: Signal, gate: Gate, offer: Offer | None = None) -> Taken:
        now = self.now()
        return await self._driver.write(lambda: accept(signal, gate, offer, now, self._new_id))
