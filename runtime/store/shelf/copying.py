"""Conversations as rows for a copy, and a copy as rows: nothing in it runs, waits or asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Integer, and_, bindparam, literal_column, select

from runtime.contract import Address, Content, DeliveryId, Identity, NewId, RunId
from runtime.domain.copies.copy import IMPORT_BEGINNING, IMPORTED
from runtime.store.common import ADD_DELIVERY, add, fact, session_key
from runtime.store.delivery.enqueue import ADD_PART, part_row
from runtime.store.intake.inbox import ADD_SIGNAL
from runtime.store.operations.history import REACTED, said
from runtime.store.runs.turns import add_turn
from runtime.store.schema import approvals, deliveries, parts, runs, sessions, signals, steps
from runtime.store.sql.driver import Op, is_word, micros, moment

IMPORTS_MAX: Final = 100
"""Times that one file is taken, each after the conversation that it became was deleted: keys of what was deleted stay a while."""
EDITS_FOR_EACH: Final = 4
"""Changes that are looked through for each entry: a card has two or three."""
QUESTION_KIND: Final = "approval"
ADD_LANE: Final = add(sessions, without=("since_turn", "model")).on_conflict_do_nothing(index_elements=["key"])
_newest: Final = bindparam("n", type_=Integer)
MESSAGES_OF = (
    select(
        signals.c.id,
        signals.c.dedupe_key,
        signals.c.actor_name,
        signals.c.accepted_at,
        signals.c.text,
        signals.c.files,
        signals.c.replaces,
    )
    .where(signals.c.address == bindparam("room"), *said)
    .order_by(signals.c.accepted_at.desc())
    .limit(_newest)
)
ANSWERS_OF = (
    select(
        deliveries.c.id,
        deliveries.c.origin,
        deliveries.c.ordinal,
        parts.c.shown_at,
        deliveries.c.content,
        deliveries.c.number,
    )
    .select_from(deliveries)
    .join(parts, and_(parts.c.delivery_id == deliveries.c.id, parts.c.ordinal == literal_column("1")))
    .where(
        deliveries.c.address == bindparam("room"),
        deliveries.c.edits.is_(None),
        is_word(parts.c.state, "shown"),
        deliveries.c.kind != literal_column(f"'{QUESTION_KIND}'"),
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(_newest)
)
EDITS_OF = (
    select(deliveries.c.edits, deliveries.c.content, deliveries.c.origin)
    .where(deliveries.c.address == bindparam("room"), deliveries.c.edits.is_not(None))
    .order_by(deliveries.c.created_at.desc(), deliveries.c.number.desc())
    .limit(bindparam("edits", type_=Integer))
)
CALLS_OF = (
    select(
        steps.c.run_id,
        steps.c.number,
        steps.c.tool,
        steps.c.effect,
        steps.c.arguments,
        steps.c.result,
        steps.c.state,
        steps.c.started_at,
        steps.c.ended_at,
        runs.c.started_at,
    )
    .select_from(steps)
    .join(runs, runs.c.id == steps.c.run_id)
    .where(runs.c.address == bindparam("room"), is_word(steps.c.kind, "tool"))
    .order_by(runs.c.started_at.desc(), steps.c.number.desc())
    .limit(_newest)
)
QUESTIONS_OF = (
    select(
        approvals.c.id,
        approvals.c.tool,
        approvals.c.effect,
        approvals.c.arguments,
        approvals.c.state,
        approvals.c.asked_at,
        approvals.c.decided_at,
        approvals.c.decided_name,
        approvals.c.choice,
        approvals.c.reason,
    )
    .where(approvals.c.address == bindparam("room"))
    .order_by(approvals.c.asked_at.desc())
    .limit(_newest)
)
BEGUN_BEFORE = select(signals.c.address, signals.c.state).where(
    signals.c.platform == bindparam("platform"), signals.c.dedupe_key == bindparam("key")
)


class MessageRow(NamedTuple):
    """A message of a person; `key` tells what was imported."""

    id: str
    key: str
    name: str
    at: datetime
    text: str
    files: Sequence[Sequence[Any]]
    replaces: str


class AnswerRow(NamedTuple):
    """A shown answer as it stands now; `origin` and `ordinal` tell what was imported."""

    id: str
    origin: str
    ordinal: int
    at: datetime
    content: Content


class CallRow(NamedTuple):
    """A tool call."""

    id: str
    tool: str
    effect: str
    arguments: str
    result: str
    state: str
    at: datetime
    ended_at: datetime | None


class QuestionRow(NamedTuple):
    """A question to people, with its end."""

    id: str
    tool: str
    effect: str
    arguments: str
    state: str
    at: datetime
    decided_at: datetime | None
    by: str
    choice: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConversationRows:
    """Newest rows of a room, each kind oldest first; `is_cut` where there are more."""

    messages: Sequence[MessageRow]
    answers: Sequence[AnswerRow]
    calls: Sequence[CallRow]
    questions: Sequence[QuestionRow]
    is_cut: bool


class FetchedRows(NamedTuple):
    """Rows as the database gave them: `most` of each kind and one more, the newest first. Reading them is for a thread."""

    most: int
    messages: Sequence[Sequence[Any]]
    answers: Sequence[Sequence[Any]]
    edits: Sequence[Sequence[Any]]
    calls: Sequence[Sequence[Any]]
    questions: Sequence[Sequence[Any]]

    def read(self) -> ConversationRows:
        most = self.most
        newest: dict[Any, str] = {
            edited: content for edited, content, origin in reversed(self.edits) if not origin.startswith(REACTED)
        }
        return ConversationRows(
            [_message_row(row) for row in reversed(self.messages[:most])],
            [_answer_row(row, newest) for row in reversed(self.answers[:most])],
            [_call_row(row) for row in reversed(self.calls[:most])],
            [_question_row(row) for row in reversed(self.questions[:most])],
            any(len(rows) > most for rows in (self.messages, self.answers, self.calls, self.questions)),
        )


def fetched_rows(address: Address, most: int) -> Op[FetchedRows]:
    key = {"room": str(address), "n": most + 1}
    messages = yield MESSAGES_OF, key
    answers = yield ANSWERS_OF, key
    edits = yield EDITS_OF, {"room": str(address), "edits": EDITS_FOR_EACH * most}
    calls = yield CALLS_OF, key
    questions = yield QUESTIONS_OF, key
    return FetchedRows(most, messages, answers, edits, calls, questions)


def _message_row(row: Sequence[Any]) -> MessageRow:
    signal_id, key, name, at, text, files, replaces = row
    return MessageRow(signal_id, key, name, moment(at), text, json.loads(files), replaces)


def _answer_row(row: Sequence[Any], newest: Mapping[Any, str]) -> AnswerRow:
    delivery, origin, ordinal, at, content, _ = row
    return AnswerRow(delivery, origin, ordinal, moment(at), Content.from_json(newest.get(delivery, content)))


def _call_row(row: Sequence[Any]) -> CallRow:
    run, number, tool, effect, arguments, result, state, started, ended, began = row
    at = moment(started or began)
    return CallRow(f"{run}.{number}", tool, effect, arguments, result, state, at, _maybe(ended))


def _question_row(row: Sequence[Any]) -> QuestionRow:
    ident, tool, effect, arguments, state, at, decided, by, choice, reason = row
    return QuestionRow(*(ident, tool, effect, arguments, state, moment(at), _maybe(decided), by, choice or "", reason))


def _maybe(at: int | None) -> datetime | None:
    return None if at is None else moment(at)


# ------------------------------------------------------------------------------------------------------------- import


class ImportedMessage(NamedTuple):
    """A message of a copy, by its number there."""

    number: int
    at: datetime
    name: str
    text: str
    replaces: int = 0


class ImportedAnswer(NamedTuple):
    """An answer or a record of a copy, with the wire text that the page shows."""

    number: int
    at: datetime
    content: Content
    body: str


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A copy as it is written. `digest` names it: the same file of the same person is taken once. `material` is for models."""

    digest: str
    address: Address
    by: Identity
    by_name: str
    person: str
    beginning: str
    began_at: datetime
    messages: Sequence[ImportedMessage]
    answers: Sequence[ImportedAnswer]
    material: str


def import_rows(given: ImportedConversation, agent: str, now: datetime, new_id: NewId) -> Op[Address | None]:
    """Write all of it in one transaction; the room that it has from before, and nothing written, where it was taken already."""
    for attempt in range(1, IMPORTS_MAX + 1):
        key = f"{IMPORTED}{given.digest}" if attempt == 1 else f"{IMPORTED}{given.digest}~{attempt}"
        begin = _message(given, f"{key}:{IMPORT_BEGINNING}", given.by, given.by_name, given.began_at, given.beginning)
        if (yield ADD_SIGNAL, begin | {"id": new_id(), "person_id": given.person}):
            break
        rows = yield BEGUN_BEFORE, {"platform": given.address.account, "key": f"{key}:{IMPORT_BEGINNING}"}
        room, state = rows[0]
        if state != "forgotten" or attempt == IMPORTS_MAX:
            return Address.parse(room)
    ids = {one.number: new_id() for one in given.messages}
    actor = Identity(f"{IMPORTED}{given.digest[:16]}")  # nobody's: it gives no rights, and owns nothing
    for one in given.messages:
        row = _message(given, f"{key}:{one.number}", actor, one.name, one.at, one.text)
        yield ADD_SIGNAL, row | {"id": ids[one.number], "replaces": ids.get(one.replaces, "")}
    for shown in given.answers:
        yield from _shown(given, key, shown, DeliveryId(new_id()))
    yield from _for_models(given, agent, now)
    yield from fact(now, "conversation imported", given.by_name, str(given.address), given.digest)
    return None


def _message(
    given: ImportedConversation, key: str, actor: Identity, name: str, at: datetime, text: str
) -> dict[str, object]:
    """A message that is over: answered, and in no lane."""
    return {
        "platform": given.address.account,
        "dedupe_key": key,
        "natural_key": None,
        "kind": "said",
        "urgency": "normal",
        "actor": actor,
        "actor_name": name,
        "person_id": None,
        "address": str(given.address),
        "text": text,
        "files": "[]",
        "words_hash": "",
        "session": None,
        "seq": None,
        "state": "consumed",
        "run_id": None,
        "merged_into": None,
        "received_at": micros(at),
        "accepted_at": micros(at),
        "answered_at": micros(at),
        "node": None,
        "message_id": "",
        "by_program": 0,
        "trigger": "",
        "replaces": "",
    }


def _shown(given: ImportedConversation, key: str, one: ImportedAnswer, delivery: DeliveryId) -> Op[None]:
    """A delivery that was shown, and its one part."""
    at, address = micros(one.at), given.address
    yield (
        ADD_DELIVERY,
        {
            "id": delivery,
            "origin": key,
            "ordinal": one.number,
            "kind": "final",
            "channel": address.channel,
            "account": address.account,
            "address": str(address),
            "content": one.content.to_json(),
            "edits": None,
            "run_id": None,
            "state": "shown",
            "rank": 0,
            "not_before": at,
            "reason": "",
            "created_at": at,
            "settled_at": at,
            "doubted_at": None,
            "reply_to": "",
        },
    )
    done = {"state": "shown", "receipt": f"{delivery}.1", "shown_at": at}
    yield ADD_PART, part_row(delivery, 1, one.body, None) | done


def _for_models(given: ImportedConversation, agent: str, now: datetime) -> Op[None]:
    """One turn with all of it as material, so that the conversation can go on."""
    session = session_key(agent, given.address)
    yield (
        ADD_LANE,
        {
            "key": session,
            "agent": agent,
            "address": str(given.address),
            "state": "idle",
            "owner": None,
            "fence": 0,
            "waiting": 0,
            "resumable": 0,
            "last_seq": 0,
            "next_turn": 1,
            "ready_at": 0,
            "created_at": micros(now),
        },
    )
    yield from add_turn(session, 0, RunId(""), "user", given.material, now, author=given.by_name)
