"""The pages of what is planned: all schedules, one with what is next and what was, and the form of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from aiohttp import web

from bot.console import pieces
from bot.console.html import Html, filled, tag
from bot.console.layout import badge, facts, moment, nothing, page, table, tabs
from bot.console.runs.timeline import lasting
from bot.console.schedules.form import THREAD_LABELS, preview_place, schedule_form
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.dates import weekday
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import decimal, marked, say

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

PLACE: Final = "/console/schedules"
HEADS: Final = (
    marked("Name"),
    marked("State"),
    marked("Next"),
    marked("When"),
    marked("Room"),
    marked("By"),
    marked("Actions"),
)
PAST: Final = (
    marked("Planned"),
    marked("State"),
    marked("Took"),
    marked("Posted"),
    marked("Tries"),
    marked("Reason"),
    marked("Run"),
)
TASK_HEADS: Final = {"template": marked("Template"), "report": marked("Report"), "workflow": marked("Workflow")}
SCRIPT: Final = "schedules.js"
MISSED: Final[View] = {
    "skip": marked("skip"),
    "once": marked("run once"),
    "all": marked("run every one"),
    "window": marked("run recent ones"),
}
# What can be done with it, by its state.
TURNS: Final = {"active": ("pause",), "paused": ("resume",), "ended": ()}
VERBS: Final = {
    "pause": marked("Pause"),
    "resume": marked("Resume"),
    "run": marked("Run now"),
    "remove": marked("Delete"),
}


async def schedules(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.schedules(state)
    tabbed = tabs(say("State"), PLACE, TURNS, state)
    lines = ((link(row), _state(row), _next(row), row["when"], _rooms(row), _by(row), _turn(row)) for row in rows)
    new = tag("p", tag("a", say("New schedule"), href=f"{PLACE}/new", class_="button main"))
    return page(say("Schedules"), PLACE, new, tabbed, table(say("Schedules"), HEADS, lines))


async def new_schedule(_request: web.Request, do: Operations) -> Html:
    form = schedule_form(await do.reports(), await _own_zone(do))
    return page(say("New schedule"), PLACE, form, refreshed=False, script=SCRIPT)


async def edited_schedule(request: web.Request, do: Operations) -> Html:
    row = await do.schedule(request.match_info["id"])
    back = tag("p", link(row))
    if row["by_file"]:
        return page(say("Change schedule"), PLACE, back, _in_file(row), refreshed=False)
    form = schedule_form(await do.reports(), row["zone"], row)
    return page(say("Change schedule"), PLACE, back, form, refreshed=False, script=SCRIPT)


async def _own_zone(do: Operations) -> str:
    """The zone in which this person's words are read."""
    return str((await do.preview_schedule({"when": "every day at 9"}))["zone"])


async def schedule(request: web.Request, do: Operations) -> Html:
    row = await do.schedule(request.match_info["id"])
    return page(
        row["name"],
        PLACE,
        facts(_facts(row)),
        _in_file(row) if row["by_file"] else None,
        _turn(row, whole=True),
        tag("h2", say(TASK_HEADS.get(row["kind"], marked("Task")))),
        tag("pre", legible(row["task"]), tabindex="0"),
        *_look(row),
        tag("h2", say("Next")),
        _coming(row),
        tag("h2", say("Last 20 runs")),
        table(say("Past runs"), PAST, map(_past, row["history"])),
        script=SCRIPT,
    )


def _look(row: View) -> Iterator[Html]:
    """A look at the report as it would be now, where no agent has to write it."""
    if row["kind"] in ("template", "report"):
        yield tag(
            "div",
            tag("button", say("Show a preview"), type="button", data_preview=row["id"], aria_controls="preview"),
            class_="buttons",
        )
        yield preview_place()


def _in_file(row: View) -> Html:
    sentence = say("It stands in the settings, so it is changed there and not here: {place}. Then reload them.")
    return tag("p", *filled(sentence, place=tag("code", row["source"] or say("the settings file"))))


def link(row: View) -> Html:
    return tag("a", row["name"], href=f"{PLACE}/{quote(row['id'], safe='')}")


def _facts(row: View) -> Iterator[tuple[str, str]]:
    yield say("State"), _state(row)
    if row["reason"]:
        yield say("Reason"), retold(row["reason"])
    if row["failures"]:
        yield say("Failures in a row"), str(row["failures"])
    yield say("When"), row["when"]
    yield say("Rooms"), _rooms(row)
    yield say("By"), _by(row)
    for name, words in (("starts_at", say("Not before")), ("ends_at", say("Not after"))):
        if row[name]:
            yield words, moment(row[name])
    yield from _terms(row["terms"])


def _terms(terms: View) -> Iterator[tuple[str, str]]:
    yield say("If missed"), say(str(MISSED.get(terms["misfire"], terms["misfire"])))
    if terms["quiet"]:
        yield say("If nothing is new"), say("post nothing")
    if terms["thread"] != "room":
        yield say("Thread"), say(str(THREAD_LABELS.get(terms["thread"], terms["thread"])))
    if terms["max_cost"]:
        yield say("Daily limit"), say("${amount}", amount=decimal(f"{terms['max_cost']:g}"))


def _state(row: View) -> Html:
    return badge(row["state"])


def _next(row: View) -> Html:
    return moment(next(iter(row["next"]), None))


def _rooms(row: View) -> Html:
    """By their names; their addresses for whoever points at them."""
    return tag("span", ", ".join(row["rooms"]), title=", ".join(row["to"]))


def _by(row: View) -> str:
    return say("settings file") if row["by_file"] else row["owner"]


def _coming(row: View) -> Html:
    from zoneinfo import ZoneInfo  # not loaded where nobody looks

    if row["state"] == "paused":
        return nothing(say("It's paused and won't run until you resume it."))
    if not row["next"]:
        return nothing(say("It has no further runs."))
    zone = ZoneInfo(row["zone"])
    return tag(
        "ol", *(tag("li", moment(instant, exact=True), _by_its_clocks(instant, zone)) for instant in row["next"])
    )


def _by_its_clocks(instant: str, zone: ZoneInfo) -> Html:
    """The reader's clocks may be others than the schedule's."""
    at = datetime.fromisoformat(instant).astimezone(zone)
    there = f"{weekday(at)} {at:%H:%M}"
    return tag("span", " · ", say("{time} in {zone}", time=there, zone=zone.key), class_="faint")


def _past(one: View) -> Sequence[str]:
    why = retold(one["reason"]) or (say("no news") if one["silent"] else say("run by hand") if one["manual"] else "-")
    run = tag("a", say("Steps"), href=f"/console/runs/{quote(one['run'], safe='')}") if one["run"] else "-"
    return (
        moment(one["planned_at"]),
        badge(one["state"]),
        _took(one),
        _posts(one),
        str(one["attempts"]),
        legible(why),
        run,
    )


def _took(one: View) -> str:
    return "-" if one["seconds"] is None else lasting(one["seconds"])


def _posts(one: View) -> Html | str:
    """The messages in which its report stands, by room, each with how it went where it isn't on screen."""
    if not one["posted"]:
        return f"{one['shown']}/{one['wanted']}" if one["wanted"] else "-"
    return pieces.posts(one["posted"])


def _turn(row: View, *, whole: bool = False) -> Html:
    """Buttons for what can be done with it: for all of that where it is `whole`."""
    verbs = [*TURNS.get(row["state"], ()), "run"]
    change = None
    if whole and not row["by_file"]:
        verbs.append("remove")
        change = tag("a", say("Change"), href=f"{PLACE}/{quote(row['id'], safe='')}/edit", class_="button")
    return tag("div", change, *(_button(row, verb) for verb in verbs), class_="buttons")


def _button(row: View, verb: str) -> Html:
    return tag(
        "form",
        tag("button", say(VERBS[verb]), type="submit"),
        method="post",
        action=_action(row, f"/{verb}"),
        data_ask=say("Delete {name}? It won't run again. What it posted stays.", name=row["name"])
        if verb == "remove"
        else None,
        data_then=PLACE if verb == "remove" else None,
    )


def _action(row: View, way: str = "") -> str:
    return f"{ROOT}/schedules/{quote(row['id'], safe='')}{way}"
