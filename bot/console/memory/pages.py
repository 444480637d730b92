"""The page of memories: what agents keep for rooms, for themselves and for all, and how much for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.words import marked, say

MEMORY_PLACE: Final = "/console/memory"
SCOPES: Final = {
    "": marked("everything"),
    "room": marked("rooms"),
    "agent": marked("agents"),
    "all": marked("all agents"),
    "person": marked("you"),
}
MEMORY_HEADS: Final = (
    marked("Memory"),
    marked("For"),
    marked("Agent"),
    marked("Trust"),
    marked("Said by"),
    marked("Since"),
    marked("Used"),
    marked("Actions"),
)
COUNT_HEADS: Final = (marked("For"), marked("Agent"), marked("Memories"))
SCOPE_WORDS: Final = {"person": "", "room": "", "agent": marked("every room of the agent"), "all": marked("all agents")}
PRIVACY: Final = marked(
    "What is kept for a person, only they can read: in their private chat with /memory. Here "
    "you see how much that is, and your own."
)


async def memories(request: web.Request, do: Operations) -> Html:
    scope, agent = request.query.get("scope", ""), request.query.get("agent", "")
    rows, counts = await do.memories(agent, scope), await do.memory_counts()
    return page(
        say("Memory"),
        MEMORY_PLACE,
        _scopes(agent, scope),
        _agents(counts, agent, scope),
        table(say("Memories"), MEMORY_HEADS, map(_line, rows)),
        tag("h2", say("Kept for people")),
        tag("p", say(PRIVACY)),
        table(say("Memories of people"), COUNT_HEADS, _counts(counts)),
    )


def _scopes(agent: str, chosen: str) -> Html:
    links = [(say(word), _place(agent, scope), scope == chosen) for scope, word in SCOPES.items()]
    return _choice("For", links)


def _agents(counts: Iterable[View], chosen: str, scope: str) -> Html | None:
    """A choice where there are several."""
    names = sorted({row["agent"] for row in counts if row["agent"]} | ({chosen} if chosen else set()))
    if len(names) < 2 and not chosen:
        return None
    links = [(name or say("every agent"), _place(name, scope), name == chosen) for name in ("", *names)]
    return _choice("Agent", links)


def _choice(label: str, links: Iterable[tuple[str, str, bool]]) -> Html:
    made = (tag("a", word, href=place, aria_current="page" if is_it else None) for word, place, is_it in links)
    return tag("nav", *made, class_="tabs", aria_label=label)


def _place(agent: str, scope: str) -> str:
    asked = urlencode({name: value for name, value in (("agent", agent), ("scope", scope)) if value})
    return f"{MEMORY_PLACE}?{asked}" if asked else MEMORY_PLACE


def _line(row: View) -> tuple[str, ...]:
    told = (_whose(row), row["agent"] or "all", badge(row["trust"]), _from(row), moment(row["valid_from"]))
    return row["text"], *told, str(row["uses"]), tag("div", *_turns(row), class_="buttons")


def _from(row: View) -> str:
    return row["by"] or (say("from {program}", program=row["origin"]) if row["origin"] else "-")


def _whose(row: View) -> Html:
    return tag("span", say(SCOPE_WORDS[row["scope"]]) or row["room"] or row["person"], title=row["address"] or None)


def _turns(row: View) -> Iterator[Html]:
    place = f"{ROOT}/memories/{quote(row['id'], safe='')}"
    if row["trust"] != "said":
        yield tag("form", tag("button", say("Accept"), type="submit"), method="post", action=f"{place}/accept")
    ask = say("Forget this for good? Nothing brings it back.")
    button = tag("button", say("Delete"), type="submit")
    yield tag("form", button, method="post", action=f"{place}/delete", data_ask=ask)


def _counts(counts: Iterable[View]) -> Iterator[tuple[str, ...]]:
    for row in counts:
        if row["scope"] == "person":
            yield row["person"], row["agent"], str(row["count"])
