"""A call whose arguments hold a secret keeps the true ones sealed, beside those that people may see."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.add_column("steps", sa.Column("sealed", sa.Text(), server_default="", nullable=False))
