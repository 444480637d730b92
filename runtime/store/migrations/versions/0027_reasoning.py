"""Thinking of a model before a turn of its own: for people who ask, and for vendors that want it back."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column("turns", sa.Column("reasoning", sa.Text(), server_default="", nullable=False))
