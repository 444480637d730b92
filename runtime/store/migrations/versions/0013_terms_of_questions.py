"""Questions with their terms, card and outcome; grants, modes, absences, and what takes a call back."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
IS_DUE = sa.text("state = 'pending' AND next_call_at IS NOT NULL")
IS_GRANTED = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    _add_to_approvals()
    _index("ix_approvals_calls", "approvals", "next_call_at", IS_DUE)
    _add_grants()
    _table(
        "modes",
        *_words("session", "mode", "person", "set_by"),
        _number("set_at"),
        _maybe_number("until"),
        key="session",
    )
    _table("absences", *_words("person_id"), _number("until"), _number("set_at"), key="person_id")
    _table(
        "undos",
        sa.Column("approval_id", Id, nullable=False),
        *_words("run_id"),
        _number("step"),
        *_words("kept"),
        _number("until"),
        sa.Column("undone_by", sa.Text(), nullable=False, server_default=""),
        _maybe_number("undone_at"),
        key="approval_id",
    )


def _add_to_approvals() -> None:
    # SQLite writes an added column behind the constraints; made anew, the table reads as a first start makes it.
    recreate = op.get_bind().dialect.name == "sqlite"
    with op.batch_alter_table("approvals", recreate="always" if recreate else "never") as batch:
        for name in ("requester_name", "request", "terms", "card", "asked_arguments", "outcome"):
            batch.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=""))
        batch.add_column(sa.Column("calls", sa.BigInteger(), nullable=False, server_default="0"))
        batch.add_column(_maybe_number("next_call_at"))


def _add_grants() -> None:
    _table(
        "grants",
        sa.Column("id", Id, nullable=False),
        *_words("agent", "tool", "form", "pattern", "session", "room", "person"),
        _number("tainted"),
        *_words("by", "from_approval"),
        _number("until"),
        _maybe_number("uses_left"),
        _maybe_number("revoked_at"),
        _number("created_at"),
        key="id",
    )
    _index("ix_grants_tool", "grants", "tool", IS_GRANTED)


def _table(name: str, *columns: "sa.Column[object]", key: str) -> None:
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(key, name=op.f(f"pk_{name}")))


def _index(name: str, table: str, column: str, where: sa.TextClause) -> None:
    op.create_index(name, table, [column], sqlite_where=where, postgresql_where=where)


def _words(*names: str) -> "list[sa.Column[object]]":
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _number(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _maybe_number(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.BigInteger(), nullable=True)
