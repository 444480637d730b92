"""`[embeddings]`: the model that finds memories by meaning."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from runtime.settings.types import Number, Secret, Section


class Embeddings(Section):
    """Finds memories and documents by meaning, not only by words: [models.md](models.md#embeddings)."""

    name: str = Field(
        default="",
        description='Model of embeddings, such as "openai/text-embedding-3-small" or "ollama/nomic-embed-text". Empty: '
        "memories are found by words alone.",
    )
    api_base: str = Field(
        default="", description="Address of an OpenAI-compatible or local server; empty: the vendor's own."
    )
    api_key: Secret = Field(
        default=None,
        description="The vendor's key. Default: the vendor's usual variable (OPENAI_API_KEY, …).",
    )
    api_key_env: str = Field(default="", description="Name of the variable that holds `api_key`.")
    input_price: Number | None = Field(
        default=None, ge=0, description="US dollars per million tokens. Default: the price in LiteLLM's list."
    )
    timeout_seconds: Number = Field(default=30, gt=0, le=600, description="Longest wait for one answer.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)
