"""Pings: nodes tell each other about their way to a platform before one gives up the roles of an account."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    by_byte = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "pings",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("node", by_byte, nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("left_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("account", "node", name=op.f("pk_pings")),
    )
    asked = sa.text("asked_at IS NOT NULL")
    op.create_index("ix_pings_asked", "pings", ["asked_at"], sqlite_where=asked, postgresql_where=asked)
