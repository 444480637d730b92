"""People who are forgotten, heads of the audit that nodes signed, and salts of its rows."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.add_column("audit", sa.Column("salt", sa.Text(), server_default="", nullable=False))
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "forgettings",
        sa.Column("id", key, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("digest", "mark", "needles", "stage", "reached")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("changed", "wanted_at")),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forgettings")),
    )
    is_open = sa.text("ended_at IS NULL")
    op.create_index("ix_forgettings_open", "forgettings", ["wanted_at"], sqlite_where=is_open, postgresql_where=is_open)
    op.create_table(
        "audit_signatures",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("hash", "signature")),
        sa.Column("cut_number", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("cut_hash", "cut_at", "cut_signature")),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_audit_signatures")),
    )
