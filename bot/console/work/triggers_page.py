"""The page of triggers and hands: what begins by itself, when it did last, and how it is turned off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table
from bot.console.pieces import cut
from bot.console.schedules.pages import PLACE as SCHEDULES_PLACE
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible

TRIGGERS_PLACE: Final = "/console/triggers"
TRIGGER_HEADS: Final = ("Trigger", "Waits for", "State", "Fired", "Begins", "Actions")
HAND_HEADS: Final = ("Hand", "State", "When", "Next", "Last", "Reports to", "Actions")
NO_TRIGGERS: Final = "There are no triggers. Add them to the settings, or ask in a conversation: tell me when …"
NO_HANDS: Final = ("No hand is active. ", tag("code", "signalbox hands list"), " shows those that there are.")
BEGINS_CHARS: Final = 60
ANYWHERE: Final = "*"


async def triggers(_request: web.Request, do: Operations) -> Html:
    rows, hands = await do.triggers(), await do.hands()
    return page(
        "Triggers and hands",
        TRIGGERS_PLACE,
        table("Triggers", TRIGGER_HEADS, map(_trigger, rows)) if rows else nothing(NO_TRIGGERS),
        tag("h2", "Hands"),
        table("Hands", HAND_HEADS, map(_hand, hands)) if hands else tag("p", *NO_HANDS, class_="nothing"),
    )


def _trigger(row: View) -> Sequence[str | Html]:
    until = (", until ", moment(row["ends_at"], exact=True)) if row["ends_at"] else ()
    by = tag("div", "in the settings" if row["by_file"] else f"by {legible(row['by'])}", *until, class_="faint")
    to = tag("div", f"reports to {legible(row['to']) or 'its room'}", class_="faint")
    last = tag("div", moment(row["fired_at"]), class_="faint") if row["fired_at"] else None
    return (
        tag("span", tag("b", legible(row["name"])), by),
        _waits_for(row),
        _state(row),
        tag("span", str(row["fires"]), last),
        tag("span", cut(row["begins"], BEGINS_CHARS), to),
        _turns(row),
    )


def _waits_for(row: View) -> Html:
    """The event, the words, and the rooms in which it counts: one that somebody asked for watches the room of its reports."""
    words = f": {legible(row['words'])}" if row["words"] else ""
    where = "in that room" if not row["by_file"] else f"in {legible(row['room'])}" if row["room"] != ANYWHERE else ""
    room = tag("div", where, class_="faint") if where else None
    return tag("span", f"{row['on'].replace('_', ' ')}{words}", room)


def _state(row: View) -> Html:
    why = tag("div", legible(row["reason"]), class_="faint") if row["reason"] else None
    return tag("span", badge(row["state"]), why)


def _turns(row: View) -> Html:
    verbs = [("pause", "Pause", "")] if row["state"] == "active" else [("resume", "Resume", "")]
    if not row["by_file"]:
        verbs.append(("end", "End", f"End the trigger {row['name']}?"))
    return tag(
        "div",
        *(_form(f"triggers/{quote(row['id'], safe='')}/{verb}", *more) for verb, *more in verbs),
        class_="buttons",
    )


def _hand(row: View) -> Sequence[str | Html]:
    name = tag("a", legible(row["hand"]), href=f"{SCHEDULES_PLACE}/{quote(row['id'], safe='')}")
    last = tag("span", moment(row["last_at"]), " ", badge(row["last_state"])) if row["last_at"] else "-"
    verb, word = ("pause", "Pause") if row["state"] == "active" else ("resume", "Resume")
    place = f"schedules/{quote(row['id'], safe='')}"
    forms = tag("div", _form(f"{place}/{verb}", word, ""), _form(f"{place}/run", "Run now", ""), class_="buttons")
    return name, _state(row), row["when"], moment(row["next_at"]), last, legible(", ".join(row["rooms"])), forms


def _form(place: str, word: str, ask: str) -> Html:
    return tag(
        "form", tag("button", word, type="submit"), method="post", action=f"{ROOT}/{place}", data_ask=ask or None
    )
