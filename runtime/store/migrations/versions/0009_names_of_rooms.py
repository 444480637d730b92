"""Names that platforms give to rooms."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "rooms",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("channel", "account", "room", "name")),
        sa.PrimaryKeyConstraint("channel", "account", "room", name="pk_rooms"),
    )
