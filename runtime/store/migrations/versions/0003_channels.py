"""Columns for chat platforms: message ids, replies, floors, files, threads joined, pairings, rooms that moved."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _add(name: str, columns: Sequence[sa.Column[Any]]) -> None:
    """SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it."""
    with op.batch_alter_table(name, recreate="always" if op.get_bind().dialect.name == "sqlite" else "never") as table:
        for column in columns:
            table.add_column(column)


def _words(name: str, default: str = "") -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=False, server_default=default)


def _zero(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")


def upgrade() -> None:
    _add("signals", [_words("message_id")])
    _add("sessions", [_zero("since_turn")])
    _add("runs", [_words("reply_to"), _zero("since_turn")])
    _add("turns", [_words("files", "[]")])
    _add("deliveries", [_words("reply_to")])
    _add("parts", [_words("floor"), sa.Column("first_at", sa.BigInteger(), nullable=True), _words("more", "[]")])
    op.create_table(
        "participation",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_participation")),
    )
    op.create_table(
        "pairings",
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("identity", name=op.f("pk_pairings")),
    )
    with op.batch_alter_table("pairings") as table:
        table.create_index("ix_pairings_expires", ["expires_at"], unique=False)
    op.create_table(
        "pairing_tries",
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("actor", name=op.f("pk_pairing_tries")),
    )
    op.create_table(
        "pauses",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("room", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "account", "room", name=op.f("pk_pauses")),
    )
    op.create_table(
        "aliases",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("room", sa.Text(), nullable=False),
        sa.Column("moved_to", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "account", "room", name=op.f("pk_aliases")),
    )
