"""The way of an account to its platform, by what became of its calls."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.accounts.reachability import Reachability
from runtime.contract import Connection
from runtime.domain.failover import Way
from runtime.errors import ChannelError, Rejected, Retryable, Uncertain


class Clock:
    at = 100.0

    def __call__(self) -> float:
        return self.at


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


async def call(error: ChannelError | None = None) -> str:
    if error:
        raise error
    return "receipt"


async def test_an_answer_ends_the_silence() -> None:
    clock = Clock()
    reach = Reachability("telegram:tg", clock)
    reach.unanswered("no answer")
    clock.at += 20
    assert reach.way() == Way(seconds(20), 1)
    assert await reach.tried(call()) == "receipt"
    assert reach.way() == Way()


@pytest.mark.parametrize(
    ("error", "unanswered"),
    [(Uncertain("cut"), 1), (Retryable("put off by us", retry_after=seconds(1)), 0), (Rejected("no address"), 0)],
)
async def test_a_call_that_failed_tells_of_the_way_only_where_it_was_on_it(
    error: ChannelError, unanswered: int
) -> None:
    """Else a line of messages that wait for each other would look like answers."""
    clock = Clock()
    reach = Reachability("telegram:tg", clock)
    clock.at += 7
    with pytest.raises(type(error)):
        await reach.tried(call(error))
    assert reach.way() == Way(seconds(7), unanswered)
    assert reach.silence.is_set() is bool(unanswered)


def test_after_three_calls_and_fifteen_seconds_without_an_answer_it_is_told() -> None:
    clock = Clock()
    reach = Reachability("telegram:tg", clock)
    for _ in range(3):
        reach.unanswered("no answer within 3 s")
    clock.at += 14
    assert reach.trouble() is None
    clock.at += 1
    trouble = reach.trouble()
    assert trouble is not None
    assert trouble.connection is Connection.RECONNECTING
    assert trouble.reason.startswith("telegram:tg: no reply from the platform for 15 s")
    reach.answered()
    assert reach.trouble() is None


@pytest.mark.parametrize("down", [Connection.RECONNECTING, Connection.DEAF])
def test_a_connection_is_down_since_it_was_first_seen_so(down: Connection) -> None:
    clock = Clock()
    reach = Reachability("discord:guild", clock)
    reach.connected(down)
    clock.at += 6
    reach.connected(Connection.RECONNECTING)
    assert reach.way().down == seconds(6)
    reach.connected(Connection.CONNECTED)
    assert reach.way().down is None


@pytest.mark.parametrize("other", [Connection.CONNECTING, Connection.REFUSED])
def test_a_first_connection_and_a_refusal_are_no_reason_to_move(other: Connection) -> None:
    """Many shards take minutes to connect; and what a person must mend is the same on each node."""
    reach = Reachability("discord:guild", Clock())
    reach.connected(other)
    assert reach.way().down is None
