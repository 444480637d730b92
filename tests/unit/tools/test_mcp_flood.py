"""How much a server may say in a second."""

from __future__ import annotations

from tools.mcp.flood import MOST_MESSAGES, MOST_UNASKED, Gauge
from tools.mcp.progress import is_progress


class Ticks:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_answers_pass_as_long_as_anything_is_read() -> None:
    gauge = Gauge(Ticks())
    assert all(gauge.passes(unasked=False) for _ in range(MOST_MESSAGES))


def test_of_what_nobody_asked_for_some_pass_each_second() -> None:
    ticks = Ticks()
    gauge = Gauge(ticks)
    assert [gauge.passes(unasked=True) for _ in range(MOST_UNASKED + 2)] == [True] * MOST_UNASKED + [False] * 2
    assert gauge.passes(unasked=False)
    ticks.now += 1
    assert gauge.wait() == 0
    assert gauge.passes(unasked=True)


def test_the_rest_of_a_second_is_waited_for_once_it_is_full() -> None:
    ticks = Ticks()
    gauge = Gauge(ticks)
    assert gauge.wait() == 0
    for _ in range(MOST_MESSAGES):
        gauge.passes(unasked=False)
    ticks.now += 0.25
    assert gauge.wait() == 0.75
    ticks.now += 0.75
    assert gauge.wait() == 0


def test_progress_is_heard_in_the_form_that_the_protocol_has_for_it() -> None:
    told = {"progressToken": 3, "progress": 1}
    assert is_progress(told)
    assert is_progress({**told, "total": 2.5, "message": "half"})
    odd: list[object] = [None, [], {}, {"progress": 1}, {**told, "progress": "1"}, {**told, "total": True}]
    assert not any(map(is_progress, [*odd, {**told, "message": {}}]))
