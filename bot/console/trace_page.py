"""The page of what happened to a message: a field to look for it, the newest ones, and one story from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, filled, tag
from bot.console.layout import badge, moment, nothing, page, table, where
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible, visible
from runtime.text.retold import retold
from runtime.text.words import decimal, marked, say
from runtime.timeline import What, ahead

PLACE: Final = "/console/trace"
HEADS: Final = (marked("When"), marked("State"), marked("Who"), marked("Text"), marked("Room"))
# Where a person should look first.
TONES: Final = {
    What.ANSWERED: "good",
    What.SHOWN: "good",
    What.FOUND: "good",
    What.DECIDED: "good",
    What.ASKED: "ask",
    What.PARKED: "ask",
    What.HELD: "ask",
    What.STOP_ASKED: "ask",
    What.DOUBT: "ask",
    What.RETRY: "ask",
    What.REPEAT: "ask",
    What.RESTORED: "ask",
    What.RESUMED: "live",
    What.REFUSED: "bad",
    What.FAILED: "bad",
    What.GIVEN_UP: "bad",
    What.PROCESS_ENDED: "bad",
    What.SET_ASIDE: "bad",
    What.CLICK_REFUSED: "bad",
}

ENDS: Final = (What.ANSWERED, What.FAILED, What.REFUSED, What.STOPPED, What.GIVEN_UP)


async def newest(request: web.Request, do: Operations) -> Html:
    """The field and the newest messages, or what was found of what was asked for in it."""
    asked = request.query.get("of", "").strip()
    told = await _found(asked, do) if asked else _list(say("Newest messages"), await do.traceable(limit=25))
    return page(say("Trace"), PLACE, search(asked), *told, refreshed=not asked)


async def story(request: web.Request, do: Operations) -> Html:
    found = await do.trace(request.match_info["id"])
    return page(say("Trace"), PLACE, search(""), *_told(found))


def search(asked: str) -> Html:
    """Form that asks for a message, by any id."""
    return tag(
        "form",
        tag("label", say("The id of a message, run, approval or delivery, or its first characters"), for_="of"),
        tag("input", id="of", name="of", value=asked or None, autocomplete="off", spellcheck="false", required=True),
        tag("div", tag("button", say("Show"), class_="main", type="submit"), class_="buttons"),
        method="get",
        action=PLACE,
        role="search",
    )


def link(about: str, words: str = "") -> Html:
    return tag("a", words or say("View timeline"), href=f"{PLACE}/{quote(about, safe='')}")


async def _found(asked: str, do: Operations) -> Sequence[Html]:
    try:
        return _told(await do.trace(asked))
    except Refusal as error:
        return [nothing(retold(str(error)))]


def _told(found: View) -> Sequence[Html]:
    return _story(found["trace"]) if found["trace"] else _list(say("Several match"), found["matches"])


def _list(caption: str, rows: Sequence[View]) -> Sequence[Html]:
    lines = (
        (
            tag("a", moment(row["at"]), href=_path(row["id"])),
            badge(row["state"]),
            row["who"],
            visible(row["text"], one_line=True),
            where(row),
        )
        for row in rows
    )
    return [tag("h2", caption), table(say("Messages"), HEADS, lines)]


def _story(told: View) -> Sequence[Html]:
    who = tag("p", legible(retold(f"{told['who']} {told['text']}")))
    trace = tag("code", told["run"] or told["about"])
    run = tag("a", trace, href=f"/console/runs/{quote(told['run'], safe='')}") if told["run"] else trace
    place = tag(
        "p", *filled(say("{time} in {room}, trace {trace}"), time=moment(told["began_at"]), room=where(told), trace=run)
    )
    now = tag("p", *_coded(retold(told["now"])), class_=f"now {_tone(told)}", role="note")
    times = [ahead(event["after"]) for event in told["events"]]
    events = [_event(event, time) for event, time in zip(told["events"], times, strict=True)]
    return [who, place, now, tag("ol", *events, class_="story")]


def _tone(told: View) -> str:
    if not told["over"]:
        return "live"
    ends = [event["what"] for event in told["events"] if event["what"] in ENDS]
    return TONES.get(ends[-1], "over") if ends else "good"


def _event(event: View, time: str) -> Html:
    node = tag("small", " ", say("on {node}", node=event["node"])) if event["node"] else None
    words = tag("span", legible(retold(event["words"])), node)
    at = tag("time", decimal(time), datetime=event["at"], data_relative=True)
    return tag("li", at, words, class_=TONES.get(event["what"], "over"))


def _coded(text: str) -> Sequence[str]:
    """Words of ours, with what stands in backticks as code."""
    pieces = text.split("`")
    return [tag("code", piece) if number % 2 else piece for number, piece in enumerate(pieces)]


def _path(about: str) -> str:
    return f"{PLACE}/{quote(about, safe='')}"
