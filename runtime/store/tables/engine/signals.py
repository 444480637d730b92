"""Tables of what came in: signals, their lanes, and threads that the agent was made part of."""

from __future__ import annotations

from sqlalchemy import Index, Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

signals = Table(
    "signals",
    metadata,
    time_id("id", primary_key=True),
    words("platform"),
    words("dedupe_key"),
    maybe_words("natural_key"),
    words("kind"),
    words("urgency"),
    words("actor"),
    words("actor_name"),
    maybe_words("person_id"),
    words("address"),
    words("text"),
    words("files"),
    words("words_hash"),
    maybe_words("session"),
    maybe_number("seq"),
    words("state"),
    maybe_words("run_id"),
    maybe_words("merged_into"),
    number("received_at"),
    number("accepted_at"),
    maybe_number("answered_at"),
    maybe_words("node"),
    words("message_id", server_default=""),
    number("by_program", server_default="0"),
    words("trigger", server_default=""),
    words("chain", server_default=""),
    words("replaces", server_default=""),
    UniqueConstraint("platform", "dedupe_key"),
    UniqueConstraint("platform", "natural_key"),
    partial("ix_signals_waiting", "session", "seq", where="state = 'waiting'"),
    partial("ix_signals_unanswered", "session", "words_hash", where="kind = 'said' AND answered_at IS NULL"),
    partial("ix_signals_condensing", "accepted_at", where="state = 'condensing'"),
    partial("ix_signals_run", "run_id", where="run_id IS NOT NULL"),
    partial("ix_signals_merged", "merged_into", where="merged_into IS NOT NULL"),
    partial("ix_signals_said", "address", "accepted_at", where="kind = 'said' AND state <> 'refused'"),
    partial("ix_signals_speaker", "actor", "address", "accepted_at", where="kind = 'said' AND state <> 'refused'"),
    partial("ix_signals_actor", "actor", "accepted_at", where="kind = 'said' AND state <> 'refused'"),
)

# The lane: `waiting` counts signals and `resumable` ready runs. Both sides change the counters in their own
# transactions, so "is there more?" is never a sub-select that can miss a row committed beside it.
sessions = Table(
    "sessions",
    metadata,
    words("key", primary_key=True),
    words("agent"),
    words("address"),
    words("state"),
    maybe_words("owner"),
    number("fence"),
    number("waiting"),
    number("resumable"),
    number("last_seq"),
    number("next_turn"),
    number("ready_at"),
    number("created_at"),
    number("since_turn", server_default="0"),
    words("model", server_default=""),
    Index("ix_sessions_address", "address"),
    partial("ix_sessions_ready", "ready_at", where="state = 'ready'"),
    partial("ix_sessions_suspect", "ready_at", where="state = 'suspect'"),
    partial("ix_sessions_owner", "owner", where="state = 'running'"),
)

# Threads that the agent was made part of by a mention: what follows there needs none.
participation = Table(
    "participation",
    metadata,
    words("address", primary_key=True),
    number("joined_at"),
)
