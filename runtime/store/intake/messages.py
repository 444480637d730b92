"""A message that may come in: to its session's lane, into the context, or, when it is stale, nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, exists, literal_column, or_, select, update

from runtime.chat import agents as agent_words
from runtime.chat import commands
from runtime.contract import (
    Address,
    NewId,
    Outcome,
    Person,
    RunId,
    Said,
    SessionKey,
    Signal,
    SignalId,
    Trigger,
    Verdict,
    files_json,
)
from runtime.domain.ids import digest
from runtime.domain.routing import Decision
from runtime.store.agents.held_back import held_back
from runtime.store.common import LOCK_LANE, OPEN_LANE, add, at_once, fact, fresh_lane, session_key
from runtime.store.intake.inbox import ADD_SIGNAL, answer, repeated, row, tell_once
from runtime.store.intake.run_stop import EndedOpen, stop_live
from runtime.store.protocol import Gate, Offer, Taken
from runtime.store.runs.claims import LIVE_NODE, claim_lane
from runtime.store.runs.run_begin import with_files
from runtime.store.runs.turns import add_turn
from runtime.store.schema import participation, runs, sessions, signals, turns
from runtime.store.sql.driver import Op, Query, is_like, is_word, micros
from runtime.store.triggers.messages import watched
from runtime.text.outside import OPENS, of_program

OBSERVED: Final = 50
"""Turns that what was observed may lie back; older ones are dropped, so that a busy room fills no transcript."""
TOLD_AGAIN: Final = 3600 * 10**6
"""Microseconds after which somebody whose message was stale is told so once more."""

JOIN = add(participation).on_conflict_do_nothing()
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
# Only in the race where two nodes take in the same event, or the same words, at once: the second gives its place in
# the lane back.
UNDO_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(last_seq=sessions.c.last_seq - 1, waiting=sessions.c.waiting - 1)
)
TAKE_TURN = (
    add(sessions)
    .on_conflict_do_update(index_elements=["key"], set_={"next_turn": sessions.c.next_turn + 1})
    .returning(sessions.c.next_turn)
)
_newer = turns.alias("newer")
DROP_OBSERVED = delete(turns).where(
    turns.c.session == bindparam("s"),
    turns.c.number > bindparam("low"),
    turns.c.number <= bindparam("high"),
    turns.c.run_id == "",
    or_(
        ~is_like(turns.c.text, f"%{OPENS}From %"),
        select(_newer.c.number)
        .where(
            _newer.c.session == turns.c.session,
            _newer.c.number > turns.c.number,
            _newer.c.author == turns.c.author,
            is_like(_newer.c.text, f"%{OPENS}From %"),
        )
        .exists(),
    ),
)
"""Of each program the last words stay: the model may have read them, and they make its later calls ask."""
MARK_TOLD = (
    select(signals.c.id)
    .where(
        signals.c.address == bindparam("room"),
        signals.c.actor == bindparam("a"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),  # as the index says it
        is_word(signals.c.state, "stale"),
        signals.c.accepted_at > bindparam("since"),
    )
    .limit(1)
)


def said(
    signal: Signal,
    message: Said,
    who: Person,
    course: Decision,
    gate: Gate,
    offer: Offer | None,
    now: datetime,
    new_id: NewId,
) -> Op[Taken]:
    """A message of somebody who is known and may speak there."""
    key = session_key(gate.agent, signal.address)
    values = row(signal, who, "waiting", now, new_id()) | {
        "text": message.text,
        "files": files_json(message.files),
        "words_hash": digest(message.text),
        "session": key,
    }
    if now - signal.received_at > gate.freshness:
        return (yield from _stale(signal, values, gate, now, new_id))
    if course is Decision.OBSERVE:
        observed = yield from _observed(signal, values, gate, now)
        return (
            (yield from watched(signal, message, who, gate.triggers, observed, now, new_id))
            if gate.triggers
            else observed
        )
    if gate.rooms.joins(signal):  # what follows in the thread needs no mention, also after a restart
        yield JOIN, {"address": str(signal.address), "joined_at": micros(now)}
    ended: EndedOpen | None = None
    if message.replaces:
        from runtime.store.shelf.branches import branch_off  # with the first that somebody says again

        if branch := (yield from branch_off(signal, message.replaces, who, now, new_id)):
            values["replaces"], ended = branch
    values["node"] = offer.lease.node if offer else None  # None: this node had no room to begin with it at once
    last = not gate.triggers and course is not Decision.INTERRUPT
    taken = yield from _queued(signal, values, gate, offer, now, new_id, last=last)
    if ended:
        taken = _with(taken, ended)
    if gate.triggers:
        taken = yield from watched(signal, message, who, gate.triggers, taken, now, new_id)
    if course is Decision.INTERRUPT and taken.verdict.outcome is Outcome.ACCEPTED:
        live = yield from stop_live(key, who, taken.verdict.signal_id, signal.address, now)
        return replace(taken, stop_runs=live)
    return taken


def _with(taken: Taken, ended: EndedOpen) -> Taken:
    """Add what ended for it to what was taken in."""
    return replace(
        taken,
        lane_ready=taken.lane_ready or ended.woken,
        stop_runs=(*taken.stop_runs, *ended.live),
        deliveries=(*taken.deliveries, *ended.told),
        ended=(*taken.ended, *ended.over),
    )


# ------------------------------------------------------------------------------------------------------------- the lane


def _queued(
    signal: Signal,
    values: dict[str, object],
    gate: Gate,
    offer: Offer | None,
    now: datetime,
    new_id: NewId,
    *,
    last: bool,
) -> Op[Taken]:
    key, mergeable = SessionKey(str(values["session"])), values["files"] == "[]" and not values["replaces"]
    # The lane is locked, else a claim could consume the twin beside us and leave us behind.
    locked, twins = (yield at_once((LOCK_LANE, {"k": key}), _twin(values, gate, now))) if mergeable else ([], [])
    if locked and twins:
        return (yield from _merge(values, twins[0], signal))
    lanes = yield OPEN_LANE, fresh_lane(key, gate.agent, signal.address, now)
    seq, state, held_since = lanes[0]
    if mergeable and not locked and seq > 1 and (twins := (yield _twin(values, gate, now))):
        yield UNDO_LANE, {"k": key}  # another opened this lane beside us, with the same words
        return (yield from _merge(values, twins[0], signal))
    lives = [(LIVE_NODE, {"node": offer.lease.node, "fence": offer.lease.fence})] if offer and state == "ready" else []
    added, *living = yield at_once((ADD_SIGNAL, values | {"seq": seq}), *lives)
    if not added:
        yield UNDO_LANE, {"k": key}
        return (yield from repeated(signal))
    yield from fact(now, "asked", signal.actor_name, str(values["id"]), str(signal.address))
    verdict, ready = Verdict(Outcome.ACCEPTED, SignalId(str(values["id"]))), state == "ready"
    if held_since is not None:
        return Taken(verdict, key, deliveries=(yield from _told_to_wait(signal, values, gate, now, new_id)))
    claim = (yield from claim_lane(key, offer, now, last=last)) if offer and living and living[0] else None
    return Taken(verdict, key, ready and claim is None, claim=claim)


def _told_to_wait(
    signal: Signal, values: Mapping[str, object], gate: Gate, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """Its agent is suspended: each sender is told once, however much they write until it is back."""
    held = (yield from held_back()).get(gate.agent)
    if held is None or signal.by_bot:
        return ()
    origin = f"agent-suspended:{held.name}:{held.changed_at}:{values['person_id']}"
    return (yield from tell_once(signal, origin, agent_words.waits(held.name, held.reason), now, new_id))


def _twin(values: Mapping[str, object], gate: Gate, now: datetime) -> Query:
    """The query of a message with the same words, and its run."""
    since = micros(now - gate.same_words_within)
    return TWIN, {"s": values["session"], "h": values["words_hash"], "a": values["actor"], "since": since}


def _merge(values: dict[str, object], twin: Sequence[str | None], signal: Signal) -> Op[Taken]:
    if not (yield ADD_SIGNAL, values | {"state": "merged", "merged_into": twin[0], "run_id": twin[1]}):
        return (yield from repeated(signal))
    return Taken(Verdict(Outcome.MERGED, SignalId(str(values["id"]))))


# -------------------------------------------------------------------------------------------------- what does not run


def _observed(signal: Signal, values: dict[str, object], gate: Gate, now: datetime) -> Op[Taken]:
    """A turn without a run: the next one reads it."""
    if not (yield ADD_SIGNAL, values | {"state": "observed", "answered_at": micros(now)}):
        return (yield from repeated(signal))
    key, files = SessionKey(str(values["session"])), str(values["files"])
    lane = fresh_lane(key, gate.agent, signal.address, now)
    rows = yield TAKE_TURN, lane | {"state": "idle", "waiting": 0, "last_seq": 0, "next_turn": 2}
    number = rows[0][0] - 1
    words, is_bot = str(values["text"]), signal.by_bot and signal.trigger is not Trigger.HOOK
    told = with_files(of_program(words, signal.actor_name) if is_bot else words, files)
    yield from add_turn(key, number, RunId(""), "user", told, now, author=signal.actor_name, files=files)
    yield DROP_OBSERVED, {"s": key, "low": number - 2 * OBSERVED, "high": number - OBSERVED}
    return Taken(Verdict(Outcome.OBSERVED, SignalId(str(values["id"]))))


def _stale(signal: Signal, values: dict[str, object], gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """Kept, and not run: who sent it is told once, whatever they wrote besides."""
    known = {"room": values["address"], "a": values["actor"], "since": micros(now) - TOLD_AGAIN}
    told = yield MARK_TOLD, known
    if not (yield ADD_SIGNAL, values | {"state": "stale", "answered_at": micros(now)}):
        return (yield from repeated(signal))
    signal_id = SignalId(str(values["id"]))
    yield from fact(now, "stale", signal.actor_name, signal_id, str(signal.address))
    verdict = Verdict(Outcome.UNCHANGED, signal_id)
    if told:
        return Taken(verdict)
    words = commands.waited_too_long(signal.received_at, gate.freshness)
    return Taken(verdict, deliveries=(yield from answer(signal, signal_id, words, now, new_id)))
