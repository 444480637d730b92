"""The model of embeddings, made of the settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from bot.settings.settings import Settings
from bot.wiring.models.made import refuses_unpriced
from runtime.contract.memory.embedding import Embedder
from runtime.store.protocol import Duty
from runtime.store.store import Store
from runtime.vectors.near import NearRows

if TYPE_CHECKING:
    from runtime.guard.door import Door
    from runtime.models.settings import ModelSettings
    from runtime.vectors.embedding import Embedding


def embedder_of(settings: Settings, door: Door) -> Embedder | None:
    """None where the settings name none: then words have to do. Its client library is loaded by the first call."""
    given = embedding_settings(settings)
    if given is None:
        return None
    from runtime.models.embedding.embedder import LiteEmbedder
    from runtime.vectors.guarded import GuardedEmbedder

    return GuardedEmbedder(LiteEmbedder(given), door)


def embedding_settings(settings: Settings) -> ModelSettings | None:
    one = settings.embeddings
    if not one.name:
        return None
    from runtime.models.settings import ModelSettings, Prices

    price = one.input_price
    return ModelSettings(
        name=one.name,
        api_base=one.api_base,
        api_key=one.api_key.get_secret_value() if one.api_key else "",
        timeout=one.timeout,
        lean=settings.model.lean,
        prices=Prices(price, None if price is None else 0.0, refuses_unpriced(settings)),
    )


def meaning_of(store: Store, embedder: Embedder | None) -> NearRows:
    """The search by meaning, which finds nothing without a model."""
    return NearRows(costs=store.embedding_costs, embedder=lambda: embedder, now=store.now)


def embedding_of(
    settings: Settings, store: Store, embedder: Embedder | None, take: Callable[[str], Awaitable[Duty | None]]
) -> Embedding | None:
    """The duty that has vectors made for what the settings have searched; None where that is nothing, or without a model."""
    sources = {"memories": store.memory_vectors} if settings.memory.enabled else {}
    sources |= {"documents": store.knowledge_vectors} if settings.knowledge else {}
    if not sources or embedder is None:
        return None
    from runtime.vectors.embedding import Embedding

    return Embedding(
        sources=sources,
        costs=store.embedding_costs,
        embedder=lambda: embedder,
        take=take,
        now=store.now,
    )
