"""Questions of approvers about a call that waits, which the agent is to answer."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "asked_back",
        sa.Column("approval_id", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("approval_id", "number", name=op.f("pk_asked_back")),
    )
