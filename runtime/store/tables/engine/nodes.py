"""Tables of live processes, their exclusive duties, and their ways to platforms."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

nodes = Table(
    "nodes",
    metadata,
    time_id("id", primary_key=True),
    words("label"),
    words("state"),
    number("fence"),
    number("joined_at"),
    number("expires_at"),
    # A hash of the agents that its settings describe: all nodes should have the same.
    words("agents", server_default=""),
    # Its program, and the newest revision of the schema that this knows. Empty for a program from before both were told.
    words("version", server_default=""),
    words("knows", server_default=""),
    # A short hash of each of its settings that isn't as usual, by name, as JSON; secrets only by whether there is one.
    words("settings", server_default=""),
    maybe_number("beat_at"),
    # Microseconds by which the clock of its machine is ahead of the database's.
    maybe_number("clock_offset"),
    # Somebody asked it to take nothing more in, and to leave by then at the latest.
    maybe_number("drain_until"),
    # When it gave back what it held. A node that is dead and never left was lost.
    maybe_number("left_at"),
    partial("ix_nodes_live", "expires_at", where="state = 'live'"),
)

roles = Table(
    "roles",
    metadata,
    words("name", primary_key=True),
    maybe_words("node"),
    number("fence"),
)

# How the way of an account to its platform stands on a node, as far as others need to know: `asked_at` is when
# the node last asked them to try theirs, `answered_at` when the platform answered it last, `left_at` when it gave its roles up.
pings = Table(
    "pings",
    metadata,
    words("account"),
    time_id("node"),
    maybe_number("asked_at"),
    maybe_number("answered_at"),
    maybe_number("left_at"),
    PrimaryKeyConstraint("account", "node"),
    partial("ix_pings_asked", "asked_at", where="asked_at IS NOT NULL"),
)
