"""The frame of every console page, and the pieces that several of them use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from bot.console.html import Html, join, tag, with_code
from bot.operator.views import View
from runtime.text.words import ENGLISH, LANGUAGE_NAMES, language, marked, say

STATIC: Final = "/console/static"
PLACES: Final = (
    ("/console", "Overview"),
    ("/console/approvals", "Approvals"),
    ("/console/grants", "Grants"),
    ("/console/runs", "Runs"),
    ("/console/outbox", "Outbox"),
    ("/console/reports", "Reports"),
    ("/console/schedules", "Schedules"),
    ("/console/tasks", "Tasks"),
    ("/console/children", "Handed on"),
    ("/console/workflows", "Workflows"),
    ("/console/goals", "Goals"),
    ("/console/triggers", "Triggers"),
    ("/console/memory", "Memory"),
    ("/console/skills", "Skills"),
    ("/console/knowledge", "Knowledge"),
    ("/console/agents", "Agents"),
    ("/console/models", "Models"),
    ("/console/people", "People"),
    ("/console/tokens", "Tokens"),
    ("/console/settings", "Settings"),
    ("/console/trace", "Trace"),
    ("/console/events", "Events"),
    ("/console/feedback", "Feedback"),
    ("/console/health", "Health"),
    ("/console/logs", "Logs"),
)
HEADINGS: Final = {
    "/console": "Now",
    "/console/schedules": "Work",
    "/console/memory": "Agents",
    "/console/people": "Access",
    "/console/trace": "Record",
}
"""Words above the first of the places that belong together."""
# How a state looks: it wants a person, it goes on by itself, it ended well, it ended badly, it is over.
TONES: Final = {
    "pending": "ask",
    "parked": "ask",
    "asked": "ask",
    "held": "ask",
    "running": "live",
    "live": "good",
    "draining": "ask",
    "lost": "bad",
    "ready": "live",
    "queued": "live",
    "open": "live",
    "marked": "live",
    "done": "good",
    "shown": "good",
    "approved": "good",
    "answered": "good",
    "failed": "bad",
    "dead": "bad",
    "denied": "bad",
    "danger": "bad",
    "connecting": "live",
    "connected": "good",
    "reconnecting": "live",
    "deaf": "bad",
    "refused": "bad",
    "write": "ask",
    "active": "good",
    "no effect": "ask",
    "ok": "good",
    "nearly spent": "ask",
    "spent": "bad",
    "paused": "ask",
    "planned": "live",
    "claimed": "live",
    "started": "live",
    "waiting": "ask",
    "late": "bad",
    "well": "good",
    "resting": "bad",
    "tried again": "ask",
    "fails": "bad",
    "missing": "bad",
    "said": "good",
    "staged": "ask",
    "low": "bad",
    "at work": "live",
    "about to begin": "live",
    "being judged": "live",
    "accepted": "good",
    "not accepted": "bad",
    "succeeded": "good",
    "read": "good",
    "warning": "ask",
    "error": "bad",
    "critical": "bad",
    "revoked": "over",
    "expired": "over",
    "used": "over",
    "trusted": "good",
    "unreadable": "bad",
    "stopped": "over",
    "not met": "bad",
    "skipped": "over",
    "ended": "over",
    "removed": "over",
    "discarded": "over",
    "unsettled": "ask",
    "handed": "live",
    "cancelled": "over",
}
KIND_WORDS: Final = {
    "approval": marked("question"),
    "final": marked("answer"),
    "report": marked("report"),
    "progress": marked("progress"),
    "tool": marked("tool"),
    "prompt": marked("prompt"),
    "delegate": marked("handed to an agent"),
    "ask": marked("question to a person"),
    "wait": marked("wait"),
    "post": marked("post"),
    "words": marked("a message"),
    "file_arrived": marked("a file arrives"),
    "webhook": marked("a webhook"),
    "reaction": marked("a rating"),
    "approval_expired": marked("a question expires"),
    "delivery_dead": marked("a message can't be sent"),
    "schedule_failed": marked("a schedule fails"),
    "task_done": marked("a task is done"),
    "task_failed": marked("a task fails"),
    "agent_spawned": marked("an agent begins"),
    "agent_suspended": marked("an agent is suspended"),
    "agent_resumed": marked("an agent goes on"),
    "agent_terminated": marked("an agent ends"),
}
"""Kinds of messages, of steps of a workflow, and of events that a trigger waits for, as people read them."""


def page(
    title: str, path: str, *content: str | None, refreshed: bool = True, script: str = "", style: str = ""
) -> Html:
    """A whole page. What stands in `content` is fetched anew every few seconds if `refreshed`; `script` and `style` are one more of ours each."""
    return _whole(title, _sidebar(path), *content, refreshed=refreshed, script=script, style=style)


def own_page(title: str, *content: str | None, console: bool) -> Html:
    """A page for everybody, in the console's look: its places are only shown to whom it is (`console`)."""
    to_console = tag("a", say("Console"), href="/console", class_="to-talk") if console else None
    side = tag("header", tag("div", _brand(), _to_talk(), to_console, _languages(), class_="side"), class_="sidebar")
    return _whole(title, side, *content, refreshed=False)


def _whole(title: str, sidebar: Html, *content: str | None, refreshed: bool, script: str = "", style: str = "") -> Html:
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Signalbox"),
        tag("meta", name="theme-color", content="#f7f6f2", media="(prefers-color-scheme: light)"),
        tag("meta", name="theme-color", content="#13171b", media="(prefers-color-scheme: dark)"),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="manifest", href="/static/app.webmanifest", crossorigin="use-credentials"),
        tag("link", rel="stylesheet", href="/static/colours.css"),
        tag("link", rel="stylesheet", href=f"{STATIC}/console.css"),
        tag("link", rel="stylesheet", href=f"{STATIC}/{style}") if style else None,
        tag("script", src=f"{STATIC}/console.js", defer=True),
        tag("script", src=f"{STATIC}/{script}", defer=True) if script else None,
    )
    live = tag("div", tag("h1", title), *content, id="live", data_refreshed=refreshed)
    said = tag("p", id="said", role="status", aria_live="polite")
    body = tag("body", _skip(), sidebar, tag("main", said, live, id="main", tabindex="-1"), data_words=_script_words())
    return join([Html("<!doctype html>"), tag("html", head, body, lang=language())])


@cache
def _texts(name: str) -> str:
    """The texts of the scripts and, since these tell what came of a press, the states."""
    texts = json.loads(files(__package__).joinpath("static", f"words.{name}.json").read_text(encoding="utf-8"))
    return json.dumps({state: say(state) for state in TONES} | texts, ensure_ascii=False)


def _script_words() -> str | None:
    """Texts that the pages' scripts say, for a reader of another language than theirs."""
    return None if language() == ENGLISH else _texts(language())


def kind_words(kind: str) -> str:
    return say(KIND_WORDS.get(kind, kind))


def badge(state: str) -> Html:
    return tag("span", say(state), class_=f"badge {TONES.get(state, 'over')}")


def moment(iso: str | None, *, exact: bool = False) -> Html:
    """A time; the script shows how long ago it was, and when exactly, in the reader's own zone, to whoever points at it.

    With `exact` the time itself is shown, as after "until".
    """
    if iso is None:
        return tag("span", "-", class_="faint")
    utc = datetime.fromisoformat(iso).astimezone(UTC)
    return tag("time", f"{utc:%Y-%m-%d %H:%M} UTC", datetime=iso, data_exact=exact)


def where(row: View) -> Html:
    """A room by its name; its address for whoever points at it."""
    return tag("span", row["room"], title=row["address"])


def breaking(path: str) -> Html:
    """The path of a file, which breaks behind a slash and not in the midst of a name."""
    return join([Html(escape(part) + "<wbr>") if part.endswith("/") else part for part in re.split(r"(?<=/)", path)])


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Html:
    """A table that becomes a list of cards on a narrow screen: each cell knows the head of its column.

    Where it is wider than its place it scrolls, with a shadow at the side where more of it is.
    """
    names = list(heads)
    lines = [
        tag(
            "tr",
            *(tag("td", cell, data_head=say(name), data_column=name) for name, cell in zip(names, row, strict=True)),
        )
        for row in rows
    ]
    if not lines:
        return nothing(f"No {caption.lower()}." if language() == ENGLISH else say("Nothing here."))
    made = tag(
        "table",
        tag("caption", caption, class_="hidden"),
        tag("thead", tag("tr", *(tag("th", say(name), scope="col") for name in names))),
        tag("tbody", *lines),
    )
    return tag("div", made, class_="wide", role="group", aria_label=caption)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="facts")


def nothing(words: str) -> Html:
    """Say why a list is empty; what one types is in backticks."""
    return tag("p", *with_code(words), class_="nothing")


def tabs(label: str, path: str, states: Iterable[str], chosen: str) -> Html:
    """Links that narrow a list to one state."""
    links = [(say("all"), ""), *((say(state), state) for state in states)]
    return tag(
        "nav",
        *(
            tag("a", word, href=f"{path}?state={state}" if state else path, aria_current=_current(state == chosen))
            for word, state in links
        ),
        class_="tabs",
        aria_label=label,
    )


def _skip() -> Html:
    return tag("a", say("Skip to content"), href="#main", class_="skip")


def _sidebar(path: str) -> Html:
    """The frame of the conversations, with the places of the console; on a phone these are folded under the name of this one."""
    here = max((place for place in PLACES if path.startswith(place[0])), key=lambda place: len(place[0]))
    folded = tag("details", tag("summary", say(here[1])), _places(path), _languages(), class_="folded")
    return tag(
        "header", tag("div", _brand(), _to_talk(), _places(path), folded, _languages(), class_="side"), class_="sidebar"
    )


def _brand() -> Html:
    return tag("span", tag("img", src="/static/icon.svg", alt="", width="30", height="30"), "Signalbox", class_="brand")


def _to_talk() -> Html:
    return tag("a", say("Conversations"), href="/", class_="to-talk")


def _places(path: str) -> Html:
    links = []
    for place, name in PLACES:
        if place in HEADINGS:
            links.append(tag("span", say(HEADINGS[place]), class_="heading"))
        links.append(tag("a", say(name), href=place, aria_current=_current(place == path)))
    return tag("nav", *links, aria_label=say("Console"))


def _languages() -> Html:
    """A choice of languages, each in its own words."""
    chosen = language()
    buttons = [
        tag("button", words, type="button", lang=name, data_language=name, aria_pressed=str(name == chosen).lower())
        for name, words in LANGUAGE_NAMES.items()
    ]
    return tag("div", *buttons, class_="languages", role="group", aria_label=say("Language"))


def _current(is_here: bool) -> str | None:
    return "page" if is_here else None
