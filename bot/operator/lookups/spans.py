"""Times of a run's steps, in seconds after it began: how long each waited and worked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from runtime.store.protocol import RunRow, StepRow


@dataclass(frozen=True, slots=True)
class Span:
    """From `called` to `began` a step waited; it worked from then to `ended`, which for an open one is now."""

    called: float
    began: float
    ended: float


def spans_of(run: RunRow, steps: Sequence[StepRow], now: datetime) -> tuple[float, list[Span]]:
    """Seconds of the whole run so far, and a span of each step, in their order.

    The beginning of a model call isn't kept: it is the end of all that came before it, or that of the run.
    """

    def after(at: datetime) -> float:
        return max(0.0, (at - run.started_at).total_seconds())

    end = after(run.ended_at or now)
    spans: list[Span] = []
    for step in steps:
        ended = after(step.ended_at) if step.ended_at else end
        called = after(step.called_at) if step.called_at else max((one.ended for one in spans), default=0.0)
        began = after(step.started_at) if step.started_at else (called if step.kind == "model" else ended)
        spans.append(_in_order(called, began, ended))
    return round(end, 3), spans


def _in_order(called: float, began: float, ended: float) -> Span:
    """Clocks of several machines may differ by a little."""
    return Span(min(called, ended), min(max(called, began), ended), ended)
