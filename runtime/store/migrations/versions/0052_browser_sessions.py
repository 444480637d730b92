"""Browsers in which people are signed in, each with a session of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    op.create_table(
        "browser_sessions",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("hash", "person_id", "link", "browser")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("made_at", "seen_at")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_browser_sessions")),
    )
    op.create_index("ix_browser_sessions_person", "browser_sessions", ["person_id"])
