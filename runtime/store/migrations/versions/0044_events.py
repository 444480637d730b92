"""Cursors of event sinks, and ratings of messages."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.create_table(
        "event_cursors",
        sa.Column("sink", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.Column("told", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sink", name=op.f("pk_event_cursors")),
    )
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "feedback",
        sa.Column("delivery_id", key, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", "actor", "value", name=op.f("pk_feedback")),
    )
    op.create_index("ix_feedback_at", "feedback", ["at"])
    op.create_index("ix_feedback_person_id", "feedback", ["person_id"])
    given = sa.text("receipt IS NOT NULL")
    op.create_index("ix_parts_receipt", "parts", ["receipt"], sqlite_where=given, postgresql_where=given)
