"""The pages of events, with what stands last on screen and how far sinks have got, and of feedback."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from bot.console import trace_page
from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table, where
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.domain.events.words import GROUPS
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible
from runtime.text.words import marked, say

EVENTS_PLACE: Final = "/console/events"
FEEDBACK_PLACE: Final = "/console/feedback"
EVENT_HEADS: Final = (marked("No."), marked("When"), marked("Event"), marked("Who"), marked("Room"), marked("Details"))
SINK_HEADS: Final = (marked("Sink"), marked("State"), marked("Behind"), marked("Got on"), marked("Trouble"))
CHECKPOINT_HEADS: Final = (marked("Room"), marked("Shown"), marked("What"), marked("Message"), marked("Part"))
FEEDBACK_HEADS: Final = (
    marked("When"),
    marked("Rating"),
    marked("Person"),
    marked("Of"),
    marked("Words"),
    marked("Room"),
    marked("Run"),
)
EVENTS_SHOWN: Final = 100
LOOKED_BACK: Final = 20_000
"""Numbers behind the newest among which a filter looks."""
FEEDBACK_DAYS: Final = 90
ID_OF_ROW: Final = re.compile(r"\b0[0-9A-Za-z]{21}\b(?:/\d+)*")
"""An id as `new_id` makes them, and steps below it: whoever wants one follows the link."""


async def events(request: web.Request, do: Operations) -> Html:
    room, word = request.query.get("room", "").strip(), request.query.get("word", "").strip()
    shown = await _newest(do, room, word) if "before" not in request.query else await _before(request, do, room, word)
    first = shown[0]["number"] if shown else 0
    names = {
        told: person["name"] for person in await do.people() for one in person["identities"] for told in _told_as(one)
    }
    older = f"{EVENTS_PLACE}?{urlencode({'room': room, 'word': word, 'before': first})}"
    return page(
        say("Events"),
        EVENTS_PLACE,
        _filter(room, word),
        table(say("Events"), EVENT_HEADS, [_event(row, names) for row in reversed(shown)]),
        tag("p", tag("a", say("Older ones"), href=older)) if len(shown) == EVENTS_SHOWN else None,
        tag("h2", say("Last on screen")),
        table(say("Checkpoints"), CHECKPOINT_HEADS, map(_checkpoint, await do.checkpoints(room))),
        *_sinks(await do.event_sinks()),
        refreshed="before" not in request.query,
    )


async def _newest(do: Operations, room: str, word: str) -> list[View]:
    head = (await do.events(0, 1))["newest"]
    back = LOOKED_BACK if room or word else EVENTS_SHOWN
    return await _between(do, head - back, head, room, word)


async def _before(request: web.Request, do: Operations, room: str, word: str) -> list[View]:
    text = request.query["before"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise Refusal(400, say("`before` must be the number of an event."))
    upto = int(text) - 1
    return await _between(do, upto - (LOOKED_BACK if room or word else EVENTS_SHOWN), upto, room, word)


async def _between(do: Operations, after: int, upto: int, room: str, word: str) -> list[View]:
    """The last of the events behind `after` up to `upto`."""
    oldest = (await do.events(0, 1))["oldest"]
    found, reached = list[View](), max(after, oldest - 1, 0)
    while reached < upto:
        told = await do.events(reached, 500, room, word=word)
        found = [*found, *(one for one in told["events"] if one["number"] <= upto)][-EVENTS_SHOWN:]
        if told["next"] == reached:
            break
        reached = told["next"]
    return found


def _filter(room: str, word: str) -> Html:
    words = sorted({one.word for group in GROUPS.values() for one in group.values()})
    groups = sorted({f"{one.partition('.')[0]}.*" for one in words})
    picks = [tag("option", say("Every event"), value="", selected=not word)]
    picks += [tag("option", one, value=one, selected=one == word) for one in (*groups, *words)]
    return tag(
        "form",
        tag("label", say("Event"), tag("select", *picks, name="word")),
        tag("label", say("Room"), tag("input", name="room", value=room, placeholder=say("#general, or its address"))),
        tag("button", say("Show"), type="submit"),
        method="get",
        action=EVENTS_PLACE,
        class_="filter",
    )


def _told_as(identity: str) -> tuple[str, str]:
    """Ways in which the audit writes a person's account: whole, and without its channel."""
    return identity, identity.partition(":")[2]


def _who(who: str, names: Mapping[str, str]) -> str:
    """By name; what a run did, an agent did: its trace has more."""
    named = names.get(who, who)
    return say("an agent") if ID_OF_ROW.fullmatch(named) else legible(named) or "-"


def _event(row: View, names: Mapping[str, str]) -> tuple[str, ...]:
    return (
        str(row["number"]),
        moment(row["at"]),
        tag("code", row["event"]),
        _who(row["who"], names),
        where(row) if row["room"] else "-",
        _details(row, names),
    )


def _details(row: View, names: Mapping[str, str]) -> Html:
    """Words of an event; its id is behind a link, for whoever goes after it."""
    about = row["run"] or (row["about"] if ID_OF_ROW.fullmatch(row["about"]) else "")
    told = ID_OF_ROW.sub(lambda found: names.get(found[0], ""), f"{row['about']} {row['detail']}")
    words = legible(" ".join(told.split()))
    return tag(
        "span", words, " " if words and about else None, trace_page.link(about, say("timeline")) if about else None
    )


def _sinks(rows: Sequence[View]) -> Sequence[Html]:
    if not rows:
        return []
    lines = (
        (
            row["sink"],
            badge("fails" if row["failing_since"] else "ok"),
            f"{row['behind']:,}",
            moment(row["at"]),
            legible(row["fault"]) or "-",
        )
        for row in rows
    )
    return [tag("h2", say("Sinks")), table(say("Sinks"), SINK_HEADS, lines)]


def _checkpoint(row: View) -> tuple[str, ...]:
    shown = tag("a", moment(row["shown_at"]), href=f"/console/outbox/{quote(row['delivery'], safe='')}")
    return where(row), shown, row["kind"], tag("code", row["message"] or "-"), str(row["part"])


async def feedback(request: web.Request, do: Operations) -> Html:
    try:
        rows = await do.feedback(FEEDBACK_DAYS, request.query.get("room", ""), 500)
    except Refusal as error:
        return page(say("Feedback"), FEEDBACK_PLACE, nothing(str(error)), refreshed=False)
    good = sum(row["value"] == "up" for row in rows)
    counts = tag(
        "ul", tag("li", tag("b", str(good)), "👍"), tag("li", tag("b", str(len(rows) - good)), "👎"), class_="counts"
    )
    about = tag("p", say("The last {number} days, the newest first.", number=FEEDBACK_DAYS))
    return page(
        say("Feedback"), FEEDBACK_PLACE, counts, about, table(say("Ratings"), FEEDBACK_HEADS, map(_rated, rows))
    )


def _rated(row: View) -> tuple[str, ...]:
    return (
        moment(row["at"]),
        "👍" if row["value"] == "up" else "👎",
        legible(row["person"]),
        legible(row["said"]) or say("no longer kept"),
        legible(row["words"]) or "-",
        where(row),
        trace_page.link(row["run"], say("timeline")) if row["run"] else "-",
    )
