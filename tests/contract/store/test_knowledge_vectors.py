"""Documents are found by meaning too: their parts get vectors in the background, which go with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.wiring.knowledge.packs import search_of
from bot.wiring.memory.embedder import meaning_of
from runtime.contract import Address, NodeId
from runtime.contract.memory.embedding import Embedded, Embedder
from runtime.contract.memory.facts import MemoryActor
from runtime.knowledge.book import PackBook
from runtime.knowledge.packs import Pack
from runtime.store.protocol import Duty
from runtime.store.store import Store
from runtime.vectors.embedding import Embedding
from tests.contract.store.stage import Stage
from tests.contract.store.test_knowledge import LEAVE, Reading
from tests.contract.store.test_memory_search import kept
from tests.contract.store.test_memory_vectors import SPENT, Model

DOCTOR = "# Health\n\nThe doctor comes on Mondays.\n"
HERE = MemoryActor("ops", Address.parse("slack:work/C1"), None)


class Vectored:
    """A pack of three documents that was read, and the model that makes their vectors."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.reading, self.stage, self.folder = Reading(stage, Pack("handbook", folder)), stage, folder
        self.model: Embedder = Model()
        for name, text in (("health.md", DOCTOR), ("leave.md", LEAVE), ("cars.md", "# Cars\n\nThe car is red.\n")):
            (folder / name).write_text(text)

    async def read(self) -> None:
        await self.reading.round("handbook")

    async def embedded(self) -> int:
        async def take(role: str) -> Duty | None:
            return Duty(role, NodeId("node-1"), 1)

        store = self.stage.store
        return await Embedding(
            sources={"memories": store.memory_vectors, "documents": store.knowledge_vectors},
            costs=store.embedding_costs,
            embedder=lambda: self.model,
            take=take,
            now=store.now,
        ).look()

    async def found(self, query: str, *, packs: Sequence[str] = ("handbook",)) -> list[str]:
        store = self.stage.store
        book = PackBook(search_of(store, meaning_of(store, self.model)), lambda: self.reading.packs, str)
        return [one.place for one in await book.search(query, packs, by=HERE)]


@pytest.fixture
def vectored(stage: Stage, tmp_path: Path) -> Vectored:
    (tmp_path / "handbook").mkdir()
    return Vectored(stage, tmp_path / "handbook")


async def test_a_question_in_other_words_is_found_once_the_vectors_are_there(vectored: Vectored) -> None:
    await vectored.read()
    assert await vectored.found("who is the physician?") == []
    assert await vectored.found("doctor") == ["health.md"], "words find it at once"
    assert await vectored.embedded() == 3
    assert await vectored.found("who is the physician?") == ["health.md"]
    assert await vectored.found("vehicle") == ["cars.md"]
    assert await vectored.found("physician", packs=["other"]) == []
    assert await vectored.embedded() == 0
    [pack] = await vectored.stage.store.knowledge.counts()
    assert (pack.parts, pack.vectors) == (3, 3)
    rows = await vectored.stage.store.knowledge.parts("handbook")
    assert [(one.parts, one.vectors) for one in rows.values()] == [(1, 1)] * 3


async def test_both_orders_are_one_and_whoever_asks_pays(vectored: Vectored) -> None:
    (vectored.folder / "visit.md").write_text("# Visits\n\nEach physician signs in.\n")
    await vectored.read()
    await vectored.embedded()
    assert (await vectored.found("physician on Mondays"))[0] == "health.md"
    assert set(await vectored.found("physician on Mondays")) == {"health.md", "visit.md"}
    spent = await vectored.stage.store.figures.costs(vectored.stage.store.now().replace(hour=0))
    assert sorted((row.agent, row.cost_micros) for row in spent.rows) == [("main", SPENT), ("ops", 2 * SPENT)]


async def test_a_part_that_is_replaced_takes_its_vector_along(vectored: Vectored) -> None:
    await vectored.read()
    await vectored.embedded()
    (vectored.folder / "health.md").write_text("# Health\n\nThe nurse comes on Fridays, every single week.\n")
    (vectored.folder / "leave.md").unlink()
    await vectored.read()
    assert await vectored.stage.column("SELECT count(*) FROM knowledge_vectors") == [1]
    assert await vectored.found("physician") == []
    assert await vectored.embedded() == 1


async def test_documents_stay_found_by_words_while_the_model_is_away(vectored: Vectored) -> None:
    vectored.model = model = Model(fails="The model's server can't be reached.")
    await vectored.read()
    assert await vectored.embedded() == 0
    assert await vectored.found("doctor") == ["health.md"]
    model.fails = ""
    assert await vectored.embedded() == 3


async def test_two_models_stand_side_by_side_until_each_part_has_its_new_vector(vectored: Vectored) -> None:
    await vectored.read()
    await vectored.embedded()
    old, new = vectored.model, Model("fake/new", fails="not now")
    vectored.model = new
    await vectored.embedded()
    vectored.model = old
    assert await vectored.found("physician") == ["health.md"]
    vectored.model, new.fails = new, ""
    await vectored.embedded()
    assert await vectored.found("physician") == ["health.md"]
    assert [(one.model, one.count) for one in await vectored.stage.store.knowledge_vectors.stock()] == [("fake/new", 3)]


async def test_vectors_of_parts_are_made_anew_for_other_dimensions(vectored: Vectored) -> None:
    vectored.model = model = Model()
    await vectored.read()
    await vectored.embedded()
    model.dims = 64
    assert await vectored.found("physician") == []
    (vectored.folder / "more.md").write_text("# More\n\nSomething new.\n")
    await vectored.read()
    await vectored.embedded()
    await vectored.embedded()
    assert await vectored.found("physician") == ["health.md"]
    assert [(one.dims, one.count) for one in await vectored.stage.store.knowledge_vectors.stock()] == [(64, 4)]


class Interrupted(Model):
    """A model that is asked for documents while somebody has something remembered."""

    store: Store

    async def embed(self, texts: Sequence[str]) -> Embedded:
        if not self.asked:
            await kept(self.store, "I drink tea")
        return await super().embed(texts)


async def test_a_new_memory_does_not_wait_for_a_whole_pack(vectored: Vectored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.vectors.embedding.TEXTS_MOST", 1)
    await vectored.read()
    vectored.model = model = Interrupted()
    model.store = vectored.stage.store
    assert await vectored.embedded() == 4
    assert model.asked.index("I drink tea") == 1
