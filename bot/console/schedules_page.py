"""The pages of what is planned: all schedules with a form for one more, and one with what is next and what was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, nothing, page, table, tabs
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

PLACE: Final = "/console/schedules"
HEADS: Final = ("Name", "State", "Next", "When", "Room", "By", "Actions")
PAST: Final = ("Planned", "State", "Shown", "Tries", "Reason", "Run")
MISSED: Final[View] = {"skip": "skip", "once": "run once", "all": "run every one", "window": "run recent ones"}
# What can be done with it, by its state.
TURNS: Final = {"active": ("pause",), "paused": ("resume",), "ended": ()}
VERBS: Final = {"pause": "Pause", "resume": "Resume", "run": "Run now", "remove": "Remove"}


async def schedules(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.schedules(state)
    tabbed = tabs("State", PLACE, TURNS, state)
    lines = ((link(row), _state(row), _next(row), row["when"], _rooms(row), _by(row), _turn(row)) for row in rows)
    return page("Schedules", PLACE, tabbed, table("Schedules", HEADS, lines), tag("h2", "New schedule"), _form())


async def schedule(request: web.Request, do: Operations) -> Html:
    row = await do.schedule(request.match_info["id"])
    return page(
        row["name"],
        PLACE,
        facts(_facts(row)),
        _turn(row, with_remove=True),
        tag("h2", "Task"),
        tag("pre", row["task"]),
        tag("h2", "Next"),
        _coming(row),
        tag("h2", "Last 20 runs"),
        table("Past runs", PAST, map(_past, row["history"])),
        *_change(row),
    )


def link(row: View) -> Html:
    return tag("a", row["name"], href=f"{PLACE}/{quote(row['id'], safe='')}")


def _facts(row: View) -> Iterator[tuple[str, str]]:
    yield "State", _state(row)
    if row["reason"]:
        yield "Reason", row["reason"]
    if row["failures"]:
        yield "Failures in a row", str(row["failures"])
    yield "When", row["when"]
    yield "Rooms", _rooms(row)
    yield "By", _by(row)
    for name, words in (("starts_at", "Not before"), ("ends_at", "Not after")):
        if row[name]:
            yield words, moment(row[name])
    yield from _terms(row["terms"])


def _terms(terms: View) -> Iterator[tuple[str, str]]:
    yield "If missed", str(MISSED.get(terms["misfire"], terms["misfire"]))
    if terms["quiet"]:
        yield "If nothing is new", "post nothing"
    if terms["thread"] != "room":
        yield "Thread", terms["thread"]
    if terms["max_cost"]:
        yield "Daily limit", f"${terms['max_cost']:g}"


def _state(row: View) -> Html:
    return badge(row["state"])


def _next(row: View) -> Html:
    return moment(next(iter(row["next"]), None))


def _rooms(row: View) -> Html:
    """By their names; their addresses for whoever points at them."""
    return tag("span", ", ".join(row["rooms"]), title=", ".join(row["to"]))


def _by(row: View) -> str:
    return "settings file" if row["by_file"] else row["owner"]


def _coming(row: View) -> Html:
    from zoneinfo import ZoneInfo  # not loaded where nobody looks

    if row["state"] == "paused":
        return nothing("It's paused and won't run until you resume it.")
    if not row["next"]:
        return nothing("It has no further runs.")
    zone = ZoneInfo(row["zone"])
    return tag(
        "ol", *(tag("li", moment(instant, exact=True), _by_its_clocks(instant, zone)) for instant in row["next"])
    )


def _by_its_clocks(instant: str, zone: ZoneInfo) -> Html:
    """The reader's clocks may be others than the schedule's."""
    return tag("span", f" · {datetime.fromisoformat(instant).astimezone(zone):%a %H:%M} in {zone.key}", class_="faint")


def _past(one: View) -> Sequence[str]:
    shown = f"{one['shown']}/{one['wanted']}" if one["wanted"] else "-"
    why = one["reason"] or ("no news" if one["silent"] else "run by hand" if one["manual"] else "-")
    run = tag("a", "Steps", href=f"/console/runs/{quote(one['run'], safe='')}") if one["run"] else "-"
    return moment(one["planned_at"]), badge(one["state"]), shown, str(one["attempts"]), why, run


def _turn(row: View, *, with_remove: bool = False) -> Html:
    verbs = [*TURNS.get(row["state"], ()), "run"]
    if with_remove and not row["by_file"]:
        verbs.append("remove")
    return tag("div", *(_button(row, verb) for verb in verbs), class_="buttons")


def _button(row: View, verb: str) -> Html:
    return tag(
        "form",
        tag("button", VERBS[verb], type="submit"),
        method="post",
        action=_action(row, f"/{verb}"),
        data_ask=f"Remove {row['name']}? It won't run again." if verb == "remove" else None,
        data_then=PLACE if verb == "remove" else None,
    )


def _action(row: View, way: str = "") -> str:
    return f"{ROOT}/schedules/{quote(row['id'], safe='')}{way}"


def _change(row: View) -> Iterator[Html]:
    yield tag("h2", "Change this schedule")
    if row["by_file"]:
        yield nothing("This one is in the settings file. Change it there, then reload.")
        return
    fields = [
        _field("when", "When", placeholder=row["when_text"]),
        _field("zone", "Time zone", placeholder=row["zone"]),
        _area("prompt", "Task" if row["kind"] == "prompt" else "Task, to replace the template or report"),
        _field("to", "Rooms", placeholder=", ".join(row["rooms"])),
        _field("name", "Name", placeholder=row["name"]),
    ]
    yield tag("p", "Empty fields stay as they are.", class_="faint")
    yield _card(fields, "Change", _action(row))


def _form() -> Html:
    fields = [
        _field("when", "When, as cron or in words", required=True, placeholder="every weekday at 9 in Berlin"),
        _area("prompt", "Task: what the agent should do", required=True),
        _field("to", "Rooms for the report", required=True, placeholder="slack:work/C1, web:main/reports"),
        _field("name", "Name (optional)"),
        _field("zone", "Time zone (optional)", placeholder="Europe/Berlin"),
        tag("label", "If nothing is new", for_="quiet"),
        tag(
            "select",
            tag("option", "say so", value=""),
            tag("option", "post nothing", value="yes"),
            id="quiet",
            name="quiet",
        ),
    ]
    return _card(fields, "Add schedule", f"{ROOT}/schedules")


def _card(fields: Sequence[Html], verb: str, action: str) -> Html:
    buttons = tag("div", tag("button", verb, type="submit", class_="main"), class_="buttons")
    return tag("form", *fields, buttons, method="post", action=action, class_="card")


def _field(name: str, words: str, *, required: bool = False, placeholder: str | None = None) -> Html:
    field = tag("input", id=name, name=name, required=required, placeholder=placeholder, autocomplete="off")
    return Html(tag("label", words, for_=name) + field)


def _area(name: str, words: str, *, required: bool = False) -> Html:
    area = tag("textarea", id=name, name=name, required=required, rows="3", maxlength="20000")
    return Html(tag("label", words, for_=name) + area)
