"""Tasks of A2A: places of programs that are told each change of one, and tasks of ours at peers."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    op.create_table(
        "pushes",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("task", "name", "program", "dialect", "sealed")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("told", "tries", "due_at", "made_at")),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("task", "name", name=op.f("pk_pushes")),
    )
    op.create_table(
        "peer_tasks",
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("key", "run_id", "peer", "task", "context", "sealed")
        ),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("asks", "kept_at")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_peer_tasks")),
    )
    op.create_index("ix_peer_tasks_run", "peer_tasks", ["run_id"])
