"""Conversations of the page by their first words, where lists name rooms: nobody gave them another name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import Named, of_page
from bot.operator.context import OperatorContext
from bot.operator.views import View
from runtime.contract import Address, Identity, ToolContext
from tools.reports import Naming

TitlesOf = Callable[[Collection[Address]], Awaitable[Mapping[Address, str]]]
"""Titles of these conversations, as far as they have one."""


async def entitled(context: OperatorContext, rows: Sequence[View], me: Identity | None = None) -> list[View]:
    """`rows`, of which each has an `address` and a `room`, or a schedule's lists `to` and `rooms`. `me` may have named rooms anew."""
    wanted = {room for row in rows for text in _addresses(row) if (room := _room(context, text))}
    if not wanted:
        return list(rows)
    known = await context.store.traces.titles(wanted, me)
    titles = {context.named(room): of_page(title) for room, title in known.items()}
    return [_with(titles, row) for row in rows]


def in_reports(titles: TitlesOf, called: Named) -> Naming:
    """Names for reports: `called` knows those of platforms.

    A title is made of what was said there, so it stays on the page, and in what is only printed for an operator.
    """

    async def naming(rooms: Collection[Address], context: ToolContext) -> Named:
        on_page = [room for room in rooms if room.channel == CHANNEL]
        if not on_page or (context.address and context.address.channel != CHANNEL):
            return called
        known = await titles(on_page)
        return lambda room: of_page(known[room]) if room in known else called(room)

    return naming


def _with(titles: Mapping[str, str], row: View) -> View:
    if "rooms" in row:
        return {**row, "rooms": [titles.get(room, room) for room in row["rooms"]]}
    return {**row, "room": titles.get(row["room"], row["room"])}


def _addresses(row: View) -> Iterable[str]:
    return row["rooms"] if "rooms" in row else [row["room"]]


def _room(context: OperatorContext, text: str) -> Address | None:
    """The room of the page that is written so; None for every other, and for one that has a name."""
    if not text.startswith(f"{CHANNEL}:"):
        return None
    try:
        return replace(Address.parse(text), account=context.web_account)
    except ValueError:
        return None
