"""Decides whether all is well: channels, database, models, budgets, and messages that couldn't be sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.operator.views import View
from runtime.markup.moments import several
from runtime.text.naming import listed

ACCOUNTS_AT_WORK: Final = frozenset({"connected", "connecting"})


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that must be well. `place` is where it is mended, by the link `action`; empty where it is well."""

    name: str
    words: str
    tone: str = "good"
    place: str = ""
    action: str = ""


def lines_of(overview: View, models: Sequence[View], budgets: Sequence[View]) -> list[Line]:
    """A line for each of them, always in the same order."""
    return [
        _channels(overview["accounts"]),
        Line("Database", "It answers."),
        _models(models),
        _budgets(budgets),
        *_stuck(overview["counts"]),
    ]


def _channels(accounts: Sequence[View]) -> Line:
    away = [one for one in accounts if one["state"] not in ACCOUNTS_AT_WORK]
    if away:
        told = "; ".join(f"{one['account']} is {one['state']}{_because(one['reason'])}" for one in away)
        return Line("Channels", f"{told}. Run: signalbox doctor", "bad")
    number = several(len(accounts), "account")
    return Line("Channels", f"{number} at work." if accounts else "Nobody is told of any from here.")


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _models(models: Sequence[View]) -> Line:
    ill = [one["name"] for one in models if one["state"] != "well"]
    if not models or not ill:
        return Line("Model", f"{several(len(models), 'model')} ready." if models else "The demo model answers.")
    tone = "bad" if len(ill) == len(models) else "ask"
    return Line("Model", f"{listed(ill)} can't answer right now.", tone, "/console/models", "See why")


def _budgets(budgets: Sequence[View]) -> Line:
    if not budgets:
        return Line(
            "Budget", "None is set, so nothing limits what work costs.", "over", "/console/models", "See models"
        )
    spent, nearly = _in(budgets, "spent"), _in(budgets, "nearly spent")
    if spent:
        return Line(
            "Budget", f"{several(spent, 'budget')} spent: work under it waits.", "bad", "/console/models", "See which"
        )
    if nearly:
        return Line("Budget", f"{several(nearly, 'budget')} nearly spent.", "ask", "/console/models", "See which")
    return Line("Budget", "Within its limits.")


def _in(budgets: Sequence[View], state: str) -> int:
    return sum(one["state"] == state for one in budgets)


STUCK_MESSAGES: Final[Sequence[tuple[str, str, Callable[[int], str]]]] = (
    ("deliveries.dead", "/console/outbox?state=dead", lambda number: f"{several(number, 'message')} couldn't be sent."),
    ("deliveries.held", "/console/outbox?state=held", lambda number: f"{several(number, 'message')} on hold."),
)


def _stuck(counts: View) -> Iterator[Line]:
    """Lines about messages that a person must decide about; none where there are none."""
    for name, place, words in STUCK_MESSAGES:
        if counts.get(name):
            yield Line(
                "Outbox",
                words(counts[name]),
                "bad" if name == "deliveries.dead" else "ask",
                place,
                "Send again or give up",
            )
