"""Sign-ins: the sealed grant of each, shared by all nodes, and which of them renews it."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    op.create_table(
        "logins",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "sealed")),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("renews", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("issuer", "signed_in_by")),
        sa.Column("signed_in_at", sa.BigInteger(), nullable=False),
        sa.Column("renewed_at", sa.BigInteger(), nullable=True),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("claimed_until", sa.BigInteger(), nullable=True),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("unfinished", "refusals")),
        sa.Column("trouble", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_logins")),
    )
