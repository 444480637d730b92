"""The page of triggers and hands: what begins by itself, when it did last, and how it is turned off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, filled, tag
from bot.console.layout import badge, kind_words, moment, nothing, page, table
from bot.console.pieces import cut
from bot.console.schedules.pages import PLACE as SCHEDULES_PLACE
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import count, marked, say

TRIGGERS_PLACE: Final = "/console/triggers"
TRIGGER_HEADS: Final = (
    marked("Trigger"),
    marked("Waits for"),
    marked("State"),
    marked("Fired"),
    marked("Begins"),
    marked("Actions"),
)
HAND_HEADS: Final = (
    marked("Hand"),
    marked("State"),
    marked("When"),
    marked("Next"),
    marked("Last"),
    marked("Reports to"),
    marked("Actions"),
)
NO_TRIGGERS: Final = marked(
    "There are no triggers. Add them to the settings, or ask in a conversation: `tell me when …`."
)
NO_HANDS: Final = marked("No hand is active. {command} shows those that there are.")
BEGINS_CHARS: Final = 60
ANYWHERE: Final = "*"


async def triggers(_request: web.Request, do: Operations) -> Html:
    rows, hands = await do.triggers(), await do.hands()
    return page(
        say("Triggers and hands"),
        TRIGGERS_PLACE,
        table(say("Triggers"), TRIGGER_HEADS, map(_trigger, rows)) if rows else nothing(say(NO_TRIGGERS)),
        tag("h2", say("Hands")),
        table(say("Hands"), HAND_HEADS, map(_hand, hands)) if hands else _no_hands(),
    )


def _no_hands() -> Html:
    return tag("p", *filled(say(NO_HANDS), command=tag("code", "signalbox hands list")), class_="nothing")


def _trigger(row: View) -> Sequence[str | Html]:
    by = tag("div", *_by(row), class_="faint")
    to = tag("div", say("reports to {room}", room=legible(row["to"]) or say("its room")), class_="faint")
    last = tag("div", moment(row["fired_at"]), class_="faint") if row["fired_at"] else None
    return (
        tag("span", tag("b", legible(row["name"])), by),
        _waits_for(row),
        _state(row),
        tag("span", count(row["fires"]), last),
        tag("span", cut(row["begins"], BEGINS_CHARS), to),
        _turns(row),
    )


def _by(row: View) -> Sequence[str | None]:
    """Words on who wants it, and until when."""
    who = say("in the settings") if row["by_file"] else say("by {name}", name=legible(row["by"]))
    if not row["ends_at"]:
        return [who]
    return filled(say("{who}, until {time}"), who=who, time=moment(row["ends_at"], exact=True))


def _waits_for(row: View) -> Html:
    """The event, the words, and the rooms in which it counts: one that somebody asked for watches the room of its reports."""
    words = f": {legible(row['words'])}" if row["words"] else ""
    room = tag("div", _place_of(row), class_="faint") if not row["by_file"] or row["room"] != ANYWHERE else None
    return tag("span", f"{kind_words(row['on'])}{words}", room)


def _place_of(row: View) -> str:
    return say("in {room}", room=legible(row["room"])) if row["by_file"] else say("in that room")


def _state(row: View) -> Html:
    why = tag("div", legible(retold(row["reason"])), class_="faint") if row["reason"] else None
    return tag("span", badge(row["state"]), why)


def _turns(row: View) -> Html:
    verbs = [("pause", say("Pause"), "")] if row["state"] == "active" else [("resume", say("Resume"), "")]
    if not row["by_file"]:
        verbs.append(("end", say("End"), say("End the trigger {name}?", name=row["name"])))
    return tag(
        "div",
        *(_form(f"triggers/{quote(row['id'], safe='')}/{verb}", *more) for verb, *more in verbs),
        class_="buttons",
    )


def _hand(row: View) -> Sequence[str | Html]:
    name = tag("a", legible(row["hand"]), href=f"{SCHEDULES_PLACE}/{quote(row['id'], safe='')}")
    last = tag("span", moment(row["last_at"]), " ", badge(row["last_state"])) if row["last_at"] else "-"
    verb, word = ("pause", say("Pause")) if row["state"] == "active" else ("resume", say("Resume"))
    place = f"schedules/{quote(row['id'], safe='')}"
    forms = tag("div", _form(f"{place}/{verb}", word, ""), _form(f"{place}/run", say("Run now"), ""), class_="buttons")
    return name, _state(row), row["when"], moment(row["next_at"]), last, legible(", ".join(row["rooms"])), forms


def _form(place: str, word: str, ask: str) -> Html:
    return tag(
        "form", tag("button", word, type="submit"), method="post", action=f"{ROOT}/{place}", data_ask=ask or None
    )
