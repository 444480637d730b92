"""The operators' pages: overview, approvals, runs with their steps, outbox, schedules. Made here, kept fresh by the script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from aiohttp import web

from bot.console import (
    agents_page,
    approvals_page,
    children_page,
    grants_page,
    models_page,
    people_page,
    pieces,
    schedules_page,
    tasks_page,
    trace_page,
)
from bot.console.events import pages as event_pages
from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, nothing, page, table, tabs, where
from bot.console.memory import knowledge as knowledge_pages
from bot.console.memory import pages as memory_pages
from bot.console.skills import pages as skill_pages
from bot.console.work import goals_page, tokens_page, triggers_page, workflows_page
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.views.context import SOURCES
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible

Make = Callable[[web.Request, Operations], Awaitable[Html]]


async def _without_slash(_request: web.Request, _do: Operations) -> Html:
    """A habit of people who type addresses."""
    raise web.HTTPPermanentRedirect("/console")


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


async def _overview(_request: web.Request, do: Operations) -> Html:
    overview = await do.overview()
    counts = [
        tag("li", tag("b", str(number)), COUNT_WORDS[name][number != 1]) for name, number in overview["counts"].items()
    ]
    pending = await do.approvals("pending", order="oldest")
    asked = {row["run"] for row in pending}  # of a stranger it is their identity
    strangers = [row for row in await do.pairings() if row["identity"] not in asked]
    return page(
        "Overview",
        "/console",
        tag("ul", *counts, class_="counts"),
        tag("h2", "Waiting for you"),
        *(pieces.question(row) for row in pending),
        *(people_page.stranger(row) for row in strangers),
        None if pending or strangers else nothing("Nothing is waiting for you."),
        *pieces.modes(await do.modes()),
        *pieces.accounts(overview["accounts"]),
        tag("h2", "This installation"),
        facts((INFO_WORDS[name], told) for name, told in overview["info"].items()),
    )


async def _runs(request: web.Request, do: Operations) -> Html:
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


async def _run(request: web.Request, do: Operations) -> Html:
    run = await do.run(request.match_info["id"])
    about = facts(
        [
            ("State", badge(run["state"])),
            ("Asked by", run["requester"]),
            ("Room", where(run)),
            ("Started", moment(run["started_at"])),
            ("Ended", moment(run["ended_at"])),
            *([("Error", run["error"])] if run["error"] else []),
        ]
    )
    said = [tag("blockquote", legible(text)) for text in run["signals"]]
    steps = (
        tag("ol", *(pieces.step(step) for step in run["steps"]), class_="steps")
        if run["steps"]
        else nothing("No steps yet.")
    )
    told = tag("p", trace_page.link(run["id"]))
    context = [tag("h2", "Context"), *await _context(do, run["address"])]
    around = _around(await do.handed_on(run=run["id"]), run["id"])
    return page("Run", "/console/runs", about, told, *said, *around, tag("h2", "Steps"), steps, *context)


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


async def _outbox(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.deliveries(state)
    heads = ("Created", "State", "Kind", "Text", "Attempts", "Room", "Actions")
    lines = (
        (
            pieces.delivery_link(row),
            badge(row["state"]),
            row["kind"],
            pieces.plain(row["text"]),
            str(row["attempts"]),
            where(row),
            pieces.mend(row),
        )
        for row in rows
    )
    tabbed = tabs("State", "/console/outbox", DeliveryState, state)
    return page("Outbox", "/console/outbox", tabbed, table("Deliveries", heads, lines))


async def _delivery(request: web.Request, do: Operations) -> Html:
    row = await do.delivery(request.match_info["id"])
    about = facts(
        [
            ("State", badge(row["state"])),
            ("Kind", row["kind"]),
            ("Room", where(row)),
            ("Origin", row["origin"]),
            ("Created", moment(row["created_at"])),
            ("Settled", moment(row["settled_at"])),
            ("Not before", moment(row["not_before"])),
            *([("Reason", row["reason"])] if row["reason"] else []),
        ]
    )
    heads = ("Part", "State", "Attempts", "Checks", "Last attempt", "Receipt")
    lines = (
        (
            str(p["ordinal"]),
            badge(p["state"]),
            str(p["attempts"]),
            str(p["looks"]),
            moment(p["marked_at"]),
            p["receipt"] or "-",
        )
        for p in row["parts"]
    )
    return page(
        "Delivery",
        "/console/outbox",
        about,
        tag("p", trace_page.link(row["id"])),
        pieces.mend(row),
        tag("pre", legible(row["text"])),
        tag("h2", "Parts"),
        table("Parts", heads, lines),
    )


PAGE_MAKERS: Final[Mapping[str, Make]] = {
    "overview": _overview,
    "without slash": _without_slash,
    "agents": agents_page.agents,
    "approvals": approvals_page.approvals,
    "children": children_page.children,
    "delivery": _delivery,
    "events": event_pages.events,
    "feedback": event_pages.feedback,
    "goal": goals_page.goal,
    "goals": goals_page.goals,
    "grants": grants_page.grants,
    "knowledge": knowledge_pages.knowledge,
    "memory": memory_pages.memories,
    "models": models_page.models,
    "newest trace": trace_page.newest,
    "outbox": _outbox,
    "people": people_page.people,
    "run": _run,
    "runs": _runs,
    "schedule": schedules_page.schedule,
    "schedules": schedules_page.schedules,
    "skills": skill_pages.skills,
    "task": tasks_page.task,
    "tasks": tasks_page.tasks,
    "tokens": tokens_page.tokens,
    "trace": trace_page.story,
    "triggers": triggers_page.triggers,
    "workflow": workflows_page.workflow,
    "workflows": workflows_page.workflows,
}
"""Makers of the pages, by the names that `routes` gives them."""
