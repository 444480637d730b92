"""The runs that go on are found by one index, and not by two."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_index("ix_runs_ready", "runs")
