"""Steps of a run in time: a line for each, with its bar, its seconds, and what a model call took of tokens and money."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.console.html import Html, filled, tag
from bot.console.layout import TONES, badge, moment, nothing
from bot.operator.views import View
from runtime.text.glyphs import legible
from runtime.text.words import count, decimal, say

MICROS_PER_DOLLAR: Final = 1_000_000
BAR_UNITS: Final = 1_000
"""A bar is so many units wide, whatever its pixels."""
BAR_LEAST: Final = 4
"""Units of the shortest bar: one can see it."""
WAIT_SHOWN_SECONDS: Final = 1.0
"""A shorter wait, as of a call that begins at once, isn't told in words."""


def timeline(run: View) -> Html:
    """The steps from top to bottom. The bars are for readers that see them; the figures say the same."""
    if not run["steps"]:
        return nothing(say("It had no steps.") if run.get("ended_at") else say("No steps yet."))
    return tag("ol", *(_step(step, run["seconds"]) for step in run["steps"]), class_="steps timeline")


def _step(step: View, total: float) -> Html:
    is_model = step["kind"] == "model"
    name = (
        tag("span", say("Model call"), " ", tag("small", legible(step["tool"])))
        if is_model
        else tag("code", step["tool"])
    )
    state = None if step["state"] == "done" else badge(step["state"])
    line = tag(
        "span",
        tag("span", name, " ", state, class_="step-name"),
        _bar(step, total),
        tag("span", " · ".join(_figures(step)), class_="step-figures"),
        class_="step-line",
    )
    return tag("li", tag("details", tag("summary", line), *_more(step), id=f"s-{step['number']}"))


def _more(step: View) -> Iterator[Html]:
    """Everything about a step that is folded."""
    if step["grant"]:
        yield tag("p", say("Allowed without asking, by the grant {grant}.", grant=legible(step["grant"])))
    if step["arguments"]:
        yield tag("pre", step["call"], tabindex="0")
    if step["result"]:
        yield tag("pre", legible(step["result"]), tabindex="0")
    if step["ended_at"]:
        yield tag("p", *filled(say("Ended {time}"), time=moment(step["ended_at"])), class_="faint")


def _bar(step: View, total: float) -> Html:
    """Draw the step in the time of its run: first how long it waited, then how long it worked."""
    tone = "good" if step["kind"] == "model" else TONES.get(step["state"], "live")
    waited = _rect(step["called_after"], step["began_after"], total, "wait")
    worked = _rect(step["began_after"], step["ended_after"], total, tone, least=BAR_LEAST)
    return tag(
        "svg",
        waited if step["began_after"] > step["called_after"] else None,
        worked,
        viewBox=f"0 0 {BAR_UNITS} 10",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_=f"bar {step['kind']}",
    )


def _rect(began: float, ended: float, total: float, tone: str, *, least: int = 0) -> Html:
    unit = BAR_UNITS / total if total > 0 else 0
    width = max(least, round((ended - began) * unit))
    left = min(round(began * unit), BAR_UNITS - width)
    return tag("rect", x=str(max(0, left)), y="0", width=str(width), height="10", class_=tone)


def _figures(step: View) -> Iterator[str]:
    waited = step["began_after"] - step["called_after"]
    if waited >= WAIT_SHOWN_SECONDS:
        yield say("waited {time}", time=lasting(waited))
    yield lasting(step["ended_after"] - step["began_after"])
    if step["kind"] == "model":
        read, written = count(step["input_tokens"]), count(step["output_tokens"])
        yield say("{read} + {written} tokens", read=read, written=written)
        yield dollars(step["cost_micros"])


def dollars(micros: int) -> str:
    """Money of a call or a run.

    >>> dollars(0), dollars(1_234), dollars(2_500_000)
    ('$0', '$0.0012', '$2.50')
    """
    amount = micros / MICROS_PER_DOLLAR
    if not micros:
        return say("${amount}", amount="0")
    return say("${amount}", amount=decimal(f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"))


def lasting(seconds: float) -> str:
    """A duration as one reads it beside others.

    >>> lasting(0.042), lasting(3.25), lasting(125), lasting(7_500)
    ('0.04 s', '3.2 s', '2 min 5 s', '2 h 5 min')
    """
    if seconds < 1:
        return f"{decimal(f'{max(seconds, 0.01):.2f}')} s"
    if seconds < 60:
        return f"{decimal(f'{seconds:.1f}')} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"
