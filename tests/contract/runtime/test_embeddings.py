"""A model of embeddings with the real LiteLLM, in its lean form, against a server that speaks OpenAI's wire."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.testing.serve import serving
from runtime.contract.memory.embedding import Embedded
from runtime.errors import ModelFailed
from runtime.guard.door import Door
from runtime.guard.findings import Detector, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.models.embedding.answers import vectors_of
from runtime.models.embedding.embedder import LiteEmbedder
from runtime.models.litellm_loading import VARIABLES
from runtime.models.settings import ModelSettings, Prices
from runtime.store.store import open_store
from runtime.vectors.guarded import GuardedEmbedder
from tests.contract.store.stage import HandClock, Stage
from tests.contract.store.test_knowledge_vectors import Vectored
from tests.fakes.embeddings import Embeddings, vector_of

for name in VARIABLES:
    os.environ.setdefault(name, "True")

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]


@pytest.fixture(autouse=True)
async def _connections_end() -> AsyncIterator[None]:
    """LiteLLM keeps a client for each server that it asked, and closes none: here it ends with its test."""
    yield
    if (litellm := sys.modules.get("litellm")) is None:
        return
    for client in [*litellm.in_memory_llm_clients_cache.cache_dict.values()]:
        if hasattr(client, "close"):
            await client.close()
    litellm.in_memory_llm_clients_cache.flush_cache()


TOKEN = f"ghp_{1234:036}"
NAME = "openai/text-embedding-3-small"


async def embedded(server: Embeddings, *texts: str, seconds: float = 30, **given: object) -> Embedded:
    async with serving(server.app()) as url:
        settings = ModelSettings(NAME, f"{url}/v1", "the-key", timeout=timedelta(seconds=seconds), **given)  # type: ignore[arg-type]
        return await LiteEmbedder(settings).embed(texts)


async def test_texts_become_vectors_with_their_price() -> None:
    found = await embedded(server := Embeddings(), "My doctor is Dr Hofer", "", "tea")
    assert [len(vector) for vector in found.vectors] == [256] * 3
    assert found.vectors[2] == pytest.approx(vector_of("tea"))
    assert all(math.isclose(sum(part * part for part in vector), 1, rel_tol=1e-6) for vector in found.vectors)
    assert (found.usage.model, found.usage.input_tokens, found.usage.unpriced) == (NAME, 8, False)
    assert server.requests[0]["input"] == ["My doctor is Dr Hofer", " ", "tea"]
    priced = await embedded(Embeddings(), "tea" * 40, prices=Prices(1_000_000, 0))
    assert priced.usage.cost_micros == 30 * 1_000_000


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (Embeddings(status=500), "500|unavailable|error"),
        (Embeddings(status=401), "key"),
        (Embeddings(spoilt=math.nan), "NaN"),
        (Embeddings(missing=True), "1 vectors for 2 texts"),
    ],
)
async def test_a_model_that_fails_says_so_without_its_key(server: Embeddings, words: str) -> None:
    with pytest.raises(ModelFailed, match=words) as failed:
        await embedded(server, "tea", "milk")
    assert "the-key" not in f"{failed.value}{failed.value.detail}"
    assert len(server.requests) == 1


async def test_a_model_that_hangs_is_not_waited_for() -> None:
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.5 seconds"):
        await embedded(Embeddings(delay=5), "tea", seconds=0.5)  # LiteLLM has asked by then


async def test_a_known_secret_never_leaves() -> None:
    async with serving((server := Embeddings()).app()) as url:
        model = LiteEmbedder(ModelSettings(NAME, f"{url}/v1", "k"))
        door = Door(Guard(GuardRules({Detector.SHAPE: Strictness.REDACT})))
        await GuardedEmbedder(model, door).embed([f"the token is {TOKEN}"])
    assert TOKEN not in str(server.requests)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{"embedding": [1.0], "index": 0}, {"embedding": [1.0, 0.0], "index": 1}], "several lengths"),
        ([{"embedding": []}, {"embedding": []}], "empty vectors"),
        ([{"embedding": [0.0]}, {"embedding": [0.0]}], "without a direction"),
        ([{"embedding": ["x"]}, {"embedding": [1.0]}], "no number"),
    ],
)
def test_numbers_of_no_use_are_refused(rows: list[dict[str, object]], fault: str) -> None:
    with pytest.raises(ModelFailed, match=fault):
        vectors_of(rows, 2)


def test_vectors_come_in_the_order_of_the_texts() -> None:
    rows = [{"embedding": [0.0, 2.0], "index": 1}, {"embedding": "AACAPwAAAAA=", "index": 0}]
    assert vectors_of(rows, 2) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "rows", [None, [None], [{}], "ab", [{"embedding": "abc"}], [{"embedding": "AAAAAAA="}], [{"embedding": [10**400]}]]
)
def test_an_answer_of_any_form_ends_nothing(rows: Any) -> None:
    """The duty that asks would end its node with any other error."""
    with pytest.raises(ModelFailed, match="of no use"):
        vectors_of(rows, 1)


async def test_a_question_in_other_words_is_found_in_documents(url: str, tmp_path: Path) -> None:
    store, clock = await open_store(url), HandClock()
    await (stage := Stage(store, clock)).open()
    (tmp_path / "handbook").mkdir()
    vectored = Vectored(stage, tmp_path / "handbook")
    async with serving((server := Embeddings()).app()) as place:
        vectored.model = LiteEmbedder(ModelSettings(NAME, f"{place}/v1", "the-key"))
        await vectored.read()
        assert await vectored.found("who is the physician?") == []
        assert await vectored.embedded() == 3
        assert await vectored.found("who is the physician?") == ["health.md"]
    assert [len(request["input"]) for request in server.requests] == [1, 3, 1]
    await store.close()
