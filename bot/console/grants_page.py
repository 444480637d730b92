"""The page of grants: calls that run without asking, who allowed that, and a button that ends each."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, page, table, tabs
from bot.console.trace_page import link as trace_link
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible, visible
from runtime.text.words import marked, say

GRANTS_PAGE: Final = "/console/grants"
HEADS: Final = (
    marked("Given"),
    marked("State"),
    marked("Call"),
    marked("Where"),
    marked("For"),
    marked("Until"),
    marked("Uses left"),
    marked("By"),
    marked("Actions"),
)
ALIVE: Final = ("active", marked("no effect"))
STATES: Final = (*ALIVE, marked("expired"), marked("used up"), "revoked")


async def grants(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = [row for row in await do.grants() if state in ("", row["state"])]
    return page(
        say("Grants"),
        GRANTS_PAGE,
        tabs(say("State"), GRANTS_PAGE, STATES, state),
        table(say("Grants"), HEADS, map(_line, rows)),
    )


def _line(row: View) -> tuple[str, ...]:
    call = tag(
        "details", tag("summary", tag("code", row["tool"])), tag("pre", visible(row["pattern"])), id=f"g-{row['id']}"
    )
    uses = say("no limit") if row["uses_left"] is None else str(row["uses_left"])
    given = trace_link(row["approval"], moment(row["created_at"]))
    return (
        given,
        badge(row["state"]),
        call,
        _where(row),
        legible(row["person"]) or say("anybody"),
        moment(row["until"]),
        uses,
        legible(row["by"]) or "-",
        _end(row),
    )


def _where(row: View) -> str:
    """The room by its name; its address for whoever points at it."""
    return tag("span", f"{row['where']}: {legible(row['room'])}", title=row["address"]) if row["room"] else row["where"]


def _end(row: View) -> Html:
    if row["state"] not in ALIVE:
        return Html("")
    return tag(
        "form",
        tag("button", say("Revoke"), type="submit"),
        method="post",
        action=f"{ROOT}/grants/{quote(row['id'], safe='')}/revoke",
        data_ask=say("End this grant? Its calls will need approval again."),
    )
