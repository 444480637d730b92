"""Waits of parked runs, the trigger of each run, and reports that no schedule plans."""

from typing import Literal

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
EMPTY_BEFORE = {"signals": "message_id", "runs": "reply_to"}
"""A column that is empty by default and was there before: read back from SQLite its default has brackets."""


def upgrade() -> None:
    _add_waits()
    for name in ("signals", "runs"):
        _add_trigger(name)
    _add("occurrences", "", "report", "home")
    _tell_triggers()


def _add_waits() -> None:
    waits = op.create_table(
        "waits",
        sa.Column("run_id", Id, nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("kind", "subject")),
        sa.Column("settled_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "kind", "subject", name=op.f("pk_waits")),
    )
    asked = _table("approvals", "run_id", "step", "id", "kind", "state").c
    open_questions = sa.select(asked.run_id, asked.step, sa.literal_column("'approval'"), asked.id).where(
        asked.state == "pending",
        asked.kind != "person",  # about a stranger, for whom no run waits
    )
    op.execute(waits.insert().from_select(["run_id", "step", "kind", "subject"], open_questions))


def _add_trigger(table: str) -> None:
    """Rows that are there were begun by a message, where nothing else is known; those an older node adds tell nothing."""
    if op.get_bind().dialect.name == "sqlite":
        _add(table, "", "trigger")
        op.execute(_table(table, "trigger").update().values(trigger="message"))
    else:  # no row is written for a default
        _add(table, "message", "trigger")
        op.alter_column(table, "trigger", server_default="")


def _add(table: str, default: str, *names: str) -> None:
    recreate: Literal["always", "never"] = "always" if op.get_bind().dialect.name == "sqlite" else "never"
    # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
    with op.batch_alter_table(table, recreate=recreate) as batch:
        if recreate == "always" and table in EMPTY_BEFORE:
            batch.alter_column(EMPTY_BEFORE[table], server_default="")
        for name in names:
            batch.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=default))


def _tell_triggers() -> None:
    """Write down for the rows that are there what keys of sessions and platforms told until now."""
    signals, runs = _table("signals", "id", "kind", "platform", "trigger"), _table("runs", "id", "session", "trigger")
    occurrences = _table("occurrences", "run_id", "manual").c
    manual = sa.select(occurrences.run_id).where(occurrences.manual == 1, occurrences.run_id.is_not(None))
    hooked = sa.select(signals.c.id).where(signals.c.trigger == "hook")
    op.execute(signals.update().where(signals.c.kind == "due").values(trigger="schedule"))
    op.execute(signals.update().where(signals.c.platform.like("hook:%")).values(trigger="hook"))
    op.execute(runs.update().where(runs.c.session.like("timer|%")).values(trigger="schedule"))
    op.execute(
        runs.update().where(runs.c.id.in_(hooked)).values(trigger="hook")
    )  # a run has the id of its first message
    for table in (signals, runs):
        op.execute(table.update().where(table.c.id.in_(manual)).values(trigger="manual"))


def _table(name: str, *columns: str) -> sa.TableClause:
    return sa.table(name, *(sa.column(column, sa.Text()) for column in columns))
