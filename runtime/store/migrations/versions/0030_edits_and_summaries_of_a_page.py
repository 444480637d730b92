"""The edits of a room and the latest summaries of a conversation are found by an index: each look of an open page asks."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

EDITS = "edits IS NOT NULL"


def upgrade() -> None:
    op.create_index(
        "ix_deliveries_edits",
        "deliveries",
        ["address", "created_at"],
        sqlite_where=sa.text(EDITS),
        postgresql_where=sa.text(EDITS),
    )
    op.create_index("ix_summaries_made", "summaries", ["session", "at"])
