"""What parked runs wait for: so far the open questions."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    waits = op.create_table(
        "waits",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("kind", "subject")),
        sa.Column("settled_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "kind", "subject", name=op.f("pk_waits")),
    )
    columns = (sa.column(name) for name in ("run_id", "step", "id", "kind", "state"))
    asked = sa.table("approvals", *columns).c
    open_questions = sa.select(asked.run_id, asked.step, sa.literal_column("'approval'"), asked.id).where(
        asked.state == "pending",
        asked.kind != "person",  # about a stranger, for whom no run waits
    )
    op.execute(waits.insert().from_select(["run_id", "step", "kind", "subject"], open_questions))
