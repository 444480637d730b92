"""Languages of rooms whose only reader told theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    op.add_column("rooms", sa.Column("language", sa.Text(), nullable=False, server_default=""))
