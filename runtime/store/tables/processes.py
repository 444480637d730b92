"""Table of the programs that agents started and that live on between calls."""

from __future__ import annotations

from sqlalchemy import Index, Table

from runtime.store.tables.columns import maybe_number, metadata, number, partial, time_id, words

processes = Table(
    "processes",
    metadata,
    time_id("id", primary_key=True),
    words("agent"),
    words("session"),
    words("room"),
    time_id("run_id"),
    words("call_id"),
    words("node"),
    words("command"),
    words("state"),
    number("started_at"),
    maybe_number("ended_at"),
    maybe_number("exit"),
    words("reason"),
    Index("ix_processes_session", "session", "id"),
    partial("ix_processes_open", "node", where="state IN ('running', 'stopping')"),
)
