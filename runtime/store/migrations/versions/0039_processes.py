"""Programs that agents start and that live on between calls, each with its node."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

OPEN = "state IN ('running', 'stopping')"


def upgrade() -> None:
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "processes",
        sa.Column("id", key, nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("room", sa.Text(), nullable=False),
        sa.Column("run_id", key, nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("exit", sa.BigInteger()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processes")),
    )
    op.create_index("ix_processes_session", "processes", ["session", "id"])
    op.create_index(
        "ix_processes_open", "processes", ["node"], sqlite_where=sa.text(OPEN), postgresql_where=sa.text(OPEN)
    )
