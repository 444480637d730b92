"""Triggers: work that begins when something happens, and the events that each has fired for."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    op.create_table(
        "triggers",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "name", "event", "room", "definition")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("state", "reason")),
        sa.Column("by_file", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("actor", "home")),
        sa.Column("fires", sa.BigInteger(), nullable=False),
        sa.Column("fired_at", sa.BigInteger(), nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_triggers")),
    )
    op.create_index("ix_triggers_event", "triggers", ["event"])
    op.create_index("ix_triggers_owner", "triggers", ["owner"])
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "trigger_fires",
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("occurrence", key, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("trigger", "event", name=op.f("pk_trigger_fires")),
    )
