"""Text columns of what is kept for long: memories, documents, and what is known of people who are forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.store.operations.text_kinds import (
    CHOSEN_NAME,
    DONE_BY,
    HASH,
    KNOWN,
    OWN_ADDRESS,
    OWN_ID,
    OWN_WORD,
    PERSON_ID,
    REMEMBERED,
    SIGNED,
    TROUBLE,
    VECTOR,
    Column,
    Fixed,
    Forgets,
)

OF_KNOWLEDGE: Final[Mapping[str, Mapping[str, Column]]] = {
    "audit_signatures": {
        "key": SIGNED,
        "hash": HASH,
        "signature": SIGNED,
        "cut_hash": HASH,
        "cut_at": OWN_WORD,
        "cut_signature": SIGNED,
    },
    "forgettings": {
        "id": OWN_ID,
        "digest": HASH,
        "mark": OWN_ID,
        "needles": Fixed("names and ids of whoever is being forgotten, until that is done", Forgets.GONE),
        "stage": OWN_WORD,
        "reached": OWN_WORD,
    },
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
        "changed_by": DONE_BY,
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
        "tag": Fixed("a time and size, or what a server calls a version", Forgets.NONE),
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
