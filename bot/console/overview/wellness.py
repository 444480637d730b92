"""Decides whether all is well: channels, database, models, budgets, and messages that couldn't be sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.operator.views import View
from runtime.text.words import listed, say, say_many

ACCOUNTS_AT_WORK: Final = frozenset({"connected", "connecting"})
MODELS_PLACE: Final = "/console/models"


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
        Line(say("Database"), say("It answers.")),
        _models(models),
        _budgets(budgets),
        *_stuck(overview["counts"]),
    ]


def _channels(accounts: Sequence[View]) -> Line:
    name = say("Channels")
    away = [one for one in accounts if one["state"] not in ACCOUNTS_AT_WORK]
    if away:
        return Line(name, say("{accounts}. Run: signalbox doctor", accounts="; ".join(map(_away, away))), "bad")
    if not accounts:
        return Line(name, say("Nobody is told of any from here."))
    return Line(name, say_many("{number} account at work.", "{number} accounts at work.", len(accounts)))


def _away(one: View) -> str:
    account, state = one["account"], say(one["state"])
    if why := one["reason"]:
        return say("{account} is {state} ({why})", account=account, state=state, why=why)
    return say("{account} is {state}", account=account, state=state)


def _models(models: Sequence[View]) -> Line:
    name = say("Model")
    if not models:
        return Line(name, say("The demo model answers."))
    ill = [one["name"] for one in models if one["state"] != "well"]
    if not ill:
        return Line(name, say_many("{number} model ready.", "{number} models ready.", len(models)))
    tone = "bad" if len(ill) == len(models) else "ask"
    return Line(name, say("{names} can't answer right now.", names=listed(ill)), tone, MODELS_PLACE, say("See why"))


def _budgets(budgets: Sequence[View]) -> Line:
    name = say("Budget")
    if not budgets:
        words = say("None is set, so nothing limits what work costs.")
        return Line(name, words, "over", MODELS_PLACE, say("See models"))
    spent, nearly = _in(budgets, "spent"), _in(budgets, "nearly spent")
    if spent:
        words = say_many(
            "{number} budget spent: work under it waits.", "{number} budgets spent: work under them waits.", spent
        )
        return Line(name, words, "bad", MODELS_PLACE, say("See which"))
    if nearly:
        words = say_many("{number} budget nearly spent.", "{number} budgets nearly spent.", nearly)
        return Line(name, words, "ask", MODELS_PLACE, say("See which"))
    return Line(name, say("Within its limits."))


def _in(budgets: Sequence[View], state: str) -> int:
    return sum(one["state"] == state for one in budgets)


def _stuck(counts: View) -> Iterator[Line]:
    """Lines about messages that a person must decide about; none where there are none."""
    if dead := counts.get("deliveries.dead"):
        words = say_many("{number} message couldn't be sent.", "{number} messages couldn't be sent.", dead)
        yield _undecided(words, "bad", "dead")
    if held := counts.get("deliveries.held"):
        yield _undecided(say_many("{number} message on hold.", "{number} messages on hold.", held), "ask", "held")


def _undecided(words: str, tone: str, state: str) -> Line:
    return Line(say("Outbox"), words, tone, f"/console/outbox?state={state}", say("Send again or give up"))
