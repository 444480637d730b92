"""`[tools.search]`: services that search the web."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from bot.settings.sources import Layers
from runtime.settings.types import Secret, Section, is_http_address

Provider = Literal["searxng", "brave", "tavily"]
KEYS: Final = {"brave": "brave_key", "tavily": "tavily_key"}


def _listed(given: object) -> object:
    return (given,) if isinstance(given, str) else given


def _base(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('the address of an instance, such as "https://search.example.org"')
    return url.rstrip("/")


class Search(Section):
    """Services that `web_search` asks, one after another until one answers: [tools.md](tools.md)."""

    provider: Annotated[tuple[Provider, ...], BeforeValidator(_listed)] = Field(
        default=(), description='"searxng", "brave" or "tavily", or several in a list. Empty: there is no `web_search`.'
    )
    url: Annotated[str, AfterValidator(_base)] = Field(
        default="", description="Address of the SearXNG instance; its settings must list `json` among `search.formats`."
    )
    brave_key: Secret = Field(default=None, description="Key for Brave's search API.")
    brave_key_env: str = Field(default="", description="Name of the variable or sealed secret that holds `brave_key`.")
    tavily_key: Secret = Field(default=None, description="Key for Tavily's search API.")
    tavily_key_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `tavily_key`."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(set(self.provider)) != len(self.provider):
            raise ValueError("provider names one service twice")
        if "searxng" in self.provider and not self.url:
            raise ValueError('provider has "searxng": set url to the address of its instance')
        return self

    @property
    def without_key(self) -> list[str]:
        """Services that are named and whose key is missing."""
        return [name for name in self.provider if name in KEYS and getattr(self, KEYS[name]) is None]


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Services that need a key and name none."""
    provider = layers.get("tools.search.provider")
    named = provider if isinstance(provider, list | tuple) else [provider]
    for name, key in KEYS.items():
        if name in named and not layers.get(f"tools.search.{key}") and not layers.get(f"tools.search.{key}_env"):
            yield f"tools.search.{key}", f"is missing; set {key}_env to the variable that holds the key for {name}"
