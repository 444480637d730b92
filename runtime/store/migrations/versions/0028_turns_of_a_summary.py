"""Turns behind a summary are counted once, when it is made. Of an older one (0) they are told by its numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column("summaries", sa.Column("turns", sa.BigInteger(), server_default="0", nullable=False))
