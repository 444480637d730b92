"""Tables of what is shown: deliveries, their parts, and what platforms say of rooms."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from runtime.store.tables.columns import Serial, maybe_number, maybe_words, metadata, number, partial, time_id, words

OPEN_DELIVERY: Final = "state IN ('queued', 'open')"

deliveries = Table(
    "deliveries",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    words("id"),
    time_id("origin"),
    number("ordinal"),
    words("kind"),
    words("channel"),
    words("account"),
    words("address"),
    words("content"),
    maybe_words("edits"),
    maybe_words("run_id"),
    words("state"),
    number("rank"),
    number("not_before"),
    words("reason"),
    number("created_at"),
    maybe_number("settled_at"),
    maybe_number("doubted_at"),
    words("reply_to", server_default=""),
    UniqueConstraint("id"),
    UniqueConstraint("origin", "ordinal"),
    partial("ix_deliveries_open", "address", "rank", "number", where=OPEN_DELIVERY),
    partial("ix_deliveries_rooms", "channel", "account", "address", where=OPEN_DELIVERY),
    partial("ix_deliveries_stuck", "channel", "account", "state", where="state IN ('held', 'dead')"),
    Index("ix_deliveries_address", "address", "created_at"),
    Index("ix_deliveries_created", "created_at"),
    partial("ix_deliveries_edits", "address", "created_at", where="edits IS NOT NULL"),
)

parts = Table(
    "parts",
    metadata,
    words("delivery_id"),
    number("ordinal"),
    words("state"),
    words("body"),
    maybe_words("fallback"),
    number("attempts"),
    maybe_number("marked_at"),
    number("looks"),
    number("repeat_mark"),
    maybe_words("receipt"),
    maybe_number("shown_at"),
    words("reason"),
    maybe_words("node"),
    words("floor", server_default=""),
    maybe_number("first_at"),
    words("more", server_default="[]"),
    PrimaryKeyConstraint("delivery_id", "ordinal"),
    partial("ix_parts_marked", "delivery_id", where="state = 'marked'"),
    partial("ix_parts_receipt", "receipt", where="receipt IS NOT NULL"),
)

# What went another way than straight on: a run taken up again, a part retried, looked for or given up. The straight way
# is told by the times in the rows themselves, so that it costs no row here.
moves = Table(
    "moves",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    words("subject"),
    number("at"),
    maybe_words("node"),
    words("what"),
    words("detail"),
    Index("ix_moves_subject", "subject"),
)

# What a platform told us to wait for: a room, or with no room the whole account. Kept over restarts, thrown out when over.
pauses = Table(
    "pauses",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    number("until"),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# Rooms to which their platform gave another id. Rows keep the first one; `moved_to` is the newest.
aliases = Table(
    "aliases",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    words("moved_to"),
    number("at"),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# What platforms call their rooms, as they last told it, and the language in which a room's only reader reads. `seen_at` is right to a day, here and with the forms of tools.
rooms = Table(
    "rooms",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    words("name"),
    number("seen_at", server_default="0"),
    words("language", server_default=""),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# Private chats in which cards were counted: whoever counts them holds the row until the new card is there. `told`: of how
# many further questions the line there tells.
chats = Table("chats", metadata, words("room"), number("told"), PrimaryKeyConstraint("room"))
