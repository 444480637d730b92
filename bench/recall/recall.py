"""The recall of memories: the five abilities in dialogues that we make, and the time it takes among 100,000 rows."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from aiohttp import ClientSession

from bench.engines import Engine, engines
from bench.figures import Figure, at_most, high, middle
from bench.recall.abilities import Clock, Score, Scores, recalling_of, suite
from bench.recall.crowd import Language, RandomVectors, crowd
from bench.recall.dialogues import dialogue
from bot.testing.serve import serving
from runtime.contract import Address, Usage
from runtime.contract.memory.embedding import Embedded
from runtime.contract.memory.facts import Reader
from runtime.models.embedding.answers import vectors_of
from runtime.store.store import Store, open_store
from tests.fakes.embeddings import Embeddings

DIALOGUES: Final = 20
ROWS: Final = 100_000
IN_SCOPE: Final = 5_000
QUERIES: Final = 30
QUERY_WORDS: Final = 6
IN_SCOPE_GOAL: Final = 50.0  # ms, p50; source: issue 19
ONE_SCOPE_GOAL: Final = 400.0  # ms, p50; source: issue 19
MEMORY_GOAL: Final = 120.0  # MB more while it runs; source: issue 19
PAGE_MB: Final = 0.004
READER: Final = Reader("main", Address.parse("web:main/bench"))


class OverTheWire:
    """A model of embeddings behind a server of OpenAI's kind, asked without LiteLLM, which would be most of this process."""

    name = "fake/near"

    def __init__(self, client: ClientSession) -> None:
        self._client = client

    async def embed(self, texts: Sequence[str]) -> Embedded:
        async with self._client.post("embeddings", json={"model": self.name, "input": [*texts]}) as answer:
            answer.raise_for_status()
            return Embedded(vectors_of((await answer.json())["data"], len(texts)), Usage(self.name))


async def recall(short: bool) -> list[Figure]:
    return [*await _abilities(1 if short else DIALOGUES), *await _times(short)]


async def _abilities(dialogues: int) -> list[Figure]:
    async with serving(Embeddings().app()) as url, ClientSession(f"{url}/v1/") as client:
        words, both = await suite(map(dialogue, range(dialogues)), _in_memory, OverTheWire(client))
    return [*_told("words", words, other_goal=None), *_told("words + vectors", both, other_goal=0)]


async def _in_memory(clock: Clock) -> Store:
    return await open_store("sqlite:///:memory:", now=clock)


def _told(by: str, scores: Scores, other_goal: float | None) -> Iterator[Figure]:
    """Questions that were answered wrongly, by ability; and rows that should not have come."""
    for ability, score in scores.items():
        direct, other = score.direct - score.direct_right, score.other - score.other_right
        yield Figure(f"{ability}, by {by}, missed", direct, "questions", None, at_most(0), f"of {score.direct}")
        bound = None if other_goal is None else at_most(other_goal)
        name = f"{ability} in other words, by {by}, missed"
        yield Figure(name, other, "questions" if bound else "% of 100", None, bound, f"of {score.other}")
    every: Sequence[Score] = [*scores.values()]
    yield Figure(f"superseded rows, by {by}", sum(one.superseded for one in every), "rows", None, at_most(0))
    yield Figure(f"rows of others, by {by}", sum(one.foreign for one in every), "rows", None, at_most(0))


async def _times(short: bool) -> list[Figure]:
    whole, few = (600, 100) if short else (ROWS, IN_SCOPE)
    figures = []
    with engines(safe=False) as both:
        for engine in both:
            named = f"recall, {engine.name}"
            sizes = [("ops", whole - few), ("main", few)]
            figures += await _measured(engine, f"{named}, {few:,} of {whole:,} rows", sizes, IN_SCOPE_GOAL, short)
            figures += await _measured(engine, f"{named}, {whole:,} rows", [("main", whole)], ONE_SCOPE_GOAL, short)
    return figures


async def _measured(
    engine: Engine, name: str, sizes: Sequence[tuple[str, int]], goal: float, short: bool
) -> list[Figure]:
    url, language = engine.empty(), Language(random.Random(3))
    store = await open_store(url)
    await crowd(url, sizes, language)
    queries = [language.sentence(QUERY_WORDS) for _ in range(3 if short else QUERIES)]
    words = await _timed(store, queries, vectors=False)
    before = _resident("VmRSS")
    _forget_peak()
    began = time.process_time()
    both = await _timed(store, queries, vectors=True)
    worked = (time.process_time() - began) * 1000 / (len(queries) + 1)
    grown = max(_resident("VmHWM") - before, PAGE_MB)
    await store.close()
    note = f"p99 {high(both):.0f} ms; processor {worked:.0f} ms; by words alone {middle(words):.1f} ms"
    return [
        Figure(f"{name}, p50", middle(both), "ms", None, at_most(goal), note),
        Figure(f"{name}, memory", grown, "MB", None, at_most(MEMORY_GOAL), "more than before, at most"),
    ]


async def _timed(store: Store, queries: Sequence[str], *, vectors: bool) -> list[float]:
    """Milliseconds of each recall. The first one, which loads numpy and prepares statements, is not counted."""
    model = RandomVectors() if vectors else None
    recalling, times = recalling_of(store, lambda: model), list[float]()
    for query in (queries[0], *queries):
        began = time.perf_counter()
        found = await recalling.recall(query, READER)
        times.append((time.perf_counter() - began) * 1000)
        assert found, query
    return times[1:]


def _resident(line: str) -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    return float(next(row for row in status.splitlines() if row.startswith(line)).split()[1]) / 1000


def _forget_peak() -> None:
    """Have the kernel count the peak from here on."""
    Path("/proc/self/clear_refs").write_text("5", "utf-8")
