"""Browsers that want to be told while nobody looks at the page, and what each was told."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    op.create_table(
        "push_subscriptions",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "person_id", "session", "sealed")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("made_at", "here_until", "tries", "due_at")),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_push_subscriptions")),
    )
    op.create_index("ix_push_subscriptions_person", "push_subscriptions", ["person_id"])
    op.create_table(
        "push_marks",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("subscription", "subject")),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subscription", "subject", name=op.f("pk_push_marks")),
    )
    op.create_index("ix_push_marks_at", "push_marks", ["at"])
