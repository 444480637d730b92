"""Tables of triggers, and of how each fired."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, time_id, words

# Work that begins when something happens: those of the settings (`by_file`), and those that people asked for. A person's
# counts while `owner` may speak, until `ends_at`.
triggers = Table(
    "triggers",
    metadata,
    words("id", primary_key=True),
    words("name"),
    words("event"),
    words("room"),
    words("definition"),
    words("state"),
    words("reason"),
    number("by_file"),
    maybe_words("owner"),
    words("actor"),
    words("home"),
    number("fires"),
    maybe_number("fired_at"),
    maybe_number("ends_at"),
    number("created_at"),
    Index("ix_triggers_event", "event"),
    Index("ix_triggers_owner", "owner"),
)

# One row for each event that fired a trigger, so that it fires once: `event` is the event's own key.
trigger_fires = Table(
    "trigger_fires",
    metadata,
    words("trigger"),
    words("event"),
    time_id("occurrence"),
    number("at"),
    PrimaryKeyConstraint("trigger", "event"),
)
