"""Vectors of memories: made in the background, compared within the reader's reaches, and gone with their row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest

from runtime.contract import NodeId, Usage
from runtime.contract.memory.embedding import Embedded
from runtime.contract.memory.facts import Reader
from runtime.domain.memory.scopes import reaches_of
from runtime.errors import ModelFailed
from runtime.memory.recalling import Recalling
from runtime.store.protocol import Duty
from runtime.store.sql.driver import MakeOp
from runtime.store.store import Store
from runtime.store.vectors.source import DROPPED_AT_ONCE
from runtime.vectors.embedding import Embedding
from runtime.vectors.near import EMBED_REST, NearRows
from runtime.vectors.nearest import nearest
from tests.contract.store.stage import HandClock
from tests.contract.store.test_memory_search import HERE, kept
from tests.fakes.embeddings import DIMS, vector_of

SPENT: Final = 7


@dataclass
class Model:
    """A model of embeddings in this process. `asked` are the texts; `fails` is why it doesn't answer."""

    name: str = "fake/near"
    dims: int = DIMS
    fails: str = ""
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.asked += texts
        if self.fails:
            raise ModelFailed(self.fails)
        return Embedded([vector_of(text, self.dims) for text in texts], Usage(self.name, 3, 0, SPENT))


def duty_of(store: Store, model: Model | None) -> Embedding:
    async def take(role: str) -> Duty | None:
        return Duty(role, NodeId("node-1"), 1)

    return Embedding(
        sources={"memories": store.memory_vectors},
        costs=store.embedding_costs,
        embedder=lambda: model,
        take=take,
        now=store.now,
    )


def recalling_of(store: Store, model: Model | None) -> Recalling:
    return Recalling(
        search=store.memory_search,
        vectors=store.memory_vectors,
        messages=store.message_search,
        meaning=NearRows(costs=store.embedding_costs, embedder=lambda: model, now=store.now),
        now=store.now,
    )


async def recalled(store: Store, query: str, model: Model | None, reader: Reader = HERE) -> list[str]:
    return [one.memory.text for one in await recalling_of(store, model).recall(query, reader)]


async def near(store: Store, model: Model, query: str) -> list[str]:
    found, _ = await nearest(store.memory_vectors, reaches_of(HERE), model.name, vector_of(query, model.dims))
    return [*found]


async def test_a_row_is_found_by_words_until_its_vector_is_there(store: Store) -> None:
    await kept(store, "My doctor is Dr Hofer")
    await kept(store, "The van is red")
    model = Model()
    assert await recalled(store, "Who is my doctor?", model) == ["My doctor is Dr Hofer"]
    assert await recalled(store, "Who is my physician?", model) == []
    assert await duty_of(store, model).look() == 2
    assert await recalled(store, "Who is my physician?", model) == ["My doctor is Dr Hofer"]
    assert await recalled(store, "Who is my physician?", None) == []


async def test_only_what_is_missing_is_made_and_money_is_counted(store: Store) -> None:
    await kept(store, "I drink tea")
    model = Model()
    duty = duty_of(store, model)
    assert [await duty.look(), await duty.look(), len(model.asked)] == [1, 0, 1]
    await kept(store, "I drink milk", agent="ops")
    assert [await duty.look(), model.asked] == [1, ["I drink tea", "I drink milk"]]
    spent = await store.figures.costs(store.now().replace(hour=0))
    assert sorted((row.agent, row.cost_micros) for row in spent.rows) == [("main", SPENT), ("ops", SPENT)]


async def test_a_foreign_row_is_never_near(store: Store) -> None:
    await kept(store, "I drink tea", agent="ops")
    await duty_of(store, model := Model()).look()
    assert await near(store, model, "I drink tea") == []
    assert await recalled(store, "I drink tea", model) == []


async def test_a_model_that_is_away_loses_nothing(store: Store) -> None:
    await kept(store, "I drink tea")
    model = Model(fails="The model's server can't be reached.")
    duty = duty_of(store, model)
    assert await duty.look() == 0
    assert await recalled(store, "tea", model) == ["I drink tea"]
    model.fails = ""
    assert await duty.look() == 1


async def test_a_model_that_is_away_is_not_asked_by_each_message(store: Store, clock: HandClock) -> None:
    await kept(store, "I drink tea")
    recalling = recalling_of(store, model := Model(fails="It doesn't answer."))
    for _ in range(3):
        assert [one.memory.text for one in await recalling.recall("tea", HERE)] == ["I drink tea"]
    assert len(model.asked) == 1
    clock.advance(seconds=EMBED_REST.total_seconds())
    await recalling.recall("tea", HERE)
    assert len(model.asked) == 2


async def test_two_models_stand_side_by_side_until_all_rows_have_the_new_ones(store: Store) -> None:
    texts = ["I drink tea", "My doctor is Dr Hofer"]
    for text in texts:
        await kept(store, text)
    old, new = Model("fake/old"), Model("fake/new", fails="not now")
    await duty_of(store, old).look()
    await duty_of(store, new).look()
    assert await recalled(store, "physician", old) == texts[1:]
    assert [(one.model, one.count) for one in await store.memory_vectors.stock()] == [("fake/old", 2)]
    new.fails = ""
    await duty_of(store, new).look()
    assert [(one.model, one.count) for one in await store.memory_vectors.stock()] == [("fake/new", 2)]
    assert await recalled(store, "physician", new) == texts[1:]


async def test_vectors_of_another_length_are_made_anew(store: Store) -> None:
    await kept(store, "My doctor is Dr Hofer")
    duty = duty_of(store, model := Model())
    await duty.look()
    model.dims = 64
    await kept(store, "I drink tea")
    assert await recalled(store, "physician", model) == []
    await duty.look()
    await duty.look()
    assert [(one.dims, one.count) for one in await store.memory_vectors.stock()] == [(64, 2)]
    assert await recalled(store, "physician", model) == ["My doctor is Dr Hofer"]


async def test_what_ended_meanwhile_gets_no_vector(store: Store) -> None:
    one = await kept(store, "I live in Graz", subject="I", relation="live in")
    await kept(store, "I live in Rome", subject="I", relation="live in")
    assert await store.memory_vectors.keep("fake/near", [(one.id, b"\0" * 4)], 1) == 0
    two = await kept(store, "I drink tea")
    await duty_of(store, Model()).look()
    await store.memories.remove([two.id], actor="cli")
    assert [one.count for one in await store.memory_vectors.stock()] == [1]
    assert await store.memory_vectors.waiting("fake/near") == 0


async def test_near_and_far_are_told_apart(store: Store) -> None:
    for text in ("I drink tea", "My car is red", "My doctor is Dr Hofer"):
        await kept(store, text)
    await duty_of(store, model := Model()).look()
    found, crowd = await nearest(store.memory_vectors, reaches_of(HERE), model.name, vector_of("red vehicle"))
    assert math.isclose(sum(part * part for part in vector_of("x")), 1)
    assert crowd.count == 3
    assert max(found.values()) > 0.5 > sorted(found.values())[-2]


async def test_an_agent_without_money_keeps_no_other_waiting(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def affords(agent: str, *_: object) -> bool:
        return agent != "poor"

    monkeypatch.setattr(store.embedding_costs, "affords", affords)
    await kept(store, "I drink milk", agent="poor")
    await kept(store, "I drink tea")
    duty = duty_of(store, model := Model())
    assert [await duty.look(), await duty.look(), model.asked] == [1, 0, ["I drink tea"]]
    assert await store.memory_vectors.waiting(model.name) == 1


async def test_vectors_of_no_use_go_a_few_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes meanwhile waits for the whole of a transaction."""
    one, write, dropped = await kept(store, "I drink tea"), store.memory_vectors._driver.write, list[int]()
    for at in range(DROPPED_AT_ONCE + 1):
        await store.memory_vectors.keep(f"fake/{at}", [(one.id, b"\0" * 4)], 1)
    await store.memory_vectors.keep("fake/new", [(one.id, b"\0" * 8)], 2)

    async def counted(make: MakeOp[int]) -> int:
        dropped.append(await write(make))
        return dropped[-1]

    monkeypatch.setattr(store.memory_vectors._driver, "write", counted)
    assert await store.memory_vectors.tidy("fake/new") == DROPPED_AT_ONCE + 1
    assert dropped == [DROPPED_AT_ONCE, 1]
    assert [(row.model, row.count) for row in await store.memory_vectors.stock()] == [("fake/new", 1)]
