"""Tables of people, their accounts on channels, and what lets others in: codes and invitations."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, words

people = Table(
    "people",
    metadata,
    words("id", primary_key=True),
    words("name"),
    number("role"),
    maybe_words("link_hash"),
    number("added_at"),
    UniqueConstraint("link_hash"),
    UniqueConstraint("name"),
)

# `room`: where this account of theirs writes to the agent alone, if it ever did.
identities = Table(
    "identities",
    metadata,
    words("identity", primary_key=True),
    words("person_id"),
    maybe_words("room"),
    Index("ix_identities_person", "person_id"),
)

# A browser in which somebody is signed in, by the hash of what it holds. `link` is the hash of the link that opened it, and
# it ends with that; empty for one that a provider let in, whose sign-in stands in `logins`.
browser_sessions = Table(
    "browser_sessions",
    metadata,
    words("hash", primary_key=True),
    words("person_id"),
    words("link"),
    words("browser"),
    number("made_at"),
    number("seen_at"),
    Index("ix_browser_sessions_person", "person_id"),
)

# Identities of channels whose platform gives none (the web page): made once, kept for good.
accounts = Table(
    "accounts",
    metadata,
    words("channel"),
    words("name"),
    words("identity"),
    PrimaryKeyConstraint("channel", "name"),
)

# A code that an unknown person was sent, for the owner to enter: one each, its hash alone.
pairings = Table(
    "pairings",
    metadata,
    words("identity", primary_key=True),
    words("name"),
    words("address"),
    words("code_hash"),
    number("created_at"),
    number("expires_at"),
    Index("ix_pairings_expires", "expires_at"),
)

# Wrong codes, by who entered them.
pairing_tries = Table(
    "pairing_tries",
    metadata,
    words("actor", primary_key=True),
    number("tries"),
    number("since"),
)

# Where a person or a room reads clocks. `subject` is a person's id or an address.
zones = Table(
    "zones",
    metadata,
    words("subject", primary_key=True),
    words("zone"),
)

# A link by which somebody who isn't known yet joins, once. `ending` tells how it went: used, by `used_by`, or revoked.
invitations = Table(
    "invitations",
    metadata,
    words("id", primary_key=True),
    words("token_hash"),
    number("role"),
    words("made_by"),
    number("made_at"),
    number("expires_at"),
    words("ending"),
    maybe_number("ended_at"),
    maybe_words("used_by"),
    UniqueConstraint("token_hash"),
)
