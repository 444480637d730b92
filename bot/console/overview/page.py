"""The overview: whether all is well, what waits for people, what happened today, and what the week cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console import pieces
from bot.console.html import Html, tag
from bot.console.layout import facts, moment, nothing, page, table, where
from bot.console.overview.chart import week_chart
from bot.console.overview.wellness import Line, lines_of
from bot.console.people.pages import stranger
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible
from runtime.text.words import count, marked, say

COUNT_WORDS: Final = {
    "signals.waiting": (marked("message waiting"), marked("messages waiting")),
    "runs.running": (marked("run in progress"), marked("runs in progress")),
    "runs.parked": (marked("run waiting for people"), marked("runs waiting for people")),
    "runs.ready": (marked("run about to continue"), marked("runs about to continue")),
    "runs.suspect": (marked("run whose process crashed"), marked("runs whose process crashed")),
    "approvals.pending": (marked("open question"), marked("open questions")),
    "deliveries.queued": (marked("message to send"), marked("messages to send")),
    "deliveries.open": (marked("message being sent"), marked("messages being sent")),
    "deliveries.held": (marked("message on hold"), marked("messages on hold")),
    "deliveries.dead": (marked("message that couldn't be sent"), marked("messages that couldn't be sent")),
}
"""Counts of the overview as people read them: of one, and of any other number."""
INFO_WORDS: Final = {
    "version": marked("Version"),
    "model": marked("Model"),
    "database": marked("Database"),
    "guard": marked("Leak guard"),
    "guardrails": marked("Guardrails"),
    "interceptors": marked("Interceptors"),
    "banner": marked("Note"),
}
TODAY_WORDS: Final = {
    "messages": (marked("message"), marked("messages")),
    "runs": (marked("run"), marked("runs")),
    "approvals": (marked("question to people"), marked("questions to people")),
    "schedules": (marked("schedule fired"), marked("schedules fired")),
}
ERROR_HEADS: Final = (marked("When"), marked("Why"), marked("Room"), marked("Next"))


async def overview(_request: web.Request, do: Operations) -> Html:
    told, today = await do.overview(), await do.today()
    lines = lines_of(told, await do.models(), await do.budgets())
    return page(
        say("Overview"),
        "/console",
        _wellness(lines),
        tag("h2", say("Waiting for you")),
        *await _waiting(do),
        tag("h2", say("Today")),
        _numbers((sum(today[name].values()), words) for name, words in TODAY_WORDS.items()),
        *_errors(today["failures"]),
        tag("h2", say("Cost of seven days")),
        week_chart(today["week"]),
        tag("h2", say("Under way")),
        _under_way(told["counts"]),
        *pieces.modes(await do.modes()),
        *pieces.accounts(told["accounts"]),
        tag("h2", say("This installation")),
        facts((say(INFO_WORDS[name]), words) for name, words in told["info"].items()),
    )


def _wellness(lines: Sequence[Line]) -> Html:
    """A line for each thing that must be well; those that aren't lead to where that is mended."""
    items = [
        tag(
            "li",
            tag("b", line.name),
            tag("span", legible(line.words)),
            tag("a", line.action, href=line.place) if line.place else None,
            class_=line.tone,
        )
        for line in lines
    ]
    return tag("ul", *items, class_="wellness", aria_label=say("State"))


async def _waiting(do: Operations) -> Sequence[Html]:
    pending = await do.approvals("pending", order="oldest")
    asked = {row["run"] for row in pending}  # of a stranger it is their identity
    strangers = [row for row in await do.pairings() if row["identity"] not in asked]
    cards = [*map(pieces.question, pending), *map(stranger, strangers)]
    return cards or [nothing(say("Nothing is waiting for you."))]


def _numbers(counted: Iterator[tuple[int, tuple[str, str]]]) -> Html:
    items = [tag("li", tag("b", count(number)), say(words[number != 1])) for number, words in counted]
    return tag("ul", *items, class_="counts")


def _under_way(counts: Mapping[str, int]) -> Html:
    if not counts:
        return nothing(say("Nothing is under way."))
    return _numbers((number, COUNT_WORDS[name]) for name, number in counts.items())


def _errors(rows: Sequence[View]) -> Iterator[Html]:
    """Runs that failed today, each with where to look."""
    if rows:
        yield tag("h2", say("Errors of today"))
        yield table(say("Errors"), ERROR_HEADS, map(_error, rows))


def _error(row: View) -> tuple[str, ...]:
    look = tag("a", say("See its steps"), href=f"/console/runs/{quote(row['run'], safe='')}")
    return moment(row["at"]), legible(row["reason"]) or "-", where(row), look
