"""When a node gives an account's roles up: values in, a decision out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runtime.contract import NodeId
from runtime.domain.failover import Decision, GiveUp, Keep, Ping, Wait, Way, decide

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def other(answered: float | None, left: float | None = None, name: str = "n2") -> Ping:
    """One that was answered, or gave the roles up, so many seconds ago."""
    return Ping(
        NodeId(name),
        None if answered is None else NOW - seconds(answered),
        None if left is None else NOW - seconds(left),
    )


CUT = Way(seconds(15), 3)
DOWN = Way(seconds(1), down=seconds(15))
TO = GiveUp(NodeId("n2"))


@pytest.mark.parametrize(
    ("way", "others", "decision"),
    [
        (Way(), [], Keep()),
        (Way(), [other(1)], Keep()),
        (CUT, [], Keep()),
        (CUT, [other(None)], Keep()),
        (CUT, [other(11)], Keep()),
        (CUT, [other(9)], TO),
        (CUT, [other(9, name="n3"), other(2)], TO),
        (Way(seconds(14), 9), [other(1)], Wait()),
        (Way(seconds(60), 2), [other(1)], Wait()),
        (Way(seconds(60), 0), [other(1)], Keep()),
        (DOWN, [other(1)], TO),
        (DOWN, [], Keep()),
        (Way(seconds(1), down=seconds(14)), [other(1)], Keep()),
        # It could not connect either, and the platform answers both of us: the way is not what is wrong.
        (DOWN, [other(1, left=60)], Keep()),
        (DOWN, [other(1, left=301)], TO),
        (CUT, [other(1, left=60)], TO),
    ],
)
def test_what_a_node_with_roles_does(way: Way, others: list[Ping], decision: Decision) -> None:
    assert decide(way, others, NOW) == decision


@pytest.mark.parametrize(
    ("way", "asks"),
    [
        (Way(), False),
        (Way(seconds(60)), False),
        (Way(seconds(1), 1), True),
        (Way(down=seconds(4)), False),
        (Way(down=seconds(5)), True),
    ],
)
def test_the_others_are_asked_once_there_is_doubt(way: Way, asks: bool) -> None:
    """And not for each connection that is made anew at once."""
    assert way.is_in_doubt is asks


def test_a_platform_that_is_away_for_all_moves_nothing() -> None:
    """Whoever has the roles, and however long it takes."""
    for minute in range(60):
        assert decide(Way(seconds(60 * minute + 15), 20 * minute + 3), [other(60 * minute + 15)], NOW) == Keep()
