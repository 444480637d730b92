"""The operators' pages: overview, approvals, runs with their steps, outbox, schedules. Made here, kept fresh by the script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
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
from bot.console.runs import pages as run_pages
from bot.console.skills import pages as skill_pages
from bot.console.work import goals_page, tokens_page, triggers_page, workflows_page
from bot.operator.operations import Operations
from runtime.domain.deliveries import DeliveryState
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
    "run": run_pages.run,
    "runs": run_pages.runs,
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
