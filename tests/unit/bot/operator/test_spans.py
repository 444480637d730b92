"""Times of a run's steps: what waited, what worked, and what isn't over yet."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from bot.console.runs.timeline import timeline
from bot.operator.lookups.runs import step_view
from bot.operator.lookups.spans import Span, spans_of
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import RunRow, StepRow
from tests.unit.bot.fake_store import NOW, run


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def model(number: int, ended: float) -> StepRow:
    row = StepRow(number, "model", "demo", "", StepState.DONE, "", None, after(ended))
    return replace(row, input_tokens=1_200, output_tokens=30, cost_micros=1_500)


def call(number: int, called: float, started: float | None = None, ended: float | None = None) -> StepRow:
    state = StepState.OPEN if started is None else StepState.MARKED if ended is None else StepState.DONE
    began, over = (None if at is None else after(at) for at in (started, ended))
    return StepRow(number, "tool", "shell", "{}", state, "", began, over, called_at=after(called))


def over(seconds: float) -> RunRow:
    return replace(run(), ended_at=after(seconds))


def test_a_model_call_begins_where_all_before_it_ended_and_a_tool_waits_for_its_yes() -> None:
    steps = [model(1, 2), call(2, 2, 62, 65), call(3, 2, 2, 70), model(4, 72)]
    assert spans_of(over(73), steps, after(999)) == (
        73.0,
        [Span(0, 0, 2), Span(2, 62, 65), Span(2, 2, 70), Span(70, 70, 72)],
    )


def test_what_is_open_reaches_to_now_and_what_never_began_only_waited() -> None:
    live = replace(run(state=RunState.RUNNING), ended_at=None)
    assert spans_of(live, [model(1, 2), call(2, 2, 3), call(3, 2)], after(10)) == (
        10.0,
        [Span(0, 0, 2), Span(2, 3, 10), Span(2, 10, 10)],
    )


def test_clocks_that_differ_make_no_time_run_backwards() -> None:
    assert spans_of(over(1), [model(1, -5), call(2, 3, 2, 1)], NOW)[1] == [Span(0, 0, 0), Span(1, 1, 1)]


def test_the_page_has_a_line_for_each_step_with_its_figures() -> None:
    row = over(66)
    took, spans = spans_of(row, steps := [model(1, 2), call(2, 2, 62, 65.5)], NOW)
    html = timeline({"seconds": took, "steps": list(map(step_view, steps, spans))})
    assert "2.0 s · 1,200 + 30 tokens · $0.0015" in html
    assert "waited 1 min 0 s · 3.5 s" in html
    assert '<rect x="30" y="0" width="909" height="10" class="wait"></rect>' in html
    assert "No steps yet." in timeline({"seconds": 0, "steps": []})
