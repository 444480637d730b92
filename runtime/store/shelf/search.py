"""A search through the conversations of the page, in a bounded look at the newest messages: no index is kept for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Integer, Text, bindparam, cast, func, literal_column, select

from runtime.contract import Address, Author, FoundEntry, Identity, RoomMark
from runtime.store.common import escaped
from runtime.store.operations.history import said
from runtime.store.schema import deliveries, parts, signals
from runtime.store.shelf.copying import ConversationRows, ImportedConversation, fetched_rows, import_rows
from runtime.store.shelf.deleting import take_back
from runtime.store.shelf.marks import mark
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros, moment

ENTRIES_LOOKED_AT: Final = 20_000
"""Messages that one search looks at, of all rooms together."""
A_ROOM_LEAST: Final = 200
"""Of each room at least so many, and so many are found in it at most."""
WORDS_MOST: Final = 5
"""Words that are looked for: the first ones."""
FOUND_MOST: Final = 50

newest_said = (
    select(
        signals.c.id,
        signals.c.actor_name.label("name"),
        signals.c.accepted_at.label("at"),
        signals.c.text,
    )
    .where(signals.c.address == bindparam("room"), *said)
    .order_by(signals.c.accepted_at.desc())
    .limit(bindparam("n", type_=Integer))
    .subquery()
)
newest_shown = (
    select(
        (parts.c.delivery_id + literal_column("'.'") + cast(parts.c.ordinal, Text)).label("id"),
        literal_column("''").label("name"),
        parts.c.shown_at.label("at"),
        parts.c.body.label("text"),
    )
    .join(deliveries, parts.c.delivery_id == deliveries.c.id)
    .where(
        deliveries.c.address == bindparam("room"),
        deliveries.c.edits.is_(None),
        is_word(parts.c.state, "shown"),
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(bindparam("n", type_=Integer))
    .subquery()
)
SAID_WITH, SHOWN_WITH = (
    select(newest.c.id, newest.c.name, newest.c.at, newest.c.text)
    .where(*(func.lower(newest.c.text).like(bindparam(f"word{at}"), escape="\\") for at in range(WORDS_MOST)))
    .order_by(newest.c.at.desc())
    .limit(A_ROOM_LEAST)
    for newest in (newest_said, newest_shown)
)


def find(addresses: Sequence[Address], wanted: str) -> Op[list[FoundEntry]]:
    sought = wanted.lower().split()[:WORDS_MOST]
    if not (sought and addresses):
        return []
    given: dict[str, Any] = {f"word{at}": f"%{escaped(sought[at % len(sought)])}%" for at in range(WORDS_MOST)}
    given["n"] = max(A_ROOM_LEAST, ENTRIES_LOOKED_AT // len(addresses))
    found = []
    for address in addresses:
        spoken = yield SAID_WITH, given | {"room": str(address)}
        shown = yield SHOWN_WITH, given | {"room": str(address)}
        found += [FoundEntry(address, key, Author.PERSON, name, moment(at), text) for key, name, at, text in spoken]
        answers = [(key, at, written(body)) for key, _, at, body in shown]
        found += [
            FoundEntry(address, key, Author.AGENT, "", moment(at), text)
            for key, at, text in answers
            if all(word in text.lower() for word in sought)  # not only in the HTML beside it
        ]
    return sorted(found, key=lambda one: one.at, reverse=True)[:FOUND_MOST]


def written(body: str) -> str:
    """The Markdown of a shown part; empty for what is no message of the page, such as a reaction."""
    try:
        told = json.loads(body)
    except ValueError:
        return ""
    return str(told.get("markdown", "")) if isinstance(told, dict) else ""


class ShelfStore(Base):
    """Keeps the lists of people, and looks through rooms. Who may see a room is decided before."""

    async def mark_room(self, owner: Identity, address: Address, change: RoomMark) -> None:
        now = micros(self.now())
        await self._driver.write(lambda: mark(owner, address, change, now))

    async def restore_room(self, owner: Identity, name: str, address: Address) -> bool:
        now = self.now()
        return await self._driver.write(lambda: take_back(owner, name, address, now))

    async def rows_of(self, address: Address, most: int) -> ConversationRows:
        """The newest `most` rows of each kind of a conversation."""
        fetched = await self._driver.read(lambda: fetched_rows(address, most))
        return await asyncio.to_thread(fetched.read)

    async def import_conversation(self, given: ImportedConversation, agent: str) -> Address | None:
        now = self.now()
        return await self._driver.write(lambda: import_rows(given, agent, now, self._new_id))

    async def find(self, addresses: Sequence[Address], wanted: str) -> list[FoundEntry]:
        return await self._driver.read(lambda: find(addresses, wanted))
