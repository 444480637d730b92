"""Private rooms of people: there they are asked whether to let a stranger in."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
    with op.batch_alter_table(
        "identities", recreate="always" if op.get_bind().dialect.name == "sqlite" else "never"
    ) as table:
        table.add_column(sa.Column("room", sa.Text(), nullable=True))
