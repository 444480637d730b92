"""The table of the audit: rows that are chained once they are sealed."""

from __future__ import annotations

from sqlalchemy import Column, Table, UniqueConstraint

from runtime.store.tables.columns import Serial, maybe_number, metadata, number, partial, words

audit = Table(
    "audit",
    metadata,
    Column("entry", Serial, primary_key=True, autoincrement=True),
    maybe_number("number"),
    number("at"),
    words("kind"),
    words("actor"),
    words("subject"),
    words("detail"),
    words("previous"),
    words("hash"),
    # Keeps what was taken out of a row from being guessed by its hash; it goes with it.
    words("salt", server_default=""),
    UniqueConstraint("number"),
    partial("ix_audit_unsealed", "entry", where="number IS NULL"),
)
