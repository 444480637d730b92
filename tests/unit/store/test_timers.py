"""Timers of several runs that end in one transaction."""

from __future__ import annotations

from datetime import UTC, datetime

from runtime.store.common import LOCK_LANE
from runtime.store.runs.waiting.timers import wake

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_lanes_are_locked_in_the_order_in_which_a_stop_locks_them() -> None:
    """In another order two transactions could each hold what the other one waits for."""
    op = wake(NOW)
    next(op)
    due = [("r1", 1, "t1", "lane-b", "n", "wait_until"), ("r2", 1, "t2", "lane-a", "n", "wait_until")]
    statement, given = op.send(due)
    locked = []
    try:
        while True:
            if statement is LOCK_LANE:
                locked.append(given["k"])
            statement, given = op.send([])  # no lock finds anything to settle: another node did
    except StopIteration:
        pass
    assert locked == ["lane-a", "lane-b"]
