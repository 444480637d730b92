"""The suite: each question of a dialogue is asked of a store, and what comes is compared with what should."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from bench.recall.dialogues import Ability, Dialogue, Question, Whose, after
from runtime.contract import Address, PersonId
from runtime.contract.memory.embedding import Embedder
from runtime.contract.memory.facts import MemoryRequest, Reader, Scope, ScopeKind
from runtime.memory.recalling import Recalling
from runtime.store.store import Store
from runtime.vectors.embedding import Embedding
from runtime.vectors.near import NearRows

BEGIN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
ROOM: Final = Address.parse("web:main/ada-1")
READER: Final = Reader("main", ROOM, PersonId("ada"))
PLACES: Final = {
    Whose.OWN: ("main", Scope(ScopeKind.PERSON, "ada")),
    Whose.OTHER_PERSON: ("main", Scope(ScopeKind.PERSON, "uma")),
    Whose.OTHER_AGENT: ("ops", Scope(ScopeKind.PERSON, "ada")),
    Whose.OTHER_ROOM: ("main", Scope(ScopeKind.ROOM, "slack:T1/C1")),
}


class Moved(Protocol):
    """A clock that is moved by hand."""

    at: datetime


@dataclass
class Clock:
    """The store's clock, which a dialogue moves."""

    at: datetime = BEGIN

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Score:
    """Score of an ability: questions in the answer's own words and in others, each with those answered right; and how many
    rows came that were superseded, or another's. Nothing is right where nothing was told."""

    direct: int = 0
    direct_right: int = 0
    other: int = 0
    other_right: int = 0
    superseded: int = 0
    foreign: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, question: Question, *, right: bool) -> None:
        if question.is_direct:
            self.direct, self.direct_right = self.direct + 1, self.direct_right + right
        else:
            self.other, self.other_right = self.other + 1, self.other_right + right
        if not right:
            self.missed.append(question.text)


Scores = dict[Ability, Score]


async def told(store: Store, clock: Moved, dialogue: Dialogue) -> frozenset[str]:
    """Have everything remembered in its time; the texts that were superseded by the end."""
    ended = set[str]()
    for one in dialogue.told:
        clock.at = BEGIN + after(one.day)
        agent, scope = PLACES[one.whose]
        wanted = MemoryRequest(one.text, subject=one.subject, relation=one.relation)
        kept = await store.memories.keep_given(wanted, agent, scope, actor="bench")
        assert not isinstance(kept, str), kept
        ended |= {kept.ended.text} if kept.ended else set()
    clock.at += after(7)
    return frozenset(ended)


async def asked(
    store: Store, dialogue: Dialogue, ended: frozenset[str], embedder: Embedder | None, scores: Scores
) -> None:
    """Ask all questions, and add to the scores what came."""
    own = {one.text for one in dialogue.told if one.whose is Whose.OWN}
    recalling = recalling_of(store, lambda: embedder)
    for question in dialogue.questions:
        since = None if question.since is None else BEGIN + after(question.since)
        if question.answers:
            found = await recalling.recall(question.text, READER, since=since)
        else:
            found = await recalling.given(question.text, READER)
        texts = {one.memory.text for one in found}
        score = scores[question.ability]
        score.add(question, right=question.answers <= texts if question.answers else not texts)
        score.superseded += len(texts & ended)
        score.foreign += len(texts - own)


def recalling_of(store: Store, embedder: Callable[[], Embedder | None]) -> Recalling:
    return Recalling(
        search=store.memory_search,
        vectors=store.memory_vectors,
        messages=store.message_search,
        meaning=NearRows(costs=store.embedding_costs, embedder=embedder, now=store.now),
        now=store.now,
    )


async def with_vectors(store: Store, embedder: Embedder) -> None:
    """Have vectors made for what has none."""
    await Embedding(
        sources={"memories": store.memory_vectors},
        costs=store.embedding_costs,
        embedder=lambda: embedder,
        take=_never,
        now=store.now,
    ).look()


async def _never(role: str) -> None:
    return None


async def suite(
    dialogues: Iterable[Dialogue], opened: Callable[[Clock], Awaitable[Store]], embedder: Embedder
) -> tuple[Scores, Scores]:
    """Scores by words alone, and by words and vectors; a new store for each dialogue."""
    words = {ability: Score() for ability in Ability}
    both = {ability: Score() for ability in Ability}
    for dialogue in dialogues:
        clock = Clock()
        store = await opened(clock)
        ended = await told(store, clock, dialogue)
        await asked(store, dialogue, ended, None, words)
        await with_vectors(store, embedder)
        await asked(store, dialogue, ended, embedder, both)
        await store.close()
    return words, both
