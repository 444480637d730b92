"""The page of reports that come with the program: what each tells, a look at it, and one made at once for some rooms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import page, table
from bot.console.schedules.form import picker, preview_place, report_options
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.words import marked, say

REPORTS_PLACE: Final = "/console/reports"
REPORT_HEADS: Final = (marked("Report"), marked("About"), marked("Options"))


async def reports(_request: web.Request, do: Operations) -> Html:
    rows = await do.reports()
    lines = ((row["name"], say(row["about"]), ", ".join(row["options"]) or "-") for row in rows)
    planned = tag(
        "p", say("To have one made again and again:"), " ", tag("a", say("New schedule"), href="/console/schedules/new")
    )
    return page(
        say("Reports"),
        REPORTS_PLACE,
        table(say("Reports"), REPORT_HEADS, lines),
        tag("h2", say("Make one now")),
        _form(rows),
        planned,
        refreshed=False,
        script="schedules.js",
    )


def _form(rows: Sequence[View]) -> Html:
    buttons = (
        tag("button", say("Make it now"), type="submit", class_="main"),
        tag("button", say("Show a preview"), type="button", data_preview=True, aria_controls="preview"),
    )
    return tag(
        "form",
        *_fields(rows),
        tag("p", id="form-fault", class_="fault", role="alert"),
        tag("div", *buttons, class_="buttons"),
        preview_place(),
        method="post",
        action=f"{ROOT}/reports",
        class_="sheet",
        id="report-form",
        data_list=True,
        novalidate=True,
    )


def _fields(rows: Sequence[View]) -> Iterator[Html]:
    picks = (tag("option", row["name"], value=row["name"]) for row in rows)
    yield tag("div", tag("label", say("Report"), for_="report"), tag("select", *picks, id="report", name="name"))
    for number, row in enumerate(rows):
        yield from report_options(row, {}, is_chosen=number == 0)
    yield from picker()
