"""Memories by words, letters and numbers, within the reaches of a reader."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from runtime.domain.memory.ranking import rarity_of
from runtime.domain.memory.scopes import may_read
from runtime.domain.memory.terms import Terms, forms, stem
from runtime.store.common import escaped
from runtime.store.memory.finding.statements import (
    BY_ID,
    BY_LETTERS,
    BY_NUMBER,
    BY_PAIRS,
    BY_WORD,
    HAS_LETTERS,
    PAIRS,
    PINNED,
)
from runtime.store.memory.rows import Row, reaching
from runtime.store.protocol.memory.finding import Found, Hits, Sought
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros
from runtime.store.sql.full_text import (
    LETTERS_CHARS,
    MEMORIES,
    all_lexemes,
    all_words_match,
    any_lexeme,
    letters_match,
    within_words,
    words_match,
)
from runtime.store.sql.per_engine import NO_PAIR, PerEngine

A_WORD: Final = 1_000
"""Rows that are looked at for one word, the newest first: one that more rows have tells little apart."""
FEW: Final = 3
"""Rows of a word below which it is looked for inside other words too."""
CANDIDATES: Final = 100
"""Rows whose text is compared with a query."""
TOGETHER: Final = 50
"""Rows with all words of a query that are candidates whatever else."""


class MemorySearchStore(Base):
    """Implements `protocol.memory.finding.MemorySearch`."""

    async def by_words(self, sought: Sought, terms: Terms) -> Hits:
        return await self._driver.read(lambda: by_words(sought, terms)) if terms else Hits()

    async def by_ids(self, sought: Sought, ids: Iterable[str]) -> list[Found]:
        wanted = json.dumps([*ids])
        return await self._driver.read(lambda: _rows(BY_ID, sought, {"ids": wanted}))

    async def pinned(self, sought: Sought, limit: int) -> list[Found]:
        return await self._driver.read(lambda: _rows(PINNED, sought, {"n": limit}))

    async def finds_letters(self) -> bool:
        def look() -> Op[bool]:
            return bool((yield HAS_LETTERS, {}))

        return await self._driver.read(look)


def by_words(sought: Sought, terms: Terms) -> Op[Hits]:
    """Rows with these terms: those with the rarest and most of them."""
    found: dict[str, list[int]] = {}
    for word in terms.words:
        found[word] = yield from _with_word(sought, word)
    if terms.pairs:
        numbers = yield from _with_pairs(sought, terms.pairs)
        found |= dict.fromkeys(terms.pairs, numbers)
    together = (yield from _with_all(sought, terms.words)) if _crowded(found) else []
    rarity = {term: rarity_of(len(numbers)) for term, numbers in found.items()}
    best = _best(found, rarity, together)
    rows = (yield from _rows(BY_NUMBER, sought, {"numbers": json.dumps(best)})) if best else []
    return Hits(rows, rarity)


def _crowded(found: Mapping[str, Sequence[int]]) -> bool:
    """True if no word picks out few rows: then those that have all are looked for too."""
    return len(found) > 1 and all(len(numbers) >= A_WORD for numbers in found.values())


def _best(found: Mapping[str, Sequence[int]], rarity: Mapping[str, float], together: Iterable[int]) -> list[int]:
    weights: defaultdict[int, float] = defaultdict(float)
    for term, numbers in found.items():
        for number in numbers:
            weights[number] += rarity[term]
    for number in together:
        weights[number] = sum(rarity.values())
    return sorted(weights, key=lambda number: (weights[number], number), reverse=True)[:CANDIDATES]


def _with_word(sought: Sought, word: str) -> Op[list[int]]:
    """Numbers of rows with a word or another form of it; where those are few, also of rows with it inside a word."""
    written, reaches = sorted(forms(word)), sought.reaches
    match = {"match": words_match(MEMORIES, reaches, written)}
    lexemes = {"within": within_words(reaches), "lexemes": any_lexeme(written)}
    numbers = yield from _numbers(BY_WORD, sought, match | lexemes)
    part = stem(word)
    if len(numbers) >= FEW or len(part) <= LETTERS_CHARS:
        return numbers
    letters = {"letters": letters_match(MEMORIES, reaches, part), "pattern": f"%{escaped(part)}%"}
    more = yield from _numbers(BY_LETTERS, sought, letters)
    return [*dict.fromkeys([*numbers, *more])]


def _with_all(sought: Sought, words: Iterable[str]) -> Op[list[int]]:
    each = [sorted(forms(word)) for word in words]
    match = {"match": all_words_match(MEMORIES, sought.reaches, each)}
    lexemes = {"within": within_words(sought.reaches), "lexemes": all_lexemes(each)}
    return (yield from _numbers(BY_WORD, sought, match | lexemes, TOGETHER))


def _with_pairs(sought: Sought, pairs: Sequence[str]) -> Op[list[int]]:
    """Numbers of rows with such pairs, those with most of them first. No index has them: the rows themselves are read."""
    padded = [*pairs, *[NO_PAIR] * PAIRS][:PAIRS]
    return (yield from _numbers(BY_PAIRS, sought, {f"pair{at}": pair for at, pair in enumerate(padded)}, CANDIDATES))


def _numbers(statement: PerEngine, sought: Sought, given: Mapping[str, object], n: int = A_WORD) -> Op[list[int]]:
    rows = yield statement, {**_parameters(sought), **given, "n": n}
    return [number for (number,) in rows]


def _rows(statement: PerEngine, sought: Sought, given: Mapping[str, object]) -> Op[list[Found]]:
    found = yield statement, {**_parameters(sought), **given}
    rows = [Found(number, Row(*row).memory) for number, *row in found]
    return [row for row in rows if may_read(sought.reader, row.memory.agent, row.memory.scope)]


def _parameters(sought: Sought) -> dict[str, object]:
    bounds = {"now": micros(sought.now), "since": micros(sought.since), "any_trust": int(sought.any_trust)}
    return reaching(sought.reaches) | bounds | {"about": sought.about.lower()}
