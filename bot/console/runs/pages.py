"""The list of runs, and the page of one: its facts, its steps in time, and the tree of work to which it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console import children_page, pieces, trace_page
from bot.console.health.pages import log_link
from bot.console.html import Html, filled, tag, with_code
from bot.console.layout import badge, facts, moment, nothing, page, table, tabs, where
from bot.console.runs.called import called
from bot.console.runs.timeline import dollars, lasting, timeline
from bot.console.work.workflows_page import around_run
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.views.context import SOURCES
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import count, decimal, marked, say

RUN_HEADS: Final = (
    marked("Started"),
    marked("State"),
    marked("Asked by"),
    marked("Message"),
    marked("Model calls"),
    marked("Cost"),
    marked("Room"),
)
CONTEXT_HEADS: Final = (marked("Part"), marked("Tokens"), marked("Share of the window"))


async def runs(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.runs(state)
    lines = (
        (
            pieces.run_link(row),
            badge(row["state"]),
            row["requester"],
            pieces.cut(called(row)),
            str(row["iterations"]),
            dollars(row["cost_micros"]),
            where(row),
        )
        for row in rows
    )
    return page(
        say("Runs"),
        "/console/runs",
        tabs(say("State"), "/console/runs", RunState, state),
        table(say("Runs"), RUN_HEADS, lines),
    )


async def run(request: web.Request, do: Operations) -> Html:
    run = await do.run(request.match_info["id"])
    said = [tag("blockquote", legible(text)) for text in run["signals"]]
    told = tag("p", trace_page.link(run["id"]), " · ", log_link(run["id"]))
    around = _around(await do.handed_on(run=run["id"]), run["id"])
    steps = [tag("h2", say("Steps")), timeline(run)]
    context = [tag("h2", say("Context")), *await _context(do, run["address"])]
    flow = await around_run(run["workflow"], do) if run["workflow"] else []
    return page(say("Run"), "/console/runs", _facts(run), _turns(run), told, *said, *flow, *around, *steps, *context)


def _turns(run: View) -> Html:
    """Buttons for what can be done with it; in place of one that would do nothing, the reason."""
    if run["can_stop"]:
        return _button(run, "stop", say("Stop"), say("Stop this run, and all below it? What it did stays done."))
    if run["can_repeat"]:
        return _button(run, "again", say("Run again"), say("Do this work once more? Its report is posted again."))
    then = tag("a", say("See that run."), href=_place(run["then"])) if run["then"] else None
    if run["conversation"] and not then:
        then = tag("a", say("Open the conversation"), href=run["conversation"])
    words = say("It can't be run again here. {why}", why=retold(run["why_not_again"]))
    return tag("p", *with_code(words), " " if then else None, then, class_="faint")


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
        yield say("Schedule"), tag("a", legible(run["schedule"]["name"]), href=place)
    if run["goal"]:
        yield say("Goal"), tag("a", say("Its contract and turns"), href=f"/console/goals/{quote(run['goal'], safe='')}")
    if run["posted"]:
        yield say("Posted"), pieces.posts(run["posted"])


def _facts(run: View) -> Html:
    tokens = [sum(step[side] for step in run["steps"]) for side in ("input_tokens", "output_tokens")]
    return facts(
        [
            (say("State"), badge(run["state"])),
            (say("Agent"), legible(run["agent"])),
            (say("Asked by"), run["requester"] or "-"),
            (say("Room"), tag("a", where(run), href=run["conversation"]) if run["conversation"] else where(run)),
            *_began(run),
            (say("Started"), moment(run["started_at"])),
            (say("Ended"), moment(run["ended_at"])),
            (say("Took") if run["ended_at"] else say("Takes so far"), lasting(run["seconds"])),
            (say("Tokens"), say("{read} in, {written} out", read=count(tokens[0]), written=count(tokens[1]))),
            (say("Cost"), dollars(run["cost_micros"])),
            *([(say("Error"), legible(retold(run["error"])))] if run["error"] else []),
        ]
    )


def _around(tree: Sequence[View], run: str) -> Sequence[Html]:
    """The tree of work to which a run belongs; nothing where there is none."""
    if not tree:
        return []
    root = tree[0]["root"]
    above = [tag("p", tag("a", say("The run that began it"), href=f"/console/runs/{root}"))] if root != run else []
    return [tag("h2", say("Handed on")), *above, children_page.tree_of(tree, run)]


async def _context(do: Operations, room: str) -> Sequence[Html]:
    """Sizes of what the next message in the conversation of a run would send to the model."""
    try:
        told = await do.context(room)
    except Refusal as error:
        return [nothing(retold(str(error)))]
    lines = (
        (say(part["name"]), count(part["tokens"]), decimal(f"{part['percent']:.2f}%"))
        for part in (*told["partitions"], {**told, "name": marked("Total")})
    )
    source = SOURCES[told["source"]]
    about = say(
        "The next message here goes to {model}, with a window of {window} tokens ({source}).",
        model=told["model"],
        window=count(told["window"]),
        source=say(source),
    )
    newest = told["summaries"][0] if told["summaries"] else None
    so_far = tag("p", *(_condensed(newest, len(told["summaries"])) if newest else [say("There is no summary yet.")]))
    return [tag("p", about), table(say("Parts"), CONTEXT_HEADS, lines), so_far]


def _condensed(newest: View, number: int) -> Sequence[str | None]:
    sentence = say(
        "Summaries: {number}. The newest, {time}, is of {turns} turns: {before} tokens before and {after} after.",
        number=count(number),
        turns=count(newest["turns"]),
        before=count(newest["tokens_before"]),
        after=count(newest["tokens_after"]),
        time="{time}",
    )
    return filled(sentence, time=moment(newest["at"]))
