"""The page of agents: what each may use, where it answers, and what bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, page, table
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.markup.moments import several
from runtime.text.glyphs import legible

AGENTS_PAGE: Final = "/console/agents"
AGENT_HEADS: Final = ("Name", "State", "Model", "Answers in", "Tools", "Hands work to", "Bounds")
UNTURNED_STATE: Final = "running"
"""State of an agent that nobody suspended or ended."""


async def agents(_request: web.Request, do: Operations) -> Html:
    how = tag("p", "Begin one with ", tag("code", "signalbox agents new NAME"), ".", class_="faint")
    return page("Agents", AGENTS_PAGE, table("Agents", AGENT_HEADS, map(_line, await do.agents())), how)


def _line(row: View) -> tuple[str, ...]:
    return (
        _name(row),
        _state(row),
        legible(row["model"]),
        legible(row["answers"]) or "where it is named",
        _tools(row),
        ", ".join(row["delegates_to"]) or "nobody",
        ", ".join(_bounds(row)) or "none of its own",
    )


def _name(row: View) -> Html:
    name = tag("strong", row["name"])
    return tag("div", name, tag("p", legible(row["from"]), class_="faint")) if row["from"] else name


def _state(row: View) -> Html:
    shown = badge(row.get("state", UNTURNED_STATE))
    reason = row.get("reason", "")
    return tag("div", shown, tag("p", legible(reason), class_="faint")) if reason else shown


def _tools(row: View) -> Html:
    """Number of its tools, and all of their names where somebody opens them."""
    names = tag("p", ", ".join(row["has"]) or "none", class_="faint")
    return tag("details", tag("summary", f"{several(len(row['has']), 'tool')}, up to {row['effects']}"), names)


def _bounds(row: View) -> Iterator[str]:
    if row["budget_day"]:
        yield f"${row['budget_day']:,.2f} a day"
    if row["tokens_per_hour"]:
        yield f"{row['tokens_per_hour']:,} tokens an hour"
    if row["tool_calls_per_minute"]:
        yield f"{row['tool_calls_per_minute']:,} tool calls a minute"
