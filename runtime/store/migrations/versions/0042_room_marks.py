"""Conversations as people keep them on the page: named, pinned, put away, read until when."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.create_table(
        "room_marks",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("owner", "address", "title")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("pinned", "archived", "read_at", "changed_at")),
        sa.PrimaryKeyConstraint("owner", "address", name=op.f("pk_room_marks")),
    )
