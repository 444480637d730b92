"""Tables of what is to be done by the clock, and each time it was."""

from __future__ import annotations

from sqlalchemy import Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

# What is to be done by the clock. `due_at` is when it fires: the planned instant, and its jitter; null where none is left.
schedules = Table(
    "schedules",
    metadata,
    time_id("id", primary_key=True),
    words("name"),
    words("rule"),
    words("rule_text"),
    words("task"),
    words("home"),
    words("addresses"),
    words("terms"),
    words("state"),
    words("reason"),
    maybe_words("owner"),
    words("actor"),
    words("agent"),
    number("by_file"),
    number("failures"),
    number("created_at"),
    number("anchor_at"),
    maybe_number("starts_at"),
    maybe_number("ends_at"),
    maybe_number("next_at"),
    maybe_number("due_at"),
    partial("ix_schedules_due", "due_at", where="state = 'active'"),
    partial("uq_schedules_name", "home", "name", where="state IN ('active', 'paused')", unique=True),
    partial("ix_schedules_owner", "owner", where="state IN ('active', 'paused')"),
)

# One planned instant each, whatever the number of nodes that see it come. A report that a person asked for is one too, and
# its own schedule: `report` (JSON) says what is made, `home` where.
occurrences = Table(
    "occurrences",
    metadata,
    time_id("id", primary_key=True),
    words("schedule"),
    number("planned_at"),
    words("state"),
    number("manual"),
    number("silent"),
    words("reason"),
    number("attempts"),
    maybe_words("run_id"),
    maybe_number("not_before"),
    maybe_number("started_at"),
    maybe_number("ended_at"),
    words("result"),
    number("wanted"),
    number("created_at"),
    words("seen"),
    words("report", server_default=""),
    words("home", server_default=""),
    UniqueConstraint("schedule", "planned_at"),
    partial("ix_occurrences_again", "not_before", where="state = 'planned'"),
    partial("ix_occurrences_started", "schedule", where="state = 'started'"),
    partial("ix_occurrences_run", "run_id", where="run_id IS NOT NULL"),
    partial("ix_occurrences_told", "schedule", "planned_at", where="state = 'done' AND silent = 0"),
    partial("ix_occurrences_done", "schedule", "planned_at", where="state = 'done'"),
)
