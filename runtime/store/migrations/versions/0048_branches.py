"""Messages said in place of others, turns that no model reads any more, and conversations that were deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    op.add_column("signals", sa.Column("replaces", sa.Text(), nullable=False, server_default=""))
    op.add_column("turns", sa.Column("left_out", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "deleted_rooms",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("address", "owner")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("deleted_at", "due_at")),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_deleted_rooms")),
    )
