"""A call that is open because somebody is trusted says so: it runs while that lasts. Of an older one (0) nobody can tell."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.add_column("steps", sa.Column("trusted", sa.BigInteger(), server_default="0", nullable=False))
