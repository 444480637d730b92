"""Models that rest after failures; the model of a conversation and of a run; and what each call read from a vendor's cache."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "cooldowns",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("probe_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("model", name=op.f("pk_cooldowns")),
    )
    op.add_column("sessions", sa.Column("model", sa.Text(), server_default="", nullable=False))
    op.add_column("runs", sa.Column("model", sa.Text(), server_default="", nullable=False))
    op.add_column("usage", sa.Column("cached_tokens", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("usage", sa.Column("instead_of", sa.Text(), server_default="", nullable=False))
