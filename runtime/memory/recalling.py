"""The search for memories: by words, and by meaning where there is a model of embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from runtime.contract import Now
from runtime.contract.memory.facts import FoundMessage, Memory, MemoryActor, Reader, Recalled
from runtime.domain.memory.ranking import (
    Crowd,
    Placed,
    Row,
    by_meaning,
    by_words,
    fit,
    is_fit,
    joined,
    weighed,
    within_tokens,
)
from runtime.domain.memory.terms import terms_of
from runtime.store.protocol.memory.finding import (
    EVER,
    Asker,
    MemorySearch,
    MessageSearch,
    Sought,
)
from runtime.store.protocol.memory.vectors import Vectors
from runtime.vectors.near import NearRows

GIVEN_MOST: Final = 5
GIVEN_TOKENS: Final = 2_000
GIVEN_FIT: Final = 0.34
"""A row that is given unasked answers so much of a message's words, the rare ones counting more."""
GIVEN_NEAR, GIVEN_DEVIATIONS = 0.35, 3.0
"""… or the cosine of its vector with the message's is at least so much, and so many deviations above that of all rows."""
RECALLED_NEAR, RECALLED_DEVIATIONS = 0.3, 2.0
"""The same for what is asked for."""
RECALLED_MOST: Final = 10
RECALLED_FIT: Final = 0.15
"""Less of a query's words is chance: that nothing is known is an answer too."""
MESSAGES_MOST: Final = 20


class Recalling:
    """Finds memories for a reader, and messages for a person. It reads only."""

    def __init__(
        self,
        *,
        search: MemorySearch,
        vectors: Vectors,
        messages: MessageSearch,
        meaning: NearRows,
        now: Now,
    ) -> None:
        self._search = search
        self._vectors = vectors
        self._messages = messages
        self._meaning = meaning
        self._now = now

    async def recall(
        self, query: str, reader: Reader, *, about: str = "", since: datetime | None = None, limit: int = RECALLED_MOST
    ) -> list[Recalled]:
        """The best for a query, of those that name the thing `about` if there is one; best first."""
        sought = Sought(reader, self._now(), about, since or EVER)
        best, memories, crowd = await self._found(f"{query} {about}".strip(), sought)
        near = crowd.floor(RECALLED_NEAR, RECALLED_DEVIATIONS)
        worth = [one for one in best if is_fit(one, RECALLED_FIT, near)]
        return [recalled(one, memories) for one in worth[: max(1, limit)]]

    async def given(
        self, query: str, reader: Reader, *, limit: int = GIVEN_MOST, tokens: int = GIVEN_TOKENS
    ) -> list[Recalled]:
        """Rows for a run that did not ask: pinned ones first, then those that answer enough of what was said."""
        sought = Sought(reader, self._now(), any_trust=False)
        best, memories, crowd = await self._found(query, sought)
        near = crowd.floor(GIVEN_NEAR, GIVEN_DEVIATIONS)
        pinned = {one.number: one.memory for one in await self._search.pinned(sought, limit)}
        first = [Placed(row) for row in _rows(pinned).values()]
        worth = [one for one in best if one.row.number not in pinned and is_fit(one, GIVEN_FIT, near)]
        return [recalled(one, memories | pinned) for one in within_tokens([*first, *worth], tokens)[:limit]]

    async def search_messages(
        self, query: str, by: MemoryActor, *, room: str = "", since: datetime | None = None
    ) -> list[FoundMessage]:
        """The messages that answer most of a query, the newest of them first."""
        terms = terms_of(query)
        asker = Asker(by.room, by.person.id if by.person else None)
        found = await self._messages.messages(terms, asker, room=room, since=since or EVER)
        asked = weighed(terms)
        best = sorted(found, key=lambda one: (fit(asked, one.text), one.at), reverse=True)[:MESSAGES_MOST]
        return sorted(best, key=lambda one: one.at, reverse=True)

    async def _found(self, query: str, sought: Sought) -> tuple[list[Placed], dict[int, Memory], Crowd]:
        """Rows in their order, the memories of their numbers, and how near all were."""
        terms = terms_of(query)
        hits = await self._search.by_words(sought, terms)
        reader = sought.reader
        payer = reader.agent, reader.room, reader.person
        cosines, crowd = await self._meaning.near(query, self._vectors, sought.reaches, payer)
        near = {ident: cosine for ident, cosine in cosines.items() if cosine >= RECALLED_NEAR}
        further = await self._search.by_ids(sought, near) if near else []
        memories = {one.number: one.memory for one in (*hits.rows, *further)}
        rows = _rows(memories)
        words = by_words(weighed(terms, hits.rarity), (rows[one.number] for one in hits.rows))
        meaning = by_meaning((rows[one.number], near[one.memory.id]) for one in further)
        return joined(words, meaning, sought.now), memories, crowd


def recalled(one: Placed, memories: Mapping[int, Memory]) -> Recalled:
    return Recalled(memories[one.row.number], one.score, one.why)


def _rows(memories: Mapping[int, Memory]) -> dict[int, Row]:
    return {
        number: Row(number, memory.text, memory.created_at, memory.importance, memory.pinned)
        for number, memory in memories.items()
    }
