"""Nodes that did what, how often a run's process died under it, and what went another way than straight on."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "moves",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_moves")),
    )
    with op.batch_alter_table("moves") as table:
        table.create_index("ix_moves_subject", ["subject"], unique=False)
    # SQLite writes an added column behind the constraints; made anew, the tables read as a first start makes them.
    for name in ("signals", "steps", "parts"):
        with op.batch_alter_table(
            name, recreate="always" if op.get_bind().dialect.name == "sqlite" else "never"
        ) as table:
            table.add_column(sa.Column("node", sa.Text(), nullable=True))
    with op.batch_alter_table(
        "runs", recreate="always" if op.get_bind().dialect.name == "sqlite" else "never"
    ) as table:
        table.add_column(sa.Column("node", sa.Text(), nullable=True))
        table.add_column(sa.Column("crashes", sa.BigInteger(), nullable=False, server_default="0"))
    crashed, suspect = sa.text("crashes >= 2"), sa.text("state = 'suspect'")
    op.create_index("ix_runs_crashed", "runs", ["ended_at"], sqlite_where=crashed, postgresql_where=crashed)
    op.create_index("ix_sessions_suspect", "sessions", ["ready_at"], sqlite_where=suspect, postgresql_where=suspect)
    with op.batch_alter_table(
        "deliveries", recreate="always" if op.get_bind().dialect.name == "sqlite" else "never"
    ) as table:
        table.add_column(sa.Column("doubted_at", sa.BigInteger(), nullable=True))
    stuck = sa.text("state IN ('held', 'dead')")
    op.create_index(
        "ix_deliveries_stuck",
        "deliveries",
        ["channel", "account", "state"],
        sqlite_where=stuck,
        postgresql_where=stuck,
    )
    if op.get_bind().dialect.name == "postgresql":
        for name in ("signals", "runs", "approvals", "nodes"):
            op.alter_column(name, "id", type_=sa.Text(collation="C"))
        op.alter_column("usage", "run_id", type_=sa.Text(collation="C"))
        op.alter_column("deliveries", "origin", type_=sa.Text(collation="C"))
