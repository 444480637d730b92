"""The page of work that agents handed on, and the tree of one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, tabs, where
from bot.console.pieces import cut
from bot.console.runs.timeline import lasting
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import ChildState
from runtime.text.glyphs import legible
from runtime.text.words import decimal, say

CHILDREN_PLACE: Final = "/console/children"
ANSWER_SHOWN: Final = 4_000
"""Characters of an answer in a tree; the page of its run has all of it."""


async def children(request: web.Request, do: Operations) -> Html:
    """Trees, the newest first: with a state those that have a piece in it, whole."""
    state = request.query.get("state", "")
    rows = await do.handed_on(state) if state else await do.handed_on()
    if state:
        wanted = {row["root"] for row in rows}
        rows = [row for row in await do.handed_on() if row["root"] in wanted]
    trees = [piece for _, found in groupby(rows, key=lambda row: row["root"]) for piece in _tree(list(found))]
    told = trees or [nothing(say("Nothing was handed on."))]
    return page(say("Handed on"), CHILDREN_PLACE, tabs(say("State"), CHILDREN_PLACE, ChildState, state), *told)


def _tree(rows: Sequence[View]) -> Iterator[Html]:
    """One tree, under the request that led to it."""
    first = rows[0]
    asked = cut(first["request"]) or say("Work without a message")
    yield tag("h2", tag("a", asked, href=_run(first["root"])))
    by = say("Asked by {by}", by=legible(first["by"])) if first["by"] else say("Asked")
    yield tag("p", by, say(" in "), where(first), ", ", moment(first["created_at"]), class_="faint")
    yield tree_of(rows)


def tree_of(rows: Sequence[View], here: str = "") -> Html:
    """Pieces of work as a list, each with what it handed on below it; the run `here` is marked."""
    return _level(list(rows), 0, here)


def _level(rows: Sequence[View], depth: int, here: str) -> Html:
    starts = [place for place, row in enumerate(rows) if row["depth"] == depth]
    items = [
        _item(rows[start], rows[start + 1 : end], here)
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True)
    ]
    return tag("ul", *items, class_="tree")


def _item(row: View, below: Sequence[View], here: str) -> Html:
    name = tag("b", legible(row["agent"]))
    is_here = row["id"] == here
    link = name if row["run_state"] is None or is_here else tag("a", name, href=_run(row["id"]))
    figures = tag("small", ", ".join(_figures(row)))
    head = tag("div", link, " ", badge(_badge(row)), " ", figures, _stop(row), class_="piece")
    return tag(
        "li",
        head,
        tag("p", cut(row["goal"], 240)),
        _answer(row),
        _level(below, row["depth"] + 1, here) if below else None,
        aria_current="true" if is_here else None,
    )


def _figures(row: View) -> Iterator[str]:
    if row["stands"] and row["stands"] not in (row["state"], say("at work"), say("not begun")):
        yield legible(row["stands"])
    if row["seconds"] is not None:
        yield lasting(row["seconds"])
    if row["cost"]:
        yield say("${amount}", amount=decimal(f"{row['cost']:.4f}"))


def _badge(row: View) -> str:
    if row["state"] != ChildState.OPEN:
        return str(row["state"])
    if row["asks"]:
        return "asked"
    if row["waits_for"]:
        return "waiting"
    return "queued" if row["run_state"] is None else "running"


def _answer(row: View) -> Html | None:
    if not row["result"]:
        return None
    words = legible(row["result"][:ANSWER_SHOWN])
    return tag("details", tag("summary", say("Answer")), tag("pre", words), id=f"answer-{row['id']}")


def _stop(row: View) -> Html | None:
    if row["state"] != ChildState.OPEN:
        return None
    return tag(
        "form",
        tag("button", say("Stop"), type="submit"),
        method="post",
        action=f"{ROOT}/children/{quote(row['id'], safe='')}/stop",
        data_ask=say("Stop what {agent} does here, and all that it handed on?", agent=row["agent"]),
    )


def _run(run: str) -> str:
    return f"/console/runs/{quote(run, safe='')}"
