"""Tables of people who are forgotten, and of what nodes signed of the audit."""

from __future__ import annotations

from sqlalchemy import Table

from runtime.store.tables.columns import maybe_number, metadata, number, partial, time_id, words

# A person who is being forgotten, or was. `needles` (JSON) are their names and ids, kept only while it goes on; `stage` and
# `reached` say how far it is. What stays is `mark`, which stands where their names stood, and `digest` of their id: by it
# an older backup is restored without them.
forgettings = Table(
    "forgettings",
    metadata,
    time_id("id", primary_key=True),
    words("digest"),
    words("mark"),
    words("needles"),
    words("stage"),
    words("reached"),
    number("changed"),
    number("wanted_at"),
    maybe_number("ended_at"),
    partial("ix_forgettings_open", "wanted_at", where="ended_at IS NULL"),
)

# Of each node's key, where several share this database: the newest head and checkpoint that it signed.
audit_signatures = Table(
    "audit_signatures",
    metadata,
    words("key", primary_key=True),
    number("number"),
    words("hash"),
    words("signature"),
    number("cut_number"),
    words("cut_hash"),
    words("cut_at"),
    words("cut_signature"),
    number("at"),
)
