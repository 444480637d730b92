"""Conversations that people want condensed are found by an index of their commands."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0015"

IS_WANTED = sa.text("state = 'condensing'")


def upgrade() -> None:
    op.create_index(
        "ix_signals_condensing",
        "signals",
        ["accepted_at"],
        sqlite_where=IS_WANTED,
        postgresql_where=IS_WANTED,
    )
