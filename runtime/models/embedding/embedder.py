"""Any model of embeddings that LiteLLM speaks to, behind our Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from runtime.contract import Usage
from runtime.contract.memory.embedding import TEXTS_MOST, Embedded
from runtime.errors import ModelFailed
from runtime.models.account.keys import Keys
from runtime.models.account.pricing import Pricing, bounded
from runtime.models.embedding.answers import vectors_of
from runtime.models.failures import failure_of
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.litellm_model import key_for_own_server
from runtime.models.settings import ModelSettings
from runtime.text.glyphs import bound

UNPRICED: Final = (
    "The model {model} has no known price, so it isn't asked. Set embeddings.input_price to US dollars for a million tokens, or "
    'budgets.unpriced = "warn".'
)


class LiteEmbedder:
    """Implements `contract.memory.Embedder`."""

    def __init__(self, settings: ModelSettings, *, library: Library = LIBRARY) -> None:
        self.name = settings.name
        self._settings = settings
        self._library = library
        self._keys = Keys(settings.keys)
        self._pricing = Pricing(settings.name, settings.prices)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        litellm = await self._library.get(lean=self._settings.lean)
        if self._settings.prices.are_needed and not self._pricing.is_known(litellm):
            raise ModelFailed(UNPRICED.format(model=self.name))
        self._library.spare_loggers()
        limit = self._settings.timeout
        try:
            async with asyncio.timeout(limit.total_seconds()):
                answer = await litellm.aembedding(**self._arguments(texts[:TEXTS_MOST]))
        except Exception as error:  # noqa: BLE001 - LiteLLM names no closed set of errors; all end in ModelFailed
            failure = failure_of(error, litellm=litellm, model=self.name, limit=limit)
            detail = bound(self._keys.hidden(f"{type(error).__name__}: {error}"), 1_000)
            raise ModelFailed(self._keys.hidden(failure.words), detail=detail, cause=failure.cause) from None
        return Embedded(vectors_of(answer.data, len(texts[:TEXTS_MOST])), self._spent(litellm, answer.usage))

    def _arguments(self, texts: Sequence[str]) -> dict[str, Any]:
        settings = self._settings
        optional = {
            "api_base": settings.api_base,
            "api_key": self._keys.current or key_for_own_server(settings),
        }
        return {
            "model": settings.name,
            "input": [text or " " for text in texts],  # vendors refuse an empty one
            "timeout": settings.timeout.total_seconds(),
            "num_retries": 0,
            **{key: value for key, value in optional.items() if value},
        }

    def _spent(self, litellm: Any, usage: Any) -> Usage:
        cost = self._pricing.cost(litellm, usage) if usage else None
        tokens = bounded(usage.prompt_tokens) if usage else 0
        return Usage(self.name, tokens, 0, cost or 0, unpriced=cost is None)
