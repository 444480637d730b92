"""Schedules, their instants, and the zones in which people read clocks."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str, *, maybe: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=maybe)


def _index(table: str, name: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    predicate = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=predicate, postgresql_where=predicate)


def upgrade() -> None:
    op.create_table(
        "schedules",
        sa.Column("id", Id, nullable=False),
        *(_text(name) for name in ("name", "rule", "rule_text", "task", "home", "addresses", "terms", "state")),
        _text("reason"),
        sa.Column("owner", sa.Text(), nullable=True),
        *(_text(name) for name in ("actor", "agent")),
        *(_number(name) for name in ("by_file", "failures", "created_at", "anchor_at")),
        *(_number(name, maybe=True) for name in ("starts_at", "ends_at", "next_at", "due_at")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
    )
    _index("schedules", "ix_schedules_due", ["due_at"], "state = 'active'")
    _index("schedules", "uq_schedules_name", ["home", "name"], "state IN ('active', 'paused')", unique=True)
    _index("schedules", "ix_schedules_owner", ["owner"], "state IN ('active', 'paused')")
    op.create_table(
        "occurrences",
        sa.Column("id", Id, nullable=False),
        _text("schedule"),
        _number("planned_at"),
        _text("state"),
        *(_number(name) for name in ("manual", "silent")),
        _text("reason"),
        _number("attempts"),
        sa.Column("run_id", sa.Text(), nullable=True),
        *(_number(name, maybe=True) for name in ("not_before", "started_at", "ended_at")),
        _text("result"),
        *(_number(name) for name in ("wanted", "created_at")),
        _text("seen"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_occurrences")),
        sa.UniqueConstraint("schedule", "planned_at", name=op.f("uq_occurrences_schedule_planned_at")),
    )
    _index("occurrences", "ix_occurrences_again", ["not_before"], "state = 'planned'")
    _index("occurrences", "ix_occurrences_started", ["schedule"], "state = 'started'")
    _index("occurrences", "ix_occurrences_run", ["run_id"], "run_id IS NOT NULL")
    _index("occurrences", "ix_occurrences_told", ["schedule", "planned_at"], "state = 'done' AND silent = 0")
    _index("occurrences", "ix_occurrences_done", ["schedule", "planned_at"], "state = 'done'")
    op.create_table("zones", _text("subject"), _text("zone"), sa.PrimaryKeyConstraint("subject", name=op.f("pk_zones")))
