"""Table of skills that owners accepted."""

from __future__ import annotations

from sqlalchemy import Table

from runtime.store.tables.columns import maybe_number, metadata, number, words

# Skills by name: the form that an owner accepted (`digest`, the hash of each file, its SKILL.md), and in `told` the last one
# that operators were told of. Without a `digest` nobody accepted any yet.
skill_locks = Table(
    "skill_locks",
    metadata,
    words("name", primary_key=True),
    words("digest"),
    words("files"),
    words("text"),
    words("accepted_by"),
    maybe_number("accepted_at"),
    words("told"),
    number("told_at"),
)
