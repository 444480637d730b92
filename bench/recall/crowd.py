"""A store with very many memories and their vectors, written past the store: words as often as in a language."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

import asyncpg
import numpy as np

from bench.engines import path_of
from runtime.contract import Usage
from runtime.contract.memory.embedding import Embedded
from runtime.contract.memory.facts import Scope, ScopeKind
from runtime.domain.memory.scopes import reach_of
from runtime.store.schema import memories, memory_vectors
from runtime.vectors.packing import STEPS

VOCABULARY: Final = 20_000
WORDS_A_ROW: Final = 14
DIMS: Final = 256
MODEL: Final = "bench/random"
AT_ONCE: Final = 5_000
LETTERS: Final = "abcdefghijklmnoprstuvwz"
MEMORY_COLUMNS: Final = tuple(column.name for column in memories.columns if column.name != "number")
VECTOR_COLUMNS: Final = tuple(column.name for column in memory_vectors.columns)


@dataclass
class Language:
    """Made-up words; the nth is n times as rare as the first."""

    chance: random.Random
    words: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        lengths = (self.chance.randint(4, 9) for _ in range(VOCABULARY))
        self.words = ["".join(self.chance.choices(LETTERS, k=length)) for length in lengths]
        self.weights = list(accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))

    def sentence(self, words: int) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=words))


class RandomVectors:
    """A model of embeddings that takes no time: directions by chance, all of length 1."""

    name = MODEL

    def __init__(self) -> None:
        self._chance = np.random.default_rng(5)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        return Embedded([vector.tolist() for vector in self.some(len(texts))], Usage(MODEL))

    def some(self, count: int) -> Any:
        numbers = self._chance.standard_normal((count, DIMS)).astype("<f4")
        return numbers / np.linalg.norm(numbers, axis=1, keepdims=True)


async def crowd(url: str, sizes: Sequence[tuple[str, int]], language: Language) -> None:
    """Write so many rows of each agent, with their vectors."""
    vectors, first = RandomVectors(), 0
    for agent, count in sizes:
        for at in range(0, count, AT_ONCE):
            some = min(AT_ONCE, count - at)
            rows = list(_rows(agent, first, some, language))
            made = zip(rows, _packed(vectors.some(some)), strict=True)
            numbers = [(row["id"], MODEL, row["reach"], DIMS, vector) for row, vector in made]
            await _written(url, [tuple(row.values()) for row in rows], numbers)
            first += some
    await _settled(url)


def _packed(vectors: Any) -> Iterator[bytes]:
    """The same as `packed` of each, by numpy."""
    scales = np.abs(vectors).max(axis=1) / STEPS
    steps = np.rint(vectors / scales[:, None]).astype("i1")
    yield from (scale.tobytes() + row.tobytes() for scale, row in zip(scales.astype("<f4"), steps, strict=True))


def _rows(agent: str, first: int, count: int, language: Language) -> Iterator[dict[str, object]]:
    scope = Scope(ScopeKind.AGENT)
    fixed = dict.fromkeys(MEMORY_COLUMNS) | dict.fromkeys(
        ("subject", "relation", "object", "subject_key", "relation_key", "object_key"), ""
    )
    fixed |= {"agent": agent, "scope": str(scope), "reach": reach_of(agent, scope), "kind": "fact", "trust": "said"}
    fixed |= {"importance": 3, "pinned": 0, "uses": 0, "valid_from": 1, "created_at": 1}
    kept = {name: fixed[name] for name in MEMORY_COLUMNS}
    for number in range(first, first + count):
        own = {"id": f"m{number:09d}", "hash": f"h{number}", "text": language.sentence(WORDS_A_ROW)}
        yield kept | own


async def _written(url: str, rows: Sequence[tuple[object, ...]], vectors: Sequence[tuple[object, ...]]) -> None:
    if not url.startswith("sqlite"):
        connection = await asyncpg.connect(url)
        await connection.copy_records_to_table("memories", records=rows, columns=MEMORY_COLUMNS)
        await connection.copy_records_to_table("memory_vectors", records=vectors, columns=VECTOR_COLUMNS)
        await connection.close()
        return
    with closing(sqlite3.connect(path_of(url))) as database, database:
        for table, columns, values in (
            ("memories", MEMORY_COLUMNS, rows),
            ("memory_vectors", VECTOR_COLUMNS, vectors),
        ):
            marks = ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


async def _settled(url: str) -> None:
    """PostgreSQL knows how many rows there are; its own process would see to that within a minute."""
    if not url.startswith("sqlite"):
        connection = await asyncpg.connect(url)
        await connection.execute("VACUUM ANALYZE")
        await connection.close()
