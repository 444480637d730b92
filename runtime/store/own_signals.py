"""Signals that we make ourselves: of schedules, of tasks, and between agents. Each waits in a lane that was opened for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract import SessionKey, SignalId, Trigger
from runtime.store.common import add
from runtime.store.schema import signals
from runtime.store.sql.driver import Op, micros

ADD_OWN_SIGNAL: Final = add(signals, without=("replaces",))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignal:
    """A signal of ours. `platform` and `key` make it one: the same cause makes no second.

    `seq` is its place in the lane. `chain` names the agents through whose hands it went, the first one first: so many hops
    it has made. `by_program`: its words are no person's. `reply_to` is the wire's id of the message that it goes back to.
    """

    id: SignalId
    platform: str
    key: str
    trigger: Trigger
    session: SessionKey
    room: str
    text: str
    actor: str
    actor_name: str
    person: str | None = None
    seq: int = 1
    by_program: bool = False
    reply_to: str = ""
    chain: Sequence[str] = ()


def add_own(new: OwnSignal, now: datetime) -> Op[None]:
    """Put a signal of ours before the dispatcher."""
    yield (
        ADD_OWN_SIGNAL,
        {
            "id": new.id,
            "platform": new.platform,
            "dedupe_key": new.key,
            "natural_key": None,
            "kind": "due",
            "urgency": "normal",
            "actor": new.actor,
            "actor_name": new.actor_name,
            "person_id": new.person,
            "address": new.room,
            "text": new.text,
            "files": "[]",
            "words_hash": "",
            "session": new.session,
            "seq": new.seq,
            "state": "waiting",
            "run_id": None,
            "merged_into": None,
            "received_at": micros(now),
            "accepted_at": micros(now),
            "answered_at": None,
            "node": None,
            "message_id": new.reply_to,
            "by_program": int(new.by_program),
            "trigger": new.trigger.value,
            "chain": written(new.chain),
        },
    )


def written(chain: Sequence[str]) -> str:
    """A chain as a column has it."""
    return json.dumps(list(chain)) if chain else ""


def chain_of(column: str) -> tuple[str, ...]:
    """The chain that `written` wrote."""
    return tuple(json.loads(column)) if column else ()
