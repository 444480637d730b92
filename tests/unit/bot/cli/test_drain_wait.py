"""The wait for a node that drains: it ends, and says what it is for and since when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bot.cli.support.drain_wait import GRACE_SECONDS, DrainWait, StillThere
from runtime.errors import BotError, StoreError

WITHIN = 600.0
ASKED = {"id": "n1", "name": "alpha/7", "within_seconds": WITHIN}
Rows = list[dict[str, Any]]


class Waiting:
    """One that waits by a clock of the test; `rows` tells the nodes by the seconds that passed."""

    def __init__(self, rows: Callable[[float], Rows]) -> None:
        self.passed = 0.0
        self.told: list[str] = []
        self._rows = rows

    def nodes(self) -> Sequence[dict[str, Any]]:
        return self._rows(self.passed)

    def sleep(self, seconds: float) -> None:
        assert self.passed < 10_000, "it waits for ever"
        self.passed += seconds

    def wait(self) -> str:
        waiting = DrainWait(self.nodes, self.told.append, clock=lambda: self.passed, sleep=self.sleep)
        return waiting.until_gone(ASKED)


def draining(at_work: int, left: float) -> dict[str, Any]:
    roles = {"accounts": ["telegram:ops"], "roles": ["timer"]} if at_work else {"accounts": [], "roles": []}
    return {"id": "n1", "state": "draining", "at_work": at_work, "drain_left_seconds": left, "beat_at": "now", **roles}


def test_it_says_what_it_waits_for_and_since_when_and_ends_with_the_node() -> None:
    waiting = Waiting(lambda passed: [draining(2 if passed < 40 else 0, 600 - passed)] if passed < 50 else [])
    assert waiting.wait() == "alpha/7 is gone."
    assert waiting.passed == 50
    assert waiting.told == [
        "alpha/7: 2 runs at work, it still has telegram:ops and timer (asked to leave 0:00:03 ago, at most 0:10:27 more).",
        "alpha/7: 2 runs at work, it still has telegram:ops and timer (asked to leave 0:00:33 ago, at most 0:09:57 more).",
        "alpha/7: it has nothing any more, and is about to end (asked to leave 0:00:40 ago, at most 0:09:50 more).",
    ]


def test_one_that_is_gone_at_once_is_not_waited_for() -> None:
    waiting = Waiting(lambda passed: [{"id": "n1", "state": "left"}] if passed else [draining(1, 600)])
    assert (waiting.wait(), waiting.told) == ("alpha/7 is gone.", [])


def test_a_database_that_never_answers_again_is_waited_for_no_longer_than_the_node_may_take() -> None:
    def away(passed: float) -> Rows:
        raise StoreError("The database is away.")

    waiting = Waiting(away)
    with pytest.raises(StillThere, match=r"can't be read \(The database is away.\). It was asked to leave 0:10:31 ago"):
        waiting.wait()
    assert WITHIN + GRACE_SECONDS < waiting.passed < WITHIN + GRACE_SECONDS + 3
    assert len(waiting.told) == 21


def test_a_node_that_stays_is_named_with_what_it_has() -> None:
    late = {**draining(1, 0), "state": "late", "beat_at": "2026-03-01T12:00:00+00:00"}
    waiting = Waiting(lambda passed: [draining(1, 60 - passed) if passed < 60 else late])
    with pytest.raises(StillThere, match=r"1 run at work.*no sign since 2026-03-01T12:00:00.*its time is over"):
        waiting.wait()
    assert 60 + GRACE_SECONDS <= waiting.passed < 60 + GRACE_SECONDS + 3, "somebody gave it less time meanwhile"


def test_more_time_that_somebody_gives_it_is_waited_for() -> None:
    waiting = Waiting(lambda passed: [draining(1, 2000 - passed)] if passed < 1500 else [])
    assert waiting.wait() == "alpha/7 is gone."


def test_one_that_dies_is_no_success() -> None:
    waiting = Waiting(lambda passed: [{"id": "n1", "state": "lost"}] if passed > 5 else [draining(1, 600)])
    with pytest.raises(BotError, match="died while it drained"):
        waiting.wait()
