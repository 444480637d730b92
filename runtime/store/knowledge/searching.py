"""Searching chunks of packs by their words, and by pairs of signs in scripts that write no blanks."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import TextClause

from runtime.contract.memory.knowledge import Passage
from runtime.domain.memory.terms import PAIRS_MOST, Terms, forms, terms_of
from runtime.store.sql.driver import Op
from runtime.store.sql.full_text import CHUNKS, quoted, within_words
from runtime.store.sql.per_engine import NO_PAIR, PerEngine, statement_of

_COLUMNS: Final = "c.id, c.pack, d.place, d.title, c.heading, c.first_line, c.last_line, c.text"
_DOCUMENT: Final = "JOIN knowledge_documents AS d ON d.id = c.document_id"
_PACKS_SQLITE: Final = "c.pack IN (SELECT value FROM json_each(:packs))"
_PACKS_POSTGRES: Final = "c.pack = ANY(ARRAY(SELECT json_array_elements_text(CAST(:packs AS json))))"
_VECTOR: Final = CHUNKS.vector_of("c.")
_BEST: Final = "ORDER BY score DESC, c.number LIMIT :n"
A_WORD: Final = 1_000
"""Chunks that are looked at for one word: one that more have tells little apart."""
CANDIDATES: Final = 100
"""Chunks that are ranked, those with the rarest words of a query."""
# To rank a chunk PostgreSQL reads all of its text, a millisecond each: so of those with a common word it ranks only some.
_NUMBERS: Final = (
    f"SELECT c.number FROM knowledge_chunks AS c WHERE {_VECTOR} @@ (CAST(:within AS tsquery) && CAST(word AS tsquery)) "  # noqa: S608 - our own names
    f"AND {_PACKS_POSTGRES} LIMIT {A_WORD}"
)
_WORDS: Final = f"json_array_elements_text(CAST(:each AS json)) AS word CROSS JOIN LATERAL ({_NUMBERS}) AS found"
_CANDIDATES: Final = (
    f"SELECT number FROM (SELECT number, 1.0 / count(*) OVER (PARTITION BY word) AS rarity FROM {_WORDS}) AS told "  # noqa: S608 - our own names
    f"GROUP BY number ORDER BY sum(rarity) DESC, number LIMIT {CANDIDATES}"
)

# CROSS JOIN: SQLite keeps this order, and looks into the index first.
BY_WORDS: Final = PerEngine(
    sqlite=statement_of(
        f"SELECT {_COLUMNS}, -bm25({CHUNKS.words}, 0.0, 1.0) AS score FROM {CHUNKS.words} "  # noqa: S608 - our own names
        f"CROSS JOIN knowledge_chunks AS c ON c.number = {CHUNKS.words}.rowid {_DOCUMENT} "
        f"WHERE {CHUNKS.words} MATCH :match AND {_PACKS_SQLITE} {_BEST}"
    ),
    postgres=statement_of(
        f"SELECT {_COLUMNS}, ts_rank({_VECTOR}, CAST(:words AS tsquery)) AS score FROM knowledge_chunks AS c {_DOCUMENT} "  # noqa: S608 - our own names
        f"WHERE c.number = ANY(ARRAY({_CANDIDATES})) {_BEST}"
    ),
)


def _by_ids(packs: str, ids: str) -> TextClause:
    here = f"{packs} AND {ids}"
    return statement_of(f"SELECT {_COLUMNS}, 0.0 AS score FROM knowledge_chunks AS c {_DOCUMENT} WHERE {here}")  # noqa: S608 - our own names


BY_IDS: Final = PerEngine(
    sqlite=_by_ids(_PACKS_SQLITE, "c.id IN (SELECT value FROM json_each(:ids))"),
    postgres=_by_ids(_PACKS_POSTGRES, "c.id = ANY(ARRAY(SELECT json_array_elements_text(CAST(:ids AS json))))"),
)


def _by_pairs(find: str, packs: str) -> TextClause:
    counted = " + ".join(f"CASE WHEN {find}(c.text, :pair{at}) > 0 THEN 1 ELSE 0 END" for at in range(PAIRS_MOST))
    found = f"SELECT c.number, {counted} AS score FROM knowledge_chunks AS c WHERE {packs}"  # noqa: S608 - our own names
    rest = f"JOIN knowledge_chunks AS c ON c.number = f.number {_DOCUMENT} WHERE f.score > 0 {_BEST}"
    return statement_of(f"SELECT {_COLUMNS}, f.score AS score FROM ({found}) AS f {rest}")  # noqa: S608 - our own names


BY_PAIRS: Final = PerEngine(sqlite=_by_pairs("instr", _PACKS_SQLITE), postgres=_by_pairs("strpos", _PACKS_POSTGRES))


def passages(query: str, packs: Collection[str], limit: int) -> Op[list[Passage]]:
    """The best passages of these packs, best first: a page's is marked as words of others."""
    terms, given = terms_of(query), {"packs": json.dumps(sorted(packs)), "n": limit}
    rows: list[tuple[Any, ...]] = []
    if terms.words:
        every = sorted(set().union(*map(forms, terms.words)))
        each = json.dumps([_words(sorted(forms(word))) for word in terms.words])
        words = {"match": _match(packs, every), "within": within_words(packs), "words": _words(every), "each": each}
        rows = yield BY_WORDS, given | words
    if terms.pairs and len(rows) < limit:
        rows = rows + (yield BY_PAIRS, given | _pairs(terms))
    unique = {row[0]: row for row in rows}.values()
    return [_passage(*row) for row in unique][:limit]


def passages_of(ids: Collection[str], packs: Collection[str]) -> Op[dict[str, Passage]]:
    """Passages with these ids, as far as they are in these packs."""
    rows = yield BY_IDS, {"packs": json.dumps(sorted(packs)), "ids": json.dumps(sorted(ids))}
    return {row[0]: _passage(*row) for row in rows}


def _passage(
    chunk: str,
    pack: str,
    place: str,
    title: str,
    heading: str,
    first_line: int,
    last_line: int,
    words: str,
    score: float,
) -> Passage:
    return Passage(
        pack, place, title, heading, first_line, last_line, words, score, is_outside="://" in place, id=chunk
    )


def _match(packs: Collection[str], words: Collection[str]) -> str:
    """The query of FTS5 for chunks of these packs with one of the words."""
    return f"(pack : ({' OR '.join(map(quoted, packs))})) AND (text : ({' OR '.join(map(quoted, words))}))"


def _words(words: Collection[str]) -> str:
    """The query of PostgreSQL for one of the words, which hold letters and digits alone."""
    return " | ".join(f"'{word}'" for word in words)


def _pairs(terms: Terms) -> dict[str, str]:
    return {f"pair{at}": terms.pairs[at] if at < len(terms.pairs) else NO_PAIR for at in range(PAIRS_MOST)}
