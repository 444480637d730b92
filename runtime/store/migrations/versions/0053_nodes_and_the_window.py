"""Nodes tell their program, settings and clock, and can be asked to leave; contracts that were made are noted."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    for name in ("version", "knows", "settings"):
        op.add_column("nodes", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    for name in ("beat_at", "clock_offset", "drain_until", "left_at"):
        op.add_column("nodes", sa.Column(name, sa.BigInteger(), nullable=True))
    op.create_table(
        "schema_contracts",
        sa.Column("revision", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_schema_contracts")),
    )
