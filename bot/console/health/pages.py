"""The page of the doctor's findings, and the page of the log: its last lines, and those that come."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from bot.console.health.nodes import nodes_part
from bot.console.html import Html, filled, tag
from bot.console.layout import badge, moment, nothing, page
from bot.http.event_stream import LOG_STREAM
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from bot.telemetry.ring import LEVELS
from runtime.contract import Level, Role
from runtime.text.glyphs import legible
from runtime.text.words import count, listed, marked, say, say_many

HEALTH_PLACE: Final = "/console/health"
LOGS_PLACE: Final = "/console/logs"
FILTERS: Final = ("level", "text", "trace", "room")
BUNDLE_WORDS: Final = marked(
    "For whoever helps you: version, settings without secrets, findings, numbers and log lines; no messages, names, addresses or secrets. Read it before you send it."
)
THIS_NODE: Final = marked("Lines of {label}, the process that shows you this page.")
OTHER_NODES: Final = marked(
    "Each node keeps its own: for those of {others}, open the console at their addresses, or read their logs."
)
WELL: Final = marked("All is well. Looked {time}")
WARNED: Final = marked("Nothing is broken, and there is something to look at ({number}). Looked {time}")
WRONG: Final = marked("Something is broken. Looked {time}")
DOCTOR_LOOKS: Final = marked("The doctor is looking. This takes up to two minutes.")
NO_LINES: Final = marked("No line of the log fits.")
FULL: Final = marked("Only the last few thousand lines are kept in memory. The log itself has them all.")


async def health(_request: web.Request, do: Operations) -> Html:
    told, members = await do.doctor(), await do.nodes()
    return page(
        say("Health"),
        HEALTH_PLACE,
        tag("h2", say("Doctor")),
        _state(told),
        tag(
            "form",
            tag("button", say("Look now"), type="submit", class_="main"),
            method="post",
            action=f"{ROOT}/doctor",
            data_meanwhile=say(DOCTOR_LOOKS),
        ),
        *_findings(told["findings"]),
        *nodes_part(members, is_owner=do.actor.person.role is Role.OWNER),
        tag("h2", say("Support bundle")),
        tag("p", say(BUNDLE_WORDS)),
        tag("p", tag("a", say("Download a support bundle"), href="/console/support.zip", download=True)),
        tag("h2", say("Log")),
        tag("p", tag("a", say("The last lines of the log"), href=LOGS_PLACE)),
    )


def _state(told: View) -> Html:
    if told["running"]:
        return tag("p", say(DOCTOR_LOOKS), class_="now live")
    if told["at"] is None:
        return nothing(say("The doctor hasn't looked since this process started."))
    if told["trouble"]:
        return tag("p", told["trouble"], class_="now bad")
    warnings = sum(row["level"] == Level.WARNING.value for row in told["findings"])
    fine = WARNED if warnings else WELL
    words = filled(say(fine if told["healthy"] else WRONG), number=count(warnings), time=moment(told["at"]))
    return tag("p", *words, class_="now good" if told["healthy"] else "now bad")


def _findings(rows: list[View]) -> list[Html]:
    """Findings to act on first, each with its fix; the others folded."""
    wrong = sorted((row for row in rows if row["level"] != Level.OK.value), key=lambda row: row["level"])
    fine = [row for row in rows if row["level"] == Level.OK.value]
    folded = tag(
        "details",
        tag("summary", say_many("{number} thing is in order", "{number} things are in order", len(fine))),
        tag("ul", *map(_fine, fine)),
        id="fine",
    )
    return [*map(_finding, wrong), *([folded] if fine else [])]


def _finding(row: View) -> Html:
    return tag(
        "article",
        tag("h3", badge(row["level"]), " ", legible(row["what"])),
        tag("p", legible(row["why"])) if row["why"] else None,
        tag("p", tag("b", say("Fix:")), " ", legible(row["fix"])) if row["fix"] else None,
        tag("p", tag("code", row["id"]), class_="faint"),
        class_="card",
    )


def _fine(row: View) -> Html:
    return tag("li", tag("code", row["id"]), " ", legible(row["what"]))


async def logs(request: web.Request, do: Operations) -> Html:
    asked = {name: request.query.get(name, "") for name in FILTERS}
    told = await do.logs(0, 200, *(asked[name] for name in FILTERS))
    query = urlencode({name: words for name, words in asked.items() if words})
    lines = tag(
        "ol",
        *map(_line, reversed(told["lines"])),
        id="log",
        class_="log",
        data_stream=f"{LOG_STREAM}?{query}",
        data_after=str(told["next"]),
    )
    return page(
        say("Logs"),
        LOGS_PLACE,
        _filter(asked),
        tag("p", _whose(told), class_="faint"),
        tag(
            "div",
            tag("button", say("Pause"), type="button", id="pause", aria_pressed="false"),
            tag("span", "", id="flow", role="status"),
            class_="buttons",
        ),
        tag("p", say(NO_LINES), class_="nothing", id="no-lines", hidden=bool(told["lines"])),
        lines,
        tag("p", say(FULL), class_="faint"),
        refreshed=False,
        script="logs.js",
    )


def _whose(told: View) -> str:
    """Name the node whose lines these are, and the live ones whose lines these aren't."""
    here = next((one["label"] for one in told["nodes"] if one["id"] == told["node"]), say("this process"))
    others = [one["label"] for one in told["nodes"] if one["id"] != told["node"]]
    more = f" {say(OTHER_NODES, others=listed(others))}" if others else ""
    return f"{say(THIS_NODE, label=here)}{more}"


def log_link(run: str) -> Html:
    return tag("a", say("See its log lines"), href=f"{LOGS_PLACE}?trace={quote(run, safe='')}")


def _filter(asked: dict[str, str]) -> Html:
    options = [
        tag("option", say("all"), value=""),
        *(
            tag(
                "option",
                say("{level} and worse", level=one) if one != LEVELS[-1] else one,
                value=one,
                selected=one == asked["level"],
            )
            for one in LEVELS
        ),
    ]
    return tag(
        "form",
        tag("label", say("Level"), tag("select", *options, name="level")),
        tag("label", say("Text"), _input("text", asked)),
        tag("label", say("Trace, run or other id"), _input("trace", asked)),
        tag("label", say("Conversation"), _input("room", asked)),
        tag("button", say("Filter"), type="submit", class_="main"),
        tag("a", say("Show all"), href=LOGS_PLACE) if any(asked.values()) else None,
        method="get",
        action=LOGS_PLACE,
        class_="filter",
        role="search",
    )


def _input(name: str, asked: dict[str, str]) -> Html:
    return tag("input", name=name, value=asked[name], maxlength="200", autocomplete="off")


def _line(line: View) -> Html:
    """The script makes the same of lines that come later."""
    at = tag("time", line["at"], datetime=line["at"], data_clock=True) if line["at"] else None
    fields = [
        tag("span", tag("b", f"{name} "), legible(value))
        for name, value in line["fields"].items()
        if name != "exception"
    ]
    trouble = line["fields"].get("exception")
    folded = tag("details", tag("summary", say("Traceback")), tag("pre", legible(trouble))) if trouble else None
    return tag(
        "li",
        at,
        badge(line["level"] or "-"),
        tag("span", legible(line["event"]), class_="words"),
        tag("span", *fields, class_="fields"),
        folded,
    )
