"""Time a room was last heard of, and a tool's form last offered, so that old ones can be removed."""

import time
from typing import Literal

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    recreate: Literal["always", "never"] = "always" if op.get_bind().dialect.name == "sqlite" else "never"
    for name in ("rooms", "tool_forms"):
        # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
        with op.batch_alter_table(name, recreate=recreate) as table:
            table.add_column(sa.Column("seen_at", sa.BigInteger(), nullable=False, server_default="0"))
        known = sa.table(name, sa.column("seen_at", sa.BigInteger()))
        op.execute(known.update().values(seen_at=time.time_ns() // 1000))  # nobody knows when: from now on
