"""Signals that a program sent: they join no run of a person."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
    sqlite = op.get_bind().dialect.name == "sqlite"
    with op.batch_alter_table("signals", recreate="always" if sqlite else "never") as table:
        table.add_column(sa.Column("by_program", sa.BigInteger(), nullable=False, server_default="0"))
        if sqlite:  # else the default that is read from the table comes back in brackets
            table.alter_column("message_id", server_default="")
