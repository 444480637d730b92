"""Agents through whose hands a message or a task went: whoever works on it may do no more than each of them."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.add_column("signals", sa.Column("chain", sa.Text(), server_default="", nullable=False))
    op.add_column("tasks", sa.Column("chain", sa.Text(), server_default="", nullable=False))
    if op.get_bind().dialect.name == "postgresql":  # so that its index serves whoever looks for the children of a row
        op.alter_column("children", "parent_run", type_=sa.Text(collation="C"), existing_nullable=False)
