"""Skills that owners accepted, each by the hash of every file: all nodes go by the same decision."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "skill_locks",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "digest", "files", "text", "accepted_by")),
        sa.Column("accepted_at", sa.BigInteger(), nullable=True),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("told_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_skill_locks")),
    )
