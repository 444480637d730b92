"""The rooms in which somebody spoke are found without reading each of their messages."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    where = sa.text("kind = 'said' AND state <> 'refused'")
    op.create_index(
        "ix_signals_speaker",
        "signals",
        ["actor", "address", "accepted_at"],
        postgresql_where=where,
        sqlite_where=where,
    )
