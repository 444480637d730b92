"""The page of agents: what each may use, where it answers, and what bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, breaking, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.domain.agents.lifecycle import AGENT_MOVES, AgentEvent
from runtime.domain.agents.manifest import MAIN
from runtime.text.glyphs import legible
from runtime.text.words import count, decimal, marked, say, several

AGENTS_PAGE: Final = "/console/agents"
AGENT_HEADS: Final = (
    marked("Name"),
    marked("State"),
    marked("Model"),
    marked("Answers in"),
    marked("Tools"),
    marked("Hands work to"),
    marked("Bounds"),
    marked("Actions"),
)
UNTURNED_STATE: Final = "running"
"""State of an agent that nobody suspended or ended."""
MOVE_WORDS: Final = {
    AgentEvent.SUSPEND: (marked("Suspend"), marked("Suspend {name}? Messages for it wait until somebody resumes it.")),
    AgentEvent.RESUME: (marked("Resume"), marked("Resume {name}? It answers what waited.")),
    AgentEvent.TERMINATE: (
        marked("End"),
        marked("End {name} for good? Its work stops, its schedules end, and main answers in its rooms."),
    ),
}
"""Word of a move, and the question before it."""


async def agents(_request: web.Request, do: Operations) -> Html:
    how = tag("p", say("Begin one with "), tag("code", "signalbox agents new NAME"), ".", class_="faint")
    lines = [_line(row, do.actor.person.role) for row in await do.agents()]
    return page(say("Agents"), AGENTS_PAGE, table(say("Agents"), AGENT_HEADS, lines), how)


def _line(row: View, role: Role) -> tuple[str, ...]:
    return (
        _name(row),
        _state(row),
        legible(row["model"]),
        legible(row["answers"]),
        _tools(row),
        ", ".join(row["delegates_to"]) or say("nobody"),
        ", ".join(_bounds(row)) or say("none of its own"),
        _actions(row, role),
    )


def _actions(row: View, role: Role) -> Html:
    """Moves that its state allows. An owner alone may end one, and nobody the main one."""
    state, may_end = row.get("state", UNTURNED_STATE), role is Role.OWNER and row["name"] != MAIN
    moves = [event for (before, event) in AGENT_MOVES if before == state]
    return tag("div", *(_move(row["name"], event) for event in moves if may_end or event is not AgentEvent.TERMINATE))


def _move(name: str, event: AgentEvent) -> Html:
    verb, question = MOVE_WORDS[event]
    return tag(
        "form",
        tag("button", say(verb), type="submit"),
        method="post",
        action=f"{ROOT}/agents/{quote(name, safe='')}/{event}",
        data_ask=say(question, name=name),
    )


def _name(row: View) -> Html:
    name = tag("strong", row["name"])
    return tag("div", name, tag("p", breaking(legible(row["from"])), class_="faint")) if row["from"] else name


def _state(row: View) -> Html:
    shown = badge(row.get("state", UNTURNED_STATE))
    reason = row.get("reason", "")
    return tag("div", shown, tag("p", legible(reason), class_="faint")) if reason else shown


def _tools(row: View) -> Html:
    """Number of its tools, and all of their names where somebody opens them."""
    names = tag("p", ", ".join(row["has"]) or "none", class_="faint")
    return tag(
        "details",
        tag(
            "summary",
            say("{tools}, up to {effects}", tools=several(len(row["has"]), "tool"), effects=say(row["effects"])),
        ),
        names,
    )


def _bounds(row: View) -> Iterator[str]:
    if row["budget_day"]:
        yield say("${amount} a day", amount=decimal(f"{row['budget_day']:,.2f}"))
    if row["tokens_per_hour"]:
        yield say("{number} tokens an hour", number=count(row["tokens_per_hour"]))
    if row["tool_calls_per_minute"]:
        yield say("{number} tool calls a minute", number=count(row["tool_calls_per_minute"]))
