"""How long the courier waits between attempts and between looks."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.delivery.retry_policy import RetryPolicy

chances = st.floats(0, 1, exclude_max=True)
attempts = st.integers(1, 10_000)
PACE = RetryPolicy()


@given(attempts, chances)
def test_a_wait_is_at_least_its_first_and_at_most_its_last_but_for_the_spread(tries: int, chance: float) -> None:
    wait = PACE.backoff(tries, chance)
    assert PACE.backoff_first * 0.875 <= wait <= PACE.backoff_most * 1.125


@given(attempts, chances)
def test_waits_never_shrink(tries: int, chance: float) -> None:
    assert PACE.backoff(tries, chance) <= PACE.backoff(tries + 1, chance)


@given(chances, chances)
def test_the_first_waits_grow_whatever_chance_says(one: float, other: float) -> None:
    waits = [PACE.backoff(tries, one) for tries in range(1, 5)]
    later = [PACE.backoff(tries, other) for tries in range(2, 6)]
    assert all(a < b for a, b in zip(waits, later, strict=True))


def test_waits_double_until_the_most() -> None:
    waits = [PACE.backoff(tries, 0.5).total_seconds() for tries in range(1, 9)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_couriers_that_failed_together_do_not_come_back_together() -> None:
    assert len({PACE.backoff(5, chance / 10) for chance in range(10)}) == 10


@given(st.integers(0, 10**9), chances)
def test_looks_come_less_often_but_at_least_every_minute(seconds: int, chance: float) -> None:
    wait = PACE.next_look(timedelta(seconds=seconds), chance)
    assert PACE.backoff_first * 0.875 <= wait <= PACE.backoff_most * 1.125
    assert wait <= PACE.next_look(timedelta(seconds=seconds + 1), chance)
