"""The operators' pages by their names; those of the outbox are made here. The script keeps them fresh."""

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
    pieces,
    tasks_page,
    trace_page,
)
from bot.console.events import pages as event_pages
from bot.console.health import pages as health_pages
from bot.console.html import Html, tag
from bot.console.layout import badge, facts, kind_words, moment, page, table, tabs, where
from bot.console.memory import knowledge as knowledge_pages
from bot.console.memory import pages as memory_pages
from bot.console.overview import page as overview_page
from bot.console.people import pages as people_pages
from bot.console.people import person as person_pages
from bot.console.runs import pages as run_pages
from bot.console.schedules import pages as schedule_pages
from bot.console.schedules import reports_page
from bot.console.settings import form as settings_form
from bot.console.settings import keys as settings_keys
from bot.console.settings import pages as settings_pages
from bot.console.skills import pages as skill_pages
from bot.console.work import goals_page, tokens_page, triggers_page, workflows_page
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.domain.deliveries import DeliveryState
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import count, marked, say

OUTBOX_HEADS: Final = (
    marked("Created"),
    marked("State"),
    marked("Kind"),
    marked("Text"),
    marked("Attempts"),
    marked("Room"),
    marked("Actions"),
)
PART_HEADS: Final = (
    marked("Part"),
    marked("State"),
    marked("Attempts"),
    marked("Checks"),
    marked("Last attempt"),
    marked("Receipt"),
)
Make = Callable[[web.Request, Operations], Awaitable[Html]]


async def _without_slash(_request: web.Request, _do: Operations) -> Html:
    """A habit of people who type addresses."""
    raise web.HTTPPermanentRedirect("/console")


async def _outbox(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.deliveries(state)
    lines = (
        (
            pieces.delivery_link(row),
            badge(row["state"]),
            kind_words(row["kind"]),
            _line(row),
            count(row["attempts"]),
            where(row),
            pieces.mend(row),
        )
        for row in rows
    )
    tabbed = tabs(say("State"), "/console/outbox", DeliveryState, state)
    return page(say("Outbox"), "/console/outbox", tabbed, table(say("Deliveries"), OUTBOX_HEADS, lines))


def _line(row: View) -> Html:
    """Its first words; and why it isn't on screen, where somebody should know."""
    why = tag("small", legible(retold(row["reason"])), class_="why") if row["reason"] else None
    return tag("span", pieces.plain(row["text"]), why)


async def _delivery(request: web.Request, do: Operations) -> Html:
    row = await do.delivery(request.match_info["id"])
    about = facts(
        [
            (say("State"), badge(row["state"])),
            (say("Kind"), kind_words(row["kind"])),
            (say("Room"), where(row)),
            (say("Origin"), row["origin"]),
            (say("Created"), moment(row["created_at"])),
            (say("Settled"), moment(row["settled_at"])),
            (say("Not before"), moment(row["not_before"])),
            *([(say("Reason"), legible(retold(row["reason"])))] if row["reason"] else []),
        ]
    )
    lines = (
        (
            str(p["ordinal"]),
            badge(p["state"]),
            count(p["attempts"]),
            count(p["looks"]),
            moment(p["marked_at"]),
            p["receipt"] or "-",
        )
        for p in row["parts"]
    )
    return page(
        say("Delivery"),
        "/console/outbox",
        about,
        tag("p", trace_page.link(row["id"])),
        pieces.mend(row),
        tag("pre", pieces.unmarked(row["text"])),
        tag("h2", say("Parts")),
        table(say("Parts"), PART_HEADS, lines),
    )


PAGE_MAKERS: Final[Mapping[str, Make]] = {
    "overview": overview_page.overview,
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
    "health": health_pages.health,
    "logs": health_pages.logs,
    "knowledge": knowledge_pages.knowledge,
    "memory": memory_pages.memories,
    "models": models_page.models,
    "newest trace": trace_page.newest,
    "outbox": _outbox,
    "people": people_pages.people,
    "person": person_pages.person,
    "merge": person_pages.merge,
    "reports": reports_page.reports,
    "run": run_pages.run,
    "runs": run_pages.runs,
    "setting": settings_form.setting,
    "settings channels": settings_keys.channels,
    "settings model": settings_keys.model,
    "settings": settings_pages.settings,
    "schedule": schedule_pages.schedule,
    "schedule form": schedule_pages.edited_schedule,
    "schedules": schedule_pages.schedules,
    "new schedule": schedule_pages.new_schedule,
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
