"""Sessions of a room are found by an index: each look of an open page asks whether one is at work there."""

from alembic import op

revision = "0025"
down_revision = "0022"


def upgrade() -> None:
    op.create_index("ix_sessions_address", "sessions", ["address"])
