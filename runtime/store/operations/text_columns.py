"""Every text column of the schema: the gate of the leak guard by which its text comes, or why it holds no free text.

`signalbox guard scan` looks through those with a gate. A column of the schema without a row here fails
`python -m runtime.store.check`, and so `make check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runtime.guard.findings import Gate
from runtime.guard.stored import Form


@dataclass(frozen=True, slots=True)
class Free:
    """Free text. `stays` is why a scan only tells of it; with `while_open` that holds while something of its row is open."""

    gate: Gate
    form: Form = Form.TEXT
    stays: str = ""
    while_open: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """No free text: `why` not."""

    why: str


Column = Free | Fixed

OWN_ID: Final = Fixed("an id of ours")
OWN_WORD: Final = Fixed("one of our words")
OWN_ADDRESS: Final = Fixed("an address or account, as its platform numbers it")
PLATFORM_ID: Final = Fixed("an id that the platform gave")
PERSON_ID: Final = Fixed("an id of a person or of their account")
HASH: Final = Fixed("a hash")
CHOSEN_NAME: Final = Fixed("a name of the settings or of this program")
SEALED: Final = Fixed("sealed with the key of the data folder")

SAID: Final = Free(Gate.MESSAGE_IN)
SAID_JSON: Final = Free(Gate.MESSAGE_IN, Form.JSON)
HANDED: Final = Free(Gate.HANDED_ON)
HANDED_JSON: Final = Free(Gate.HANDED_ON, Form.JSON)
"""What one agent hands to another."""
ARGUMENTS: Final = Free(Gate.TOOL_ARGUMENTS, Form.JSON)
GIVEN: Final = Free(Gate.TOOL_RESULT)
REPLY: Final = Free(Gate.MODEL_REPLY)
SHOWN: Final = Free(Gate.DELIVERY)
SHOWN_JSON: Final = Free(Gate.DELIVERY, Form.JSON)
TROUBLE: Final = Free(Gate.DELIVERY)
"""Words about an error: of ours, and of whoever refused something."""

OPEN_CALL: Final = Free(
    Gate.TOOL_ARGUMENTS, Form.JSON, "its call is still open, and could not run any more; decide or stop it", True
)
GRANTED: Final = Free(
    Gate.TOOL_ARGUMENTS, Form.JSON, "a grant goes by it; end it with `signalbox grants revoke`", while_open=True
)
KEPT: Final = Free(Gate.TOOL_RESULT, Form.TEXT, "an undo needs it; it goes when that is no longer offered")
CHAINED: Final = Free(Gate.MESSAGE_IN, Form.TEXT, "the audit is a chain; nothing in it can be changed")
OFFERED: Final = Free(Gate.HANDED_ON, Form.JSON)
"""A tool in its server's words, cleaned as it is offered: a row that a scan cleans reads equal to it."""

REMEMBERED: Final = Free(Gate.MEMORY_WRITE)
KNOWN: Final = Free(Gate.MEMORY_WRITE)
"""Of documents that operators name."""
VECTOR: Final = Fixed("numbers that a model made of a text")

CALLED: Final = Free(
    Gate.MESSAGE_IN, Form.TEXT, "people are known by it; choose another with `signalbox people rename`"
)

TEXT_COLUMNS: Final[Mapping[str, Mapping[str, Column]]] = {
    "signals": {
        "id": OWN_ID,
        "platform": OWN_ADDRESS,
        "dedupe_key": PLATFORM_ID,
        "natural_key": PLATFORM_ID,
        "kind": OWN_WORD,
        "urgency": OWN_WORD,
        "actor": PERSON_ID,
        "actor_name": SAID,
        "person_id": PERSON_ID,
        "address": OWN_ADDRESS,
        "text": SAID,
        "files": SAID_JSON,
        "words_hash": HASH,
        "session": OWN_ADDRESS,
        "state": OWN_WORD,
        "run_id": OWN_ID,
        "merged_into": OWN_ID,
        "node": OWN_ID,
        "message_id": PLATFORM_ID,
        "trigger": OWN_WORD,
        "chain": CHOSEN_NAME,
    },
    "sessions": {
        "key": OWN_ADDRESS,
        "agent": CHOSEN_NAME,
        "address": OWN_ADDRESS,
        "state": OWN_WORD,
        "owner": OWN_ID,
        "model": CHOSEN_NAME,
    },
    "runs": {
        "id": OWN_ID,
        "session": OWN_ADDRESS,
        "address": OWN_ADDRESS,
        "state": OWN_WORD,
        "requester": PERSON_ID,
        "error": SHOWN,
        "node": OWN_ID,
        "reply_to": PLATFORM_ID,
        "trigger": OWN_WORD,
        "model": CHOSEN_NAME,
    },
    "steps": {
        "run_id": OWN_ID,
        "kind": OWN_WORD,
        "state": OWN_WORD,
        "call_id": Fixed("an id that the model's vendor gave"),
        "tool": CHOSEN_NAME,
        "effect": OWN_WORD,
        "arguments": OPEN_CALL,
        "arguments_hash": HASH,
        "result": GIVEN,
        "caution": SHOWN,
        "node": OWN_ID,
        "sealed": SEALED,
    },
    "waits": {"run_id": OWN_ID, "kind": OWN_WORD, "subject": OWN_ID},
    "turns": {
        "session": OWN_ADDRESS,
        "run_id": OWN_ID,
        "role": OWN_WORD,
        "text": SAID,
        "author": SAID,
        "calls": ARGUMENTS,
        "call_id": Fixed("an id that the model's vendor gave"),
        "tool": CHOSEN_NAME,
        "files": SAID_JSON,
        "reasoning": Free(Gate.MODEL_REPLY, Form.THINKING),
    },
    "summaries": {
        "session": OWN_ADDRESS,
        "kind": OWN_WORD,
        "text": REPLY,
        "request": SAID,
        "facts": Free(Gate.MODEL_REPLY, Form.JSON),
        "model": CHOSEN_NAME,
        "run_id": OWN_ID,
    },
    "approvals": {
        "id": OWN_ID,
        "kind": OWN_WORD,
        "state": OWN_WORD,
        "run_id": OWN_ID,
        "session": OWN_ADDRESS,
        "address": OWN_ADDRESS,
        "tool": CHOSEN_NAME,
        "effect": OWN_WORD,
        "arguments": OPEN_CALL,
        "arguments_hash": HASH,
        "policy_version": HASH,
        "caution": SHOWN,
        "requester": PERSON_ID,
        "decided_by": PERSON_ID,
        "decided_name": SAID,
        "choice": OWN_WORD,
        "reason": SAID,
        "requester_name": SAID,
        "request": SAID,
        "terms": SHOWN_JSON,
        "card": SHOWN_JSON,
        "asked_arguments": OPEN_CALL,
        "outcome": GIVEN,
    },
    "votes": {"approval_id": OWN_ID, "person_id": PERSON_ID, "choice": OWN_WORD, "reason": SAID},
    "grants": {
        "id": OWN_ID,
        "agent": CHOSEN_NAME,
        "tool": CHOSEN_NAME,
        "form": HASH,
        "pattern": GRANTED,
        "session": OWN_ADDRESS,
        "room": OWN_ADDRESS,
        "person": PERSON_ID,
        "by": PERSON_ID,
        "from_approval": OWN_ID,
    },
    "modes": {"session": OWN_ADDRESS, "mode": OWN_WORD, "person": PERSON_ID, "set_by": PERSON_ID},
    "absences": {"person_id": PERSON_ID},
    "undos": {"approval_id": OWN_ID, "run_id": OWN_ID, "kept": KEPT, "undone_by": PERSON_ID},
    "asked_back": {"approval_id": OWN_ID, "node": OWN_ID},
    "deliveries": {
        "id": OWN_ID,
        "origin": OWN_ID,
        "kind": OWN_WORD,
        "channel": CHOSEN_NAME,
        "account": OWN_ADDRESS,
        "address": OWN_ADDRESS,
        "content": SHOWN_JSON,
        "edits": OWN_ID,
        "run_id": OWN_ID,
        "state": OWN_WORD,
        "reason": TROUBLE,
        "reply_to": PLATFORM_ID,
    },
    "parts": {
        "delivery_id": OWN_ID,
        "state": OWN_WORD,
        "body": SHOWN_JSON,
        "fallback": SHOWN_JSON,
        "receipt": PLATFORM_ID,
        "reason": TROUBLE,
        "node": OWN_ID,
        "floor": PLATFORM_ID,
        "more": SHOWN_JSON,
    },
    "moves": {"subject": OWN_ID, "node": OWN_ID, "what": OWN_WORD, "detail": TROUBLE},
    "nodes": {
        "id": OWN_ID,
        "label": Fixed("the name of a machine, and a number of its process"),
        "state": OWN_WORD,
        "agents": HASH,
    },
    "roles": {"name": OWN_ADDRESS, "node": OWN_ID},
    "pings": {"account": OWN_ADDRESS, "node": OWN_ID},
    "usage": {
        "run_id": OWN_ID,
        "agent": CHOSEN_NAME,
        "address": OWN_ADDRESS,
        "person_id": PERSON_ID,
        "model": CHOSEN_NAME,
        "instead_of": CHOSEN_NAME,
    },
    "budgets": {"scope": OWN_WORD, "subject": OWN_ADDRESS},
    "reservations": {"run_id": OWN_ID, "agent": CHOSEN_NAME, "room": OWN_ADDRESS, "person_id": PERSON_ID},
    "cooldowns": {"model": CHOSEN_NAME, "mark": HASH, "cause": OWN_WORD, "reason": TROUBLE},
    "audit": {
        "kind": OWN_WORD,
        "actor": PERSON_ID,
        "subject": CHAINED,
        "detail": CHAINED,
        "previous": HASH,
        "hash": HASH,
    },
    "people": {"id": OWN_ID, "name": CALLED, "link_hash": HASH},
    "identities": {"identity": PERSON_ID, "person_id": PERSON_ID, "room": OWN_ADDRESS},
    "accounts": {"channel": CHOSEN_NAME, "name": CHOSEN_NAME, "identity": OWN_ADDRESS},
    "participation": {"address": OWN_ADDRESS},
    "pairings": {"identity": PERSON_ID, "name": SAID, "address": OWN_ADDRESS, "code_hash": HASH},
    "pairing_tries": {"actor": PERSON_ID},
    "pauses": {"channel": CHOSEN_NAME, "account": OWN_ADDRESS, "room": OWN_ADDRESS},
    "aliases": {"channel": CHOSEN_NAME, "account": OWN_ADDRESS, "room": OWN_ADDRESS, "moved_to": OWN_ADDRESS},
    "rooms": {"channel": CHOSEN_NAME, "account": OWN_ADDRESS, "room": OWN_ADDRESS, "name": SAID},
    "chats": {"room": OWN_ADDRESS},
    "schedules": {
        "id": OWN_ID,
        "name": SAID,
        "rule": Fixed("times, as this program writes them"),
        "rule_text": SAID,
        "task": SAID_JSON,
        "home": OWN_ADDRESS,
        "addresses": OWN_ADDRESS,
        "terms": SHOWN_JSON,
        "state": OWN_WORD,
        "reason": SAID,
        "owner": PERSON_ID,
        "actor": PERSON_ID,
        "agent": CHOSEN_NAME,
    },
    "occurrences": {
        "id": OWN_ID,
        "schedule": OWN_ID,
        "state": OWN_WORD,
        "reason": TROUBLE,
        "run_id": OWN_ID,
        "result": REPLY,
        "seen": HASH,
        "report": SAID_JSON,
        "home": OWN_ADDRESS,
    },
    "zones": {"subject": OWN_ADDRESS, "zone": OWN_WORD},
    "agents": {
        "name": CHOSEN_NAME,
        "state": OWN_WORD,
        "manifest": SAID_JSON,
        "made_by": PERSON_ID,
        "reason": SAID,
    },
    "agent_rooms": {"address": OWN_ADDRESS, "agent": CHOSEN_NAME, "set_by": PERSON_ID},
    "children": {
        "id": OWN_ID,
        "parent_run": OWN_ID,
        "parent_session": OWN_ADDRESS,
        "root_run": OWN_ID,
        "session": OWN_ADDRESS,
        "agent": CHOSEN_NAME,
        "chain": CHOSEN_NAME,
        "goal": HANDED,
        "criteria": HANDED,
        "wanted": HANDED_JSON,
        "files": HANDED_JSON,
        "state": OWN_WORD,
        "result": REPLY,
    },
    "tasks": {
        "id": OWN_ID,
        "agent": CHOSEN_NAME,
        "room": OWN_ADDRESS,
        "title": HANDED,
        "goal": HANDED,
        "input": HANDED,
        "criteria": HANDED,
        "state": OWN_WORD,
        "posted_by": PERSON_ID,
        "owner": CHOSEN_NAME,
        "run_id": OWN_ID,
        "result": REPLY,
        "chain": CHOSEN_NAME,
    },
    "processes": {
        "id": OWN_ID,
        "agent": CHOSEN_NAME,
        "session": OWN_ADDRESS,
        "room": OWN_ADDRESS,
        "run_id": OWN_ID,
        "call_id": OWN_ID,
        "node": OWN_ID,
        "command": Free(Gate.TOOL_ARGUMENTS),
        "state": OWN_WORD,
        "reason": OWN_WORD,
    },
    "plans": {"run_id": OWN_ID, "steps": SHOWN_JSON, "delivery_id": OWN_ID},
    "tool_forms": {"tool": CHOSEN_NAME, "accepted": OFFERED, "seen": OFFERED},
    "skill_locks": {
        "name": CHOSEN_NAME,
        "digest": HASH,
        "files": Fixed("paths of files, each with its hash"),
        "text": KNOWN,
        "accepted_by": CALLED,
        "told": HASH,
    },
    "logins": {
        "name": CHOSEN_NAME,
        "sealed": SEALED,
        "issuer": CHOSEN_NAME,
        "signed_in_by": CALLED,
        "claim": OWN_ID,
        "trouble": Fixed("our words about a sign-in, with an issuer's code"),
    },
    "triggers": {
        "id": OWN_ID,
        "name": CHOSEN_NAME,
        "event": OWN_WORD,
        "room": OWN_ADDRESS,
        "definition": SAID_JSON,
        "state": OWN_WORD,
        "reason": OWN_WORD,
        "owner": PERSON_ID,
        "actor": PERSON_ID,
        "home": OWN_ADDRESS,
    },
    "trigger_fires": {"trigger": OWN_ID, "event": OWN_ID, "occurrence": OWN_ID},
    "memories": {
        "id": OWN_ID,
        "agent": CHOSEN_NAME,
        "scope": OWN_ADDRESS,
        "reach": HASH,
        "kind": OWN_WORD,
        "subject": REMEMBERED,
        "relation": REMEMBERED,
        "object": REMEMBERED,
        "subject_key": HASH,
        "relation_key": HASH,
        "object_key": HASH,
        "text": REMEMBERED,
        "trust": OWN_WORD,
        "source_signal": OWN_ID,
        "source_run": OWN_ID,
        "by_person": PERSON_ID,
        "superseded_by": OWN_ID,
        "hash": HASH,
    },
    "memory_vectors": {"memory_id": OWN_ID, "model": CHOSEN_NAME, "reach": HASH, "vector": VECTOR},
    "memory_uses": {"run_id": OWN_ID, "memory_id": OWN_ID, "how": OWN_WORD},
    "person_summaries": {
        "person_id": PERSON_ID,
        "agent": CHOSEN_NAME,
        "text": REMEMBERED,
        "changed_by": PERSON_ID,
    },
    "state_values": {
        "reach": HASH,
        "key": REMEMBERED,
        "agent": CHOSEN_NAME,
        "scope": OWN_ADDRESS,
        "value": REMEMBERED,
    },
    "forgotten": {"id": OWN_ID},
    "knowledge_documents": {
        "id": OWN_ID,
        "pack": CHOSEN_NAME,
        "place": KNOWN,
        "title": KNOWN,
        "tag": Fixed("a time and size, or what a server calls a version"),
        "digest": HASH,
        "fault": TROUBLE,
    },
    "knowledge_chunks": {
        "id": OWN_ID,
        "document_id": OWN_ID,
        "pack": CHOSEN_NAME,
        "heading": KNOWN,
        "text": KNOWN,
    },
    "knowledge_vectors": {"chunk_id": OWN_ID, "model": CHOSEN_NAME, "pack": CHOSEN_NAME, "vector": VECTOR},
}


def free_columns(table: str) -> Mapping[str, Free]:
    """Columns of a table that may hold free text."""
    return {name: one for name, one in TEXT_COLUMNS[table].items() if isinstance(one, Free)}


def scanned_tables() -> tuple[str, ...]:
    return tuple(table for table in TEXT_COLUMNS if free_columns(table))


def unlisted(known: Mapping[str, frozenset[str]]) -> list[str]:
    """Text columns of the schema that have no row here, and rows of none. `known`: the schema's text columns by table."""
    tables = dict.fromkeys([*known, *TEXT_COLUMNS])
    return [
        f"{table}.{column}"
        for table in tables
        for column in sorted(known.get(table, frozenset()) ^ TEXT_COLUMNS.get(table, {}).keys())
    ]
