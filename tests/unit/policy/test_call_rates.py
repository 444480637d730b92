"""Calls of an agent in the last minute."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from runtime.policy.call_rates import CallRates

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_full_minute_has_room_once_its_oldest_call_is_a_minute_old() -> None:
    rates = CallRates()
    for second in (0, 20):
        assert rates.wait("ops", 2, NOON + second * SECOND) is None
        rates.count("ops", NOON + second * SECOND)
    assert rates.wait("ops", 2, NOON + 30 * SECOND) == 30 * SECOND
    assert rates.wait("lab", 2, NOON + 30 * SECOND) is None
    assert rates.wait("ops", 2, NOON + 60 * SECOND) is None


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    rates = CallRates()
    rates.count("ops", NOON + timedelta(days=1))
    assert rates.wait("ops", 1, NOON) is None


def test_no_minute_ever_has_more_calls_than_are_allowed() -> None:
    rng, rates, now, made = random.Random(18), CallRates(), NOON, list[datetime]()
    for _ in range(2_000):
        now += rng.random() * 5 * SECOND
        if rates.wait("ops", 7, now) is None:
            rates.count("ops", now)
            made.append(now)
    assert all(later - first >= 60 * SECOND for first, later in zip(made, made[7:], strict=False))
    assert len(made) > 500
