"""The course of an event that a trigger is for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from runtime.domain.triggers.firing import Course, course_of
from runtime.domain.triggers.trigger import EventKind, EventTrigger, TriggerState

NOW: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)
DEPLOYS: Final = EventTrigger("t1", "deploys", EventKind.WORDS, words=("deploy",), prompt="Tell us.", agent="main")


@pytest.mark.parametrize("last", [None, NOW - MINUTE, NOW, NOW + MINUTE])
def test_without_a_cooldown_each_event_fires_in_whatever_order_they_come(last: datetime | None) -> None:
    """Of two events on two nodes the later one may be the first to fire it."""
    assert course_of(DEPLOYS, TriggerState.ACTIVE, last, NOW, deep=False) is Course.FIRE


@pytest.mark.parametrize(("ago", "course"), [(MINUTE / 2, Course.REST), (MINUTE, Course.FIRE), (-MINUTE, Course.REST)])
def test_a_cooldown_lets_events_pass(ago: timedelta, course: Course) -> None:
    resting = replace(DEPLOYS, cooldown=MINUTE)
    assert course_of(resting, TriggerState.ACTIVE, NOW - ago, NOW, deep=False) is course


@pytest.mark.parametrize("state", [TriggerState.ENDED, TriggerState.STOPPED, TriggerState.PAUSED])
def test_one_that_is_not_active_lets_all_events_pass(state: TriggerState) -> None:
    assert course_of(DEPLOYS, state, None, NOW, deep=True) is Course.REST


def test_its_own_work_stops_it() -> None:
    assert course_of(DEPLOYS, TriggerState.ACTIVE, None, NOW, deep=True) is Course.STOP
