"""The page of questions: what is open, oldest first, narrowed to a room or to whoever asked; and what is closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from aiohttp import web

from bot.console import pieces
from bot.console.html import Html, tag
from bot.console.layout import nothing, page, table
from bot.operator.operations import Operations
from bot.operator.views import View

APPROVALS_PLACE: Final = "/console/approvals"
OPEN_MOST: Final = 500
"""Open questions of one page."""
KEYS: Final = "Keys: J and K move, A approves and D denies the card in focus, X selects it."
HEADS: Final = ("Decided", "Question", "Outcome", "By", "Room")


async def approvals(request: web.Request, do: Operations) -> Html:
    room, person = request.query.get("room", ""), request.query.get("person", "")
    pending = await do.approvals("pending", OPEN_MOST, order="oldest")
    shown = [row for row in pending if room in ("", row["address"]) and person in ("", row["requester"])]
    decided = [row for row in await do.approvals(room=room, person=person) if row["state"] != "pending"]
    none = "Nothing is waiting for you." if not (room or person) else "Nothing matching is waiting for you."
    return page(
        "Approvals",
        APPROVALS_PLACE,
        _filter(pending, room, person),
        tag("h2", "Waiting for you"),
        tag("p", KEYS, class_="faint keys") if shown else None,
        *(pieces.question(row) for row in shown),
        pieces.bulk() if len(shown) > 1 else None,
        None if shown else nothing(none),
        tag("h2", "Closed"),
        table("Closed approvals", HEADS, map(pieces.settled, decided)),
    )


def _filter(rows: Sequence[View], room: str, person: str) -> Html | None:
    """Rooms and people of the open questions to choose from; nothing where there is no choice."""
    rooms = {row["address"]: row["room"] for row in rows}
    people = {row["requester"]: row["requester"] for row in rows if row["requester"]}
    if len(rooms) < 2 and len(people) < 2 and not (room or person):
        return None
    return tag(
        "form",
        _choice("room", "Room", "Every room", rooms.items(), room),
        _choice("person", "Asked by", "Everybody", people.items(), person),
        tag("button", "Show", type="submit"),
        method="get",
        action=APPROVALS_PLACE,
        class_="filter",
    )


def _choice(name: str, label: str, every: str, options: Iterable[tuple[str, str]], chosen: str) -> Html:
    known = dict(options)
    if chosen and chosen not in known:  # all of it was decided meanwhile
        known[chosen] = chosen
    rows = [("", every), *sorted(known.items(), key=lambda one: one[1].casefold())]
    picks = [tag("option", words, value=value, selected=value == chosen) for value, words in rows]
    return tag("label", label, tag("select", *picks, name=name))
