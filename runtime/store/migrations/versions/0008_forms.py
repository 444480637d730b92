"""The accepted form of each tool whose words are not ours."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "tool_forms",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("tool", "accepted", "seen")),
        sa.PrimaryKeyConstraint("tool", name=op.f("pk_tool_forms")),
    )
