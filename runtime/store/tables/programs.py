"""Table of tokens, by which programs speak through the API."""

from __future__ import annotations

from sqlalchemy import Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, metadata, number, words

# One token a program; a new one takes the place of one that was revoked. The token itself is nowhere: only its hash.
tokens = Table(
    "tokens",
    metadata,
    words("name", primary_key=True),
    words("hash"),
    number("role"),
    words("agents"),
    words("rooms"),
    number("per_minute"),
    maybe_number("until"),
    words("made_by"),
    number("made_at"),
    maybe_number("used_at"),
    maybe_number("revoked_at"),
    UniqueConstraint("hash"),
)
