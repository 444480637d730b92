"""Timers of runs are found by their time, and not among all waits that there ever were."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    where = sa.text("kind = 'timer' AND settled_at IS NULL")
    op.create_index("ix_waits_timers", "waits", ["subject"], sqlite_where=where, postgresql_where=where)
