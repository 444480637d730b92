"""Order of memories that were found: by words and by meaning together, the recent and important ones first. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from runtime.domain.memory.terms import Terms, bare, forms, marks_of

RANK_OFFSET: Final = 60
"""Of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher, SIGIR 2009."""
HALF_LIFE: Final = timedelta(days=30)
FRESH_SHARE: Final = 0.3
"""Part of a score that age can take."""
IMPORTANCE_STEP: Final = 0.08
"""Part of a score for each step of importance, from 1 to 5; 3 changes nothing."""
SAME_SHARE: Final = 0.8
"""Two texts with so many words in common say the same."""
CORPUS: Final = 10_000
"""Rows by which a word counts as rare, whoever has more or fewer: else the words of others would weigh on one's own."""
CROWD_LEAST: Final = 30
"""Rows of which a mean says something."""
SPREAD_MOST: Final = 30
"""Rows that are compared with each other: nobody is told more of them."""
NO_RARITY: Final[Mapping[str, float]] = {}
WHOLE, FORM, INSIDE = 1.0, 0.7, 0.5
"""Worth of a query's word that stands in a text as it is, in another form, or inside another word."""
BYTES_A_TOKEN: Final = 3
"""A rule of thumb that counts rather too many, in any script."""
LEAST_INSIDE: Final = 3
"""Letters up to which a word is not looked for inside others."""


@dataclass(frozen=True, slots=True)
class Row:
    """A memory as far as its order goes. `seen`: how many rows have each word is told apart, in `rarity_of`."""

    number: int
    text: str
    at: datetime
    importance: int = 3
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """A row with its places, from 1, and how well it fits, from 0 to 1: as words, and as meaning."""

    row: Row
    by_words: int = 0
    by_meaning: int = 0
    fits: float = 0.0
    near: float = 0.0
    score: float = 0.0

    @property
    def why(self) -> str:
        """Reason in words.

        >>> Placed(Row(1, "", datetime.max), by_words=3, by_meaning=1).why
        'words, 3rd; meaning, 1st'
        """
        found = [("words", self.by_words), ("meaning", self.by_meaning)]
        told = [f"{what}, {ordinal(place)}" for what, place in found if place]
        return "; ".join([*(["pinned"] if self.row.pinned else []), *told])


def ordinal(number: int) -> str:
    """
    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 21)]
    ['1st', '2nd', '3rd', '4th', '11th', '21st']
    """
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def rarity_of(rows_with: int) -> float:
    """Weight of a word that so many rows have.

    >>> rarity_of(1) > rarity_of(100) > rarity_of(10_000) > 0
    True
    """
    return math.log(1 + CORPUS / (1 + rows_with))


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a query with its other forms, without accents, and its weight."""

    plain: str
    forms: frozenset[str]
    weight: float


def weighed(terms: Terms, rarity: Mapping[str, float] = NO_RARITY) -> list[Term]:
    """Every term of a query with its weight; 1 where it is not told how rare it is."""
    words = [Term(bare(word), forms(bare(word)), rarity.get(word, 1.0)) for word in terms.words]
    return words + [Term(pair, frozenset(), rarity.get(pair, 1.0)) for pair in terms.pairs]


def fit(terms: Sequence[Term], text: str) -> float:
    """Part of a query that a text answers: the weight of the terms that stand there, from 0 to 1.

    >>> asked = weighed(Terms(("sister", "lives")))
    >>> fit(asked, "My sister lives in Rome."), fit(asked, "They live there."), fit(asked, "Tea.")
    (1.0, 0.35, 0.0)
    """
    marks = marks_of(text)
    whole = sum(term.weight for term in terms)
    return sum(term.weight * worth(term, marks) for term in terms) / whole if whole else 0.0


def worth(term: Term, marks: frozenset[str]) -> float:
    """Worth of one term in a text with these words.

    >>> moving, deploy, tea = weighed(Terms(("moving", "deploy", "tea")))
    >>> worth(moving, frozenset(["moved"])), worth(deploy, frozenset(["redeployment"])), worth(tea, frozenset(["team"]))
    (0.7, 0.5, 0.0)
    """
    if term.plain in marks:
        return WHOLE
    if not term.forms.isdisjoint(marks):
        return FORM
    return INSIDE if len(term.plain) > LEAST_INSIDE and any(term.plain in mark for mark in marks) else 0.0


def by_words(terms: Sequence[Term], rows: Iterable[Row]) -> list[Placed]:
    """Rows that answer a part of the query, the best first; of equal ones the newer."""
    fits = [Placed(row, fits=fit(terms, row.text)) for row in rows]
    best = sorted((one for one in fits if one.fits), key=lambda one: (one.fits, one.row.at), reverse=True)
    return [replace(one, by_words=place) for place, one in enumerate(best, start=1)]


def by_meaning(rows: Iterable[tuple[Row, float]]) -> list[Placed]:
    """Rows with the cosine of their vector and the query's, the nearest first."""
    best = sorted(rows, key=lambda one: (one[1], one[0].at), reverse=True)
    return [Placed(row, by_meaning=place, near=near) for place, (row, near) in enumerate(best, start=1)]


def joined(words: Sequence[Placed], meaning: Sequence[Placed], now: datetime) -> list[Placed]:
    """Both orders in one, by reciprocal rank, age and importance; the best first, and what says the same at the end.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 26, tzinfo=UTC)
    >>> tea, rome = Row(1, "I drink tea.", now), Row(2, "I live in Rome.", now)
    >>> [one.row.number for one in joined([Placed(tea, 1)], [Placed(rome, 0, 1), Placed(tea, 0, 2)], now)]
    [1, 2]
    """
    found = {one.row.number: one for one in meaning}
    for one in words:
        found[one.row.number] = replace(found.get(one.row.number, one), by_words=one.by_words, fits=one.fits)
    scored = [replace(one, score=_score(one, now)) for one in found.values()]
    return spread(sorted(scored, key=lambda one: (one.score, one.row.at), reverse=True))


def reciprocal(*places: int) -> float:
    """Score of what has these places in several orders, from 1; 0 where it isn't in one.

    >>> reciprocal(1, 1) > reciprocal(1, 0) > reciprocal(0, 2) > reciprocal(0, 0) == 0
    True
    """
    return sum(1 / (RANK_OFFSET + place) for place in places if place)


def _score(one: Placed, now: datetime) -> float:
    ranks = reciprocal(one.by_words, one.by_meaning)
    return ranks * (1 - FRESH_SHARE + FRESH_SHARE * freshness(one.row, now)) * weight_of(one.row.importance)


def freshness(row: Row, now: datetime) -> float:
    """1 for a new row, and half of it after each half-life; a pinned one never ages.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 26, tzinfo=UTC)
    >>> freshness(Row(1, "", now - HALF_LIFE), now), freshness(Row(1, "", now - HALF_LIFE, pinned=True), now)
    (0.5, 1.0)
    """
    return 1.0 if row.pinned else 0.5 ** (max(timedelta(), now - row.at) / HALF_LIFE)


def weight_of(importance: int) -> float:
    """
    >>> weight_of(3), weight_of(5) > weight_of(1)
    (1.0, True)
    """
    return 1.0 + IMPORTANCE_STEP * (min(5, max(1, importance)) - 3)


def spread(best: Sequence[Placed]) -> list[Placed]:
    """The same rows with those at the end whose text is nearly one of a better row: none is lost, and none crowds.

    >>> at = datetime.max
    >>> rows = [Row(1, "The van is red", at), Row(2, "The van is red.", at), Row(3, "Tea", at)]
    >>> [one.row.number for one in spread([Placed(row) for row in rows])]
    [1, 3, 2]
    """
    kept, known, again = list[Placed](), list[frozenset[str]](), list[Placed]()
    for one in best[:SPREAD_MOST]:
        marks = marks_of(one.row.text)
        if any(_is_same(marks, other) for other in known):
            again.append(one)
        else:
            kept.append(one)
            known.append(marks)
    return [*kept, *again, *best[SPREAD_MOST:]]


def _is_same(marks: frozenset[str], other: frozenset[str]) -> bool:
    return bool(marks) and len(marks & other) >= SAME_SHARE * len(marks | other)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Cosines of all rows with a query, summed up: with some models even what has nothing in common is near."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def with_more(self, count: int, total: float, squares: float) -> Crowd:
        return Crowd(self.count + count, self.total + total, self.squares + squares)

    def floor(self, least: float, deviations: float) -> float:
        """Cosine from which on a row stands out: `least`, and of enough rows so many deviations above their mean.

        >>> Crowd(2, 1.4, 0.98).floor(0.35, 3), Crowd(100, 70.0, 50.0).floor(0.35, 3) > 0.9
        (0.35, True)
        """
        if self.count < CROWD_LEAST:
            return least
        mean = self.total / self.count
        return max(least, mean + deviations * math.sqrt(max(0.0, self.squares / self.count - mean * mean)))


def is_fit(one: Placed, floor: float, near: float) -> bool:
    """True for a row that is worth to be given unasked: it answers enough of the words, or is near enough in meaning.

    >>> is_fit(Placed(Row(1, "", datetime.max), fits=0.5), 0.34, 0.5)
    True
    """
    return one.fits >= floor or one.near >= near


def within_tokens(best: Sequence[Placed], tokens: int) -> list[Placed]:
    """The first rows that fit together into so many tokens; one that is too long makes room for shorter ones.

    >>> rows = [Placed(Row(n, "x" * size, datetime.max)) for n, size in ((1, 40), (2, 4000), (3, 40))]
    >>> [one.row.number for one in within_tokens(rows, 50)]
    [1, 3]
    """
    kept, used = list[Placed](), 0
    for one in best:
        size = -(-len(one.row.text.encode()) // BYTES_A_TOKEN)
        if used + size <= tokens:
            kept.append(one)
            used += size
    return kept
