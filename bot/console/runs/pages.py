"""The list of runs, and the page of one: its facts, its steps in time, and the tree of work to which it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from aiohttp import web

from bot.console import children_page, pieces, trace_page
from bot.console.health.pages import log_link
from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, nothing, page, table, tabs, where
from bot.console.runs.timeline import dollars, lasting, timeline
from bot.console.work.workflows_page import around_run
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.views.context import SOURCES
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible


async def runs(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.runs(state)
    heads = ("Started", "State", "Asked by", "Message", "Model calls", "Room")
    lines = (
        (
            pieces.run_link(row),
            badge(row["state"]),
            row["requester"],
            pieces.words(row),
            str(row["iterations"]),
            where(row),
        )
        for row in rows
    )
    return page("Runs", "/console/runs", tabs("State", "/console/runs", RunState, state), table("Runs", heads, lines))


async def run(request: web.Request, do: Operations) -> Html:
    run = await do.run(request.match_info["id"])
    said = [tag("blockquote", legible(text)) for text in run["signals"]]
    told = tag("p", trace_page.link(run["id"]), " · ", log_link(run["id"]))
    around = _around(await do.handed_on(run=run["id"]), run["id"])
    steps = [tag("h2", "Steps"), timeline(run)]
    context = [tag("h2", "Context"), *await _context(do, run["address"])]
    flow = await around_run(run["workflow"], do) if run["workflow"] else []
    return page("Run", "/console/runs", _facts(run), _turns(run), told, *said, *flow, *around, *steps, *context)


def _turns(run: View) -> Html:
    """Buttons for what can be done with it; in place of one that would do nothing, the reason."""
    if run["can_stop"]:
        return _button(run, "stop", "Stop", "Stop this run, and all below it? What it did stays done.")
    if run["can_repeat"]:
        return _button(run, "again", "Run again", "Do this work once more? Its report is posted again.")
    then = tag("a", " See that run.", href=_place(run["then"])) if run["then"] else None
    return tag("p", f"It can't be run again here. {run['why_not_again']}", then, class_="faint")


def _button(run: View, verb: str, word: str, ask: str) -> Html:
    form = tag(
        "form",
        tag("button", word, type="submit"),
        method="post",
        action=f"{ROOT}/runs/{quote(run['id'], safe='')}/{verb}",
        data_ask=ask,
    )
    return tag("div", form, class_="buttons")


def _place(run: str) -> str:
    return f"/console/runs/{quote(run, safe='')}"


def _began(run: View) -> Iterator[tuple[str, Html]]:
    """The schedule, workflow or goal that began it."""
    if run["schedule"]:
        place = f"/console/schedules/{quote(run['schedule']['id'], safe='')}"
        yield "Schedule", tag("a", legible(run["schedule"]["name"]), href=place)
    if run["goal"]:
        yield "Goal", tag("a", "Its contract and turns", href=f"/console/goals/{quote(run['goal'], safe='')}")
    if run["posted"]:
        yield "Posted", pieces.posts(run["posted"])


def _facts(run: View) -> Html:
    tokens = [sum(step[side] for step in run["steps"]) for side in ("input_tokens", "output_tokens")]
    return facts(
        [
            ("State", badge(run["state"])),
            ("Agent", legible(run["agent"])),
            ("Asked by", run["requester"] or "-"),
            ("Room", where(run)),
            *_began(run),
            ("Started", moment(run["started_at"])),
            ("Ended", moment(run["ended_at"])),
            ("Took" if run["ended_at"] else "Takes", lasting(run["seconds"])),
            ("Tokens", f"{tokens[0]:,} in, {tokens[1]:,} out"),
            ("Cost", dollars(run["cost_micros"])),
            *([("Error", legible(run["error"]))] if run["error"] else []),
        ]
    )


def _around(tree: Sequence[View], run: str) -> Sequence[Html]:
    """The tree of work to which a run belongs; nothing where there is none."""
    if not tree:
        return []
    root = tree[0]["root"]
    above = [tag("p", tag("a", "The run that began it", href=f"/console/runs/{root}"))] if root != run else []
    return [tag("h2", "Handed on"), *above, children_page.tree_of(tree, run)]


async def _context(do: Operations, room: str) -> Sequence[Html]:
    """Sizes of what the next message in the conversation of a run would send to the model."""
    try:
        told = await do.context(room)
    except Refusal as error:
        return [nothing(str(error))]
    lines = (
        (part["name"], f"{part['tokens']:,}", f"{part['percent']:.2f}%")
        for part in (*told["partitions"], {**told, "name": "Total"})
    )
    source = SOURCES[told["source"]]
    about = f"The next message here goes to {told['model']}, with a window of {told['window']:,} tokens ({source})."
    newest = told["summaries"][0] if told["summaries"] else None
    words = f"Summaries: {len(told['summaries']):,}. " if newest else "There is no summary yet."
    so_far = tag("p", words, *(["The newest: ", moment(newest["at"]), f", {_condensed(newest)}."] if newest else []))
    return [tag("p", about), table("Parts", ("Part", "Tokens", "Share of the window"), lines), so_far]


def _condensed(newest: View) -> str:
    sizes = f"{newest['tokens_before']:,} tokens before and {newest['tokens_after']:,} after"
    return f"{newest['turns']:,} turns, {sizes}"
