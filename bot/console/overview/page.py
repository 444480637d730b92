"""The overview: whether all is well, what waits for people, what happened today, and what the week cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

COUNT_WORDS: Final = {
    "signals.waiting": ("message waiting", "messages waiting"),
    "runs.running": ("run in progress", "runs in progress"),
    "runs.parked": ("run waiting for people", "runs waiting for people"),
    "runs.ready": ("run about to continue", "runs about to continue"),
    "runs.suspect": ("run whose process crashed", "runs whose process crashed"),
    "approvals.pending": ("open question", "open questions"),
    "deliveries.queued": ("message to send", "messages to send"),
    "deliveries.open": ("message being sent", "messages being sent"),
    "deliveries.held": ("message on hold", "messages on hold"),
    "deliveries.dead": ("message that couldn't be sent", "messages that couldn't be sent"),
}
"""Counts of the overview as people read them: of one, and of any other number."""
INFO_WORDS: Final = {
    "version": "Version",
    "model": "Model",
    "database": "Database",
    "guard": "Leak guard",
    "guardrails": "Guardrails",
    "interceptors": "Interceptors",
    "banner": "Note",
}
TODAY_WORDS: Final = {
    "messages": ("message", "messages"),
    "runs": ("run", "runs"),
    "approvals": ("question to people", "questions to people"),
    "schedules": ("schedule fired", "schedules fired"),
}
ERROR_HEADS: Final = ("When", "Why", "Room", "Next")


async def overview(_request: web.Request, do: Operations) -> Html:
    told, today = await do.overview(), await do.today()
    lines = lines_of(told, await do.models(), await do.budgets())
    return page(
        "Overview",
        "/console",
        _wellness(lines),
        tag("h2", "Waiting for you"),
        *await _waiting(do),
        tag("h2", "Today"),
        _numbers((sum(today[name].values()), words) for name, words in TODAY_WORDS.items()),
        *_errors(today["failures"]),
        tag("h2", "Cost of seven days"),
        week_chart(today["week"]),
        tag("h2", "Under way"),
        _numbers((number, COUNT_WORDS[name]) for name, number in told["counts"].items()),
        *pieces.modes(await do.modes()),
        *pieces.accounts(told["accounts"]),
        tag("h2", "This installation"),
        facts((INFO_WORDS[name], words) for name, words in told["info"].items()),
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
    return tag("ul", *items, class_="wellness", aria_label="State")


async def _waiting(do: Operations) -> Sequence[Html]:
    pending = await do.approvals("pending", order="oldest")
    asked = {row["run"] for row in pending}  # of a stranger it is their identity
    strangers = [row for row in await do.pairings() if row["identity"] not in asked]
    cards = [*map(pieces.question, pending), *map(stranger, strangers)]
    return cards or [nothing("Nothing is waiting for you.")]


def _numbers(counted: Iterator[tuple[int, tuple[str, str]]]) -> Html:
    items = [tag("li", tag("b", f"{number:,}"), words[number != 1]) for number, words in counted]
    return tag("ul", *items, class_="counts")


def _errors(rows: Sequence[View]) -> Iterator[Html]:
    """Runs that failed today, each with where to look."""
    if rows:
        yield tag("h2", "Errors of today")
        yield table("Errors", ERROR_HEADS, map(_error, rows))


def _error(row: View) -> tuple[str, ...]:
    look = tag("a", "See its steps", href=f"/console/runs/{quote(row['run'], safe='')}")
    return moment(row["at"]), legible(row["reason"]) or "-", where(row), look
