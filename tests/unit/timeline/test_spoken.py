"""What a story is told in: no secrets, short lines, times as people say them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.domain.deliveries import DeliveryState, PartEvent
from runtime.domain.runs import RunState
from runtime.timeline import What, ahead, told
from runtime.timeline.words import span
from tests.unit.timeline.rows import APPROVED, delivery, model, move, of, run, signal, tool, trail

SECRET = "sk-of-the-test-0123456789"


def test_no_secret_is_told_not_even_its_beginning() -> None:
    hidden = trail(
        signals=(signal(text=f"my key is {SECRET}"),),
        run=run(state=RunState.FAILED, error=f"refused {SECRET}"),
        steps=(model(), tool(result="x" * 110 + SECRET)),
        approvals=(replace(APPROVED, reason=SECRET),),
        deliveries=(delivery(text=f"`{SECRET}`", state=DeliveryState.DEAD, reason=f"bad {SECRET}"),),
        moves=(move(PartEvent.RETRY, f"part 1: {SECRET}"),),
    )
    story = told(hidden, lambda text: text.replace(SECRET, "***"))
    spoken = "\n".join([story.text, story.now, *(event.words for event in story.events)])
    assert "sk-" not in spoken
    assert spoken.count("***") >= 7


def test_a_long_message_is_one_short_line() -> None:
    (sent,) = of(trail(signals=(signal(text="a\n" * 5000),)), What.SENT)
    assert len(sent) < 140
    assert "\n" not in sent
    assert sent.endswith("…”")


@pytest.mark.parametrize(
    ("seconds", "words_"),
    [
        (0, "0.000 s"),
        (0.0123, "0.012 s"),
        (59.9, "59.900 s"),
        (60, "1 min"),
        (61.4, "1 min 1 s"),
        (3599.9, "1 h"),
        (3660, "1 h 1 min"),
        (86400, "1 d"),
        (90000, "1 d 1 h"),
        (-0.5, "-0.500 s"),
    ],
)
def test_a_span_reads_as_people_say_it(seconds: float, words_: str) -> None:
    assert span(timedelta(seconds=seconds)) == words_


@pytest.mark.parametrize(
    ("seconds", "clock"),
    [
        (0, "+0.000 s"),
        (0.4123, "+0.412 s"),
        (-0.25, "-0.250 s"),
        (59.999, "+59.999 s"),
        (59.9999, "+1:00.000"),
        (128.172, "+2:08.172"),
        (3661.5, "+1:01:01.500"),
        (119.9999, "+2:00.000"),
        (90061, "+25:01:01.000"),
    ],
)
def test_a_distance_keeps_its_milliseconds(seconds: float, clock: str) -> None:
    assert ahead(seconds) == clock
