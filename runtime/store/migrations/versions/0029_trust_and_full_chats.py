"""A call that is open because somebody is trusted says so: it runs while that lasts. Of an older one (0) nobody can tell.

And a private chat whose open cards are counted has a row, which is locked meanwhile, and knows of how many more its line tells.
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.add_column("steps", sa.Column("trusted", sa.BigInteger(), server_default="0", nullable=False))
    op.create_table(
        "chats",
        sa.Column("room", sa.Text(), nullable=False),
        sa.Column("told", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("room"),
    )
