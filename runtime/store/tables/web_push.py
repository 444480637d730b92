"""Tables of browsers that people are told in while they don't look at the page."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import metadata, number, words

# A browser of a person, by the digest of its address at its push service. `session` is the hash of what signed it in: with that
# it ends. `sealed` is the address with the browser's keys, which only the key of the nodes opens. Its person looks at the page
# until `here_until`; nothing is sent before `due_at`, after `tries` failures.
push_subscriptions = Table(
    "push_subscriptions",
    metadata,
    words("id", primary_key=True),
    words("person_id"),
    words("session"),
    words("sealed"),
    number("made_at"),
    number("here_until"),
    number("tries"),
    number("due_at"),
    words("fault"),
    Index("ix_push_subscriptions_person", "person_id"),
)

# What a browser was told, or is about to be: written before it is sent, so that a kill in between sends nothing twice.
push_marks = Table(
    "push_marks",
    metadata,
    words("subscription"),
    words("subject"),
    number("at"),
    PrimaryKeyConstraint("subscription", "subject"),
    Index("ix_push_marks_at", "at"),
)
