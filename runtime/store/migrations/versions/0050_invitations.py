"""Invitations: links by which people join, once."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.create_table(
        "invitations",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "token_hash")),
        sa.Column("role", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("made_at", "expires_at")),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("used_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
