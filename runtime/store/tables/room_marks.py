"""Tables of how people keep their conversations, and of those they deleted."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, Table

from runtime.store.tables.columns import metadata, number, words

# A row for each conversation that somebody named, pinned, put away or read: `owner` is their identity on the page. Without
# a `title` it is called by its first words; `read_at` 0 is never.
room_marks = Table(
    "room_marks",
    metadata,
    words("owner"),
    words("address"),
    words("title"),
    number("pinned"),
    number("archived"),
    number("read_at"),
    number("changed_at"),
    PrimaryKeyConstraint("owner", "address"),
)

# A row for each conversation that its owner deleted, until its texts are gone. Before `due_at` it can be taken back;
# the removal begins then, and sets it anew with each look.
deleted_rooms = Table(
    "deleted_rooms",
    metadata,
    words("address", primary_key=True),
    words("owner"),
    number("deleted_at"),
    number("due_at"),
)
