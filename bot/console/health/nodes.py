"""The nodes on the page Health: each with what it has, and the buttons that have it leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, table
from bot.operator.api import ROOT
from bot.operator.views import View
from runtime.text.glyphs import legible
from runtime.text.words import count, listed, marked, say

NODE_HEADS: Final = (
    *(marked("Node"), marked("State"), marked("Program"), marked("Since"), marked("Last sign"), marked("At work")),
    *(marked("Accounts and roles"), marked("Clock"), marked("Change")),
)
DIFFERENT: Final = marked(
    "The nodes have different settings: {names}. What somebody gets depends on the node that serves them."
)
DRAIN_ASKED: Final = marked(
    "Drain {name}? It takes nothing more in, hands its accounts and rooms over, finishes what is at work within ten minutes, and ends."
)
LAST_NODE: Final = marked("It's the only one: nothing is answered until the next start.")
REMOVE_ASKED: Final = marked("Remove {name}? Do so only if it doesn't come back. Its work goes on elsewhere at once.")


def nodes_part(rows: list[View], *, is_owner: bool) -> Iterator[Html]:
    """Buttons are for owners: whoever drains the last node ends what only somebody at its machine can start again."""
    yield tag("h2", say("Nodes"))
    live = [row for row in rows if row["state"] in ("live", "draining")]
    differs = sorted({name for row in live for name in row["differs"]})
    if differs:
        yield tag("p", say(DIFFERENT, names=listed(differs)), class_="now bad")
    heads = NODE_HEADS if is_owner else NODE_HEADS[:-1]
    yield table(say("Nodes"), heads, [_cells(row, is_last=len(live) == 1)[: len(heads)] for row in rows])


def _cells(row: View, *, is_last: bool) -> list[Html]:
    held = [*row["accounts"], *(role for role in row["roles"] if not role.startswith("courier:"))]
    return [
        tag("span", legible(row["name"]), title=row["id"]),
        tag("span", badge(row["state"]), *(tag("span", " ", legible(words), class_="faint") for words in row["notes"])),
        tag("span", row["version"] or "-", title=row["schema"] or None),
        moment(row["since"]),
        moment(row["beat_at"]),
        tag("span", count(row["at_work"])),
        tag("span", *(tag("span", legible(name), " ") for name in held) if held else "-"),
        tag("span", _clock(row["clock_offset_seconds"])),
        _change(row, is_last=is_last),
    ]


def _clock(seconds: float | None) -> str:
    return "-" if seconds is None else f"{round(seconds, 1) or 0.0:+.1f}\u00a0s"


def _change(row: View, *, is_last: bool) -> Html:
    match row["state"]:
        case "live":
            ask = say(DRAIN_ASKED, name=row["name"]) + (f" {say(LAST_NODE)}" if is_last else "")
            return _form(row, "drain", say("Drain"), ask)
        case "late":
            return _form(row, "remove", say("Remove"), say(REMOVE_ASKED, name=row["name"]))
        case "draining":
            return moment(row["drain_until"])
        case _:
            return tag("span", "-", class_="faint")


def _form(row: View, verb: str, label: str, ask: str) -> Html:
    action = f"{ROOT}/nodes/{quote(row['id'], safe='')}/{verb}"
    form = tag("form", tag("button", label, type="submit"), method="post", action=action, data_ask=ask)
    return tag("div", form, class_="buttons")
