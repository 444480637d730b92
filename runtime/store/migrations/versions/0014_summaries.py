"""Summaries of what was said before."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "summaries",
        _words("session"),
        _number("upto_turn"),
        _number("since_turn"),
        *map(_words, ("kind", "text", "request", "facts", "model")),
        _number("tokens_before"),
        _number("tokens_after"),
        _words("run_id"),
        _number("at"),
        sa.PrimaryKeyConstraint("session", "upto_turn", name=op.f("pk_summaries")),
    )


def _words(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.BigInteger(), nullable=False)
