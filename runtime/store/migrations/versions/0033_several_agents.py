"""Several agents: those made in chat, rooms that chose one, children of runs, tasks and checklists."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _words(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def _id(name: str) -> sa.Column[str]:
    return sa.Column(name, Id, nullable=False)


def _maybe_words(name: str) -> sa.Column[str | None]:
    return sa.Column(name, sa.Text(), nullable=True)


def _maybe_number(name: str) -> sa.Column[int | None]:
    return sa.Column(name, sa.BigInteger(), nullable=True)


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def upgrade() -> None:
    op.create_table(
        "agents",
        *_words("name", "state", "manifest"),
        _maybe_words("made_by"),
        *_words("reason"),
        *_numbers("created_at", "changed_at"),
        _key("agents", "name"),
    )
    op.create_table(
        "agent_rooms",
        *_words("address", "agent"),
        _maybe_words("set_by"),
        *_numbers("set_at"),
        _key("agent_rooms", "address"),
    )
    _children()
    _tasks()
    op.add_column("nodes", sa.Column("agents", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "plans", _id("run_id"), *_words("steps", "delivery_id"), *_numbers("changed_at"), _key("plans", "run_id")
    )


def _children() -> None:
    op.create_table(
        "children",
        _id("id"),
        *_words("parent_run"),
        *_numbers("parent_step", "ordinal"),
        *_words("parent_session", "root_run", "session", "agent", "chain"),
        *_numbers("depth", "awaits"),
        *_words("goal", "criteria", "wanted", "files", "state", "result"),
        *_numbers("valid", "budget_micros", "deadline_at", "created_at"),
        _maybe_number("ended_at"),
        _key("children", "id"),
        sa.UniqueConstraint(
            "parent_run", "parent_step", "ordinal", name=op.f("uq_children_parent_run_parent_step_ordinal")
        ),
    )
    op.create_index("ix_children_root", "children", ["root_run"])
    _partial("ix_children_open", "children", ["deadline_at"], "state = 'open'")


def _tasks() -> None:
    op.create_table(
        "tasks",
        _id("id"),
        *_words("agent", "room", "title", "goal", "input", "criteria", "state"),
        _maybe_words("posted_by"),
        _maybe_words("owner"),
        _maybe_words("run_id"),
        *_numbers("attempts"),
        _maybe_number("due_at"),
        *_words("result"),
        *_numbers("created_at"),
        _maybe_number("ended_at"),
        _key("tasks", "id"),
    )
    op.create_index("ix_tasks_room", "tasks", ["room", "created_at"])
    _partial("ix_tasks_open", "tasks", ["created_at"], "state IN ('open', 'claimed')")
    _partial("ix_tasks_run", "tasks", ["run_id"], "run_id IS NOT NULL")


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
