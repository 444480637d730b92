"""A trouble of the store is told once, however many notice it, and so is its end."""

from __future__ import annotations

from structlog.testing import capture_logs

from runtime.errors import StoreError, Trouble
from runtime.store.sql.health import CALM, Health

FULL = StoreError("The disk is full.", trouble=Trouble.FULL)
AWAY = StoreError("It is away.", trouble=Trouble.AWAY)
LOCKED = StoreError("It is locked.", trouble=Trouble.LOCKED)


class Clock:
    at = 100.0

    def __call__(self) -> float:
        return self.at


def health() -> tuple[Health, Clock]:
    clock = Clock()
    return Health(clock), clock


def test_a_trouble_that_lasts_is_told_once_and_its_end_once() -> None:
    one, clock = health()
    with capture_logs() as logs:
        for _ in range(10):
            one.failed(FULL, clock.at)
            clock.at += 1
        clock.at += CALM
        for _ in range(10):
            one.worked()
    assert [entry["event"] for entry in logs] == ["the store is in trouble", "the store works again"]
    assert logs[0]["reason"] == "The disk is full."
    assert logs[1]["after_seconds"] == 10 + CALM
    assert one.trouble is None


def test_small_writes_that_still_go_through_are_not_its_end() -> None:
    one, clock = health()
    with capture_logs() as logs:
        for _ in range(20):
            one.failed(FULL, clock.at)
            clock.at += CALM / 2
            one.worked()
            clock.at += CALM / 4
    assert len(logs) == 1
    assert one.trouble is FULL


def test_a_trouble_that_becomes_another_is_told() -> None:
    one, clock = health()
    with capture_logs() as logs:
        one.failed(FULL, clock.at)
        one.failed(LOCKED, clock.at)
        one.failed(LOCKED, clock.at)
    assert [entry["kind"] for entry in logs] == ["full", "locked"]
    assert one.trouble is LOCKED


def test_the_next_trouble_is_told_again() -> None:
    one, clock = health()
    with capture_logs() as logs:
        for _ in range(2):
            one.failed(FULL, clock.at)
            clock.at += CALM
            one.worked()
    assert len(logs) == 4


def test_a_write_of_before_the_trouble_was_over_is_no_new_one() -> None:
    """It waited on a connection that the outage had silenced, and gives up on it seconds later."""
    one, clock = health()
    with capture_logs() as logs:
        waits = clock.at
        one.failed(AWAY, clock.at)
        clock.at += CALM
        one.worked()
        clock.at += 1
        one.failed(AWAY, waits)
        assert one.trouble is None
        one.failed(AWAY, clock.at)
    assert one.trouble is AWAY
    assert [entry["kind"] for entry in logs if "kind" in entry] == ["away", "away"]


def test_what_fails_because_the_process_ends_is_no_trouble() -> None:
    one, clock = health()
    one.close()
    with capture_logs() as logs:
        one.failed(StoreError("The store is closed."), clock.at)
    assert logs == []
    assert one.trouble is None
