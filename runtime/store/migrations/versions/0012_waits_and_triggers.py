"""What parked runs wait for: so far the open questions. And what began each run, which its session's key told until now."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    _add_waits()
    for name in ("signals", "runs"):
        _add_trigger(name)
    signals = sa.table("signals", *(sa.column(name) for name in ("id", "kind", "platform", "trigger")))
    runs = sa.table("runs", *(sa.column(name) for name in ("id", "session", "trigger")))
    occurrences = sa.table("occurrences", sa.column("run_id"), sa.column("manual"))
    manual = sa.select(occurrences.c.run_id).where(occurrences.c.manual == 1, occurrences.c.run_id.is_not(None))
    hooked = sa.select(signals.c.id).where(signals.c.trigger == "hook")
    op.execute(signals.update().where(signals.c.kind == "due").values(trigger="schedule"))
    op.execute(signals.update().where(signals.c.platform.like("hook:%")).values(trigger="hook"))
    op.execute(runs.update().where(runs.c.session.like("timer|%")).values(trigger="schedule"))
    op.execute(
        runs.update().where(runs.c.id.in_(hooked)).values(trigger="hook")
    )  # a run has the id of its first message
    for table in (signals, runs):
        op.execute(table.update().where(table.c.id.in_(manual)).values(trigger="manual"))


def _add_waits() -> None:
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


def _add_trigger(name: str) -> None:
    """What is there was begun by a message, where nothing else is known; what an older node adds tells nothing of it."""
    if op.get_bind().dialect.name == "sqlite":
        # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
        with op.batch_alter_table(name, recreate="always") as table:
            table.add_column(sa.Column("trigger", sa.Text(), nullable=False, server_default=""))
        known = sa.table(name, sa.column("trigger"))
        op.execute(known.update().values(trigger="message"))
    else:  # no row is written for a default
        op.add_column(name, sa.Column("trigger", sa.Text(), nullable=False, server_default="message"))
        op.alter_column(name, "trigger", server_default="")
