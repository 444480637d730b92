"""Tables of runs: their steps, waits and checklists, and what a conversation said."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

runs = Table(
    "runs",
    metadata,
    time_id("id", primary_key=True),
    words("session"),
    words("address"),
    words("state"),
    maybe_words("requester"),
    number("claims"),
    number("iterations"),
    number("next_step"),
    number("stop"),
    number("last_turn"),
    words("error"),
    number("started_at"),
    number("ready_at"),
    maybe_number("ended_at"),
    maybe_words("node"),
    number("crashes", server_default="0"),
    words("reply_to", server_default=""),
    number("since_turn", server_default="0"),
    words("trigger", server_default=""),
    words("model", server_default=""),
    partial("uq_runs_live", "session", where="state = 'running'", unique=True),
    partial("ix_runs_open", "session", where="state IN ('running', 'parked', 'ready')"),
    partial("ix_runs_crashed", "ended_at", where="crashes >= 2"),
    Index("ix_runs_started", "started_at"),
)

steps = Table(
    "steps",
    metadata,
    words("run_id"),
    number("number"),
    words("kind"),
    words("state"),
    words("call_id"),
    words("tool"),
    words("effect"),
    words("arguments"),
    words("arguments_hash"),
    words("result"),
    words("caution"),
    number("turn"),
    maybe_number("started_at"),
    maybe_number("ended_at"),
    maybe_words("node"),
    number("trusted", server_default="0"),
    words("sealed", server_default=""),
    # When a call was let through by the rules, at once or by a question: limits count these. Null for all other steps.
    maybe_number("called_at"),
    PrimaryKeyConstraint("run_id", "number"),
    partial("ix_steps_called", "tool", "called_at", where="called_at IS NOT NULL"),
)

# What a parked run waits for: a row each. After the last one is settled the run is ready for its lane.
waits = Table(
    "waits",
    metadata,
    time_id("run_id"),
    number("step"),
    words("kind"),
    words("subject"),
    maybe_number("settled_at"),
    PrimaryKeyConstraint("run_id", "kind", "subject"),
    partial("ix_waits_timers", "subject", where="kind = 'timer' AND settled_at IS NULL"),
)

turns = Table(
    "turns",
    metadata,
    words("session"),
    number("number"),
    words("run_id"),
    words("role"),
    words("text"),
    words("author"),
    words("calls"),
    words("call_id"),
    words("tool"),
    number("at"),
    words("files", server_default="[]"),
    words("reasoning", server_default=""),
    number("left_out", server_default="0"),
    PrimaryKeyConstraint("session", "number"),
)

# What stands in a model's request for the turns from `since_turn` to `upto_turn`, which stay where they are.
summaries = Table(
    "summaries",
    metadata,
    words("session"),
    number("upto_turn"),
    number("since_turn"),
    words("kind"),
    words("text"),
    words("request"),
    words("facts"),
    words("model"),
    number("tokens_before"),
    number("tokens_after"),
    words("run_id"),
    number("at"),
    number("turns", server_default="0"),
    PrimaryKeyConstraint("session", "upto_turn"),
    Index("ix_summaries_made", "session", "at"),
)

# The checklist that a run shows and keeps up to date: steps as JSON, and the delivery that shows it.
plans = Table(
    "plans",
    metadata,
    time_id("run_id", primary_key=True),
    words("steps"),
    words("delivery_id"),
    number("changed_at"),
)
