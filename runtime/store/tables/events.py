"""Tables of event sinks, and of what people thought of the agent's messages."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, time_id, words

# How far each sink of the settings has got: every event up to `number` was taken by it, or isn't for it.
# `failing_since` is the first of the failures since then.
event_cursors = Table(
    "event_cursors",
    metadata,
    words("sink", primary_key=True),
    number("number"),
    number("at"),
    maybe_number("failing_since"),
    words("fault"),
    number("told"),
)

# One row for each mark of a person on a message of ours; the newest of theirs counts. Taken away, it goes.
feedback = Table(
    "feedback",
    metadata,
    time_id("delivery_id"),
    words("actor"),
    number("value"),
    maybe_words("person_id"),
    words("name"),
    words("address"),
    maybe_words("run_id"),
    words("words"),
    number("at"),
    PrimaryKeyConstraint("delivery_id", "actor", "value"),
    Index("ix_feedback_at", "at"),
    Index("ix_feedback_person_id", "person_id"),
)
