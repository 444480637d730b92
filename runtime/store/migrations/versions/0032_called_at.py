"""Calls of a tool are found by the time at which the rules let them through: limits count them. Older ones have none."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.add_column("steps", sa.Column("called_at", sa.BigInteger(), nullable=True))
    where = sa.text("called_at IS NOT NULL")
    op.create_index("ix_steps_called", "steps", ["tool", "called_at"], sqlite_where=where, postgresql_where=where)
