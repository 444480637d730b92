"""Tables of memory: what agents keep, who may read it, and values of programs."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import (
    Serial,
    maybe_number,
    maybe_words,
    metadata,
    number,
    numbers,
    partial,
    time_id,
    words,
)

# `scope` says who may read it: "person|ID", "room|ADDRESS", "agent" or "all"; `reach` is the digest of agent and scope, by
# which rows are looked for. `subject`, `relation` and `object` are empty where `text` alone says it; a new row of the same
# subject and relation ends the one before (`valid_to`, `superseded_by`). Their keys are digests of their plainest forms, and
# `hash` is of the text in its own: what only looks different is the same. Of what people said one value stands at a time.
memories = Table(
    "memories",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    time_id("id", unique=True),
    words("agent"),
    words("scope"),
    words("reach"),
    words("kind"),
    words("subject"),
    words("relation"),
    words("object"),
    words("subject_key"),
    words("relation_key"),
    words("object_key"),
    words("text"),
    words("trust"),
    number("importance"),
    number("pinned"),
    maybe_words("source_signal"),
    maybe_words("source_run"),
    maybe_number("source_step"),
    maybe_words("by_person"),
    number("valid_from"),
    maybe_number("valid_to"),
    maybe_words("superseded_by"),
    maybe_number("expires_at"),
    number("uses"),
    maybe_number("used_at"),
    words("hash"),
    number("created_at"),
    Index("ix_memories_reach", "reach", "created_at"),
    Index("ix_memories_subject", "reach", "subject_key", "relation_key"),
    Index("ix_memories_object", "reach", "object_key"),
    partial(
        *("ix_memories_value", "reach", "subject_key", "relation_key"),
        where=(
            "valid_to IS NULL AND trust = 'said' AND kind <> 'relation' AND subject_key <> '' AND relation_key <> ''"
        ),
        unique=True,
    ),
    partial("ix_memories_same", "reach", "hash", where="valid_to IS NULL", unique=True),
    partial("ix_memories_ended", "superseded_by", where="superseded_by IS NOT NULL"),
    partial("ix_memories_expiring", "expires_at", where="expires_at IS NOT NULL"),
    partial("ix_memories_person", "by_person", where="by_person IS NOT NULL"),
)

# Made by a model of embeddings, and made again where that is another one: two live side by side meanwhile.
memory_vectors = Table(
    "memory_vectors",
    metadata,
    time_id("memory_id"),
    words("model"),
    words("reach"),
    number("dims"),
    numbers("vector"),
    PrimaryKeyConstraint("memory_id", "model"),
    Index("ix_memory_vectors_reach", "reach", "model", "memory_id"),
)

# Rows that a run was given unasked, or found: `why` people read of what was used.
memory_uses = Table(
    "memory_uses",
    metadata,
    time_id("run_id"),
    time_id("memory_id"),
    number("rank"),
    words("how"),
    number("at"),
    PrimaryKeyConstraint("run_id", "memory_id"),
    Index("ix_memory_uses_memory", "memory_id"),
)

# What is known of a person in their private rooms, in one text that they can read and change.
person_summaries = Table(
    "person_summaries",
    metadata,
    words("person_id"),
    words("agent"),
    words("text"),
    number("enabled"),
    maybe_words("changed_by"),
    number("changed_at"),
    PrimaryKeyConstraint("person_id", "agent"),
)

# Values of programs and long work. `version` grows with each change, for compare-and-set.
state_values = Table(
    "state_values",
    metadata,
    words("reach"),
    words("key"),
    words("agent"),
    words("scope"),
    words("value"),
    number("version"),
    number("changed_at"),
    PrimaryKeyConstraint("reach", "key"),
)

# Ids of what people had forgotten: a backup that still has such a row is restored without it.
forgotten = Table("forgotten", metadata, time_id("id", primary_key=True), number("at"))
