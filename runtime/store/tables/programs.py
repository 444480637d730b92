"""Tables of programs that speak through the API: their tokens, and places that are told of their tasks."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, Table, UniqueConstraint

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

# A row until its task is over and its place was told so. `task` is the id of the program's message, `sealed` the address with
# its credentials, which only the key of the nodes opens. `told` counts the stages of the task that were taken there, `tries`
# the failures since then; nothing is sent before `due_at`.
pushes = Table(
    "pushes",
    metadata,
    words("task"),
    words("name"),
    words("program"),
    words("dialect"),
    words("sealed"),
    number("told"),
    number("tries"),
    number("due_at"),
    number("made_at"),
    words("fault"),
    PrimaryKeyConstraint("task", "name"),
)
