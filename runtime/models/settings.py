"""One model as its settings have it: how it is reached, paid and told to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from runtime.models.account.tokens import OAUTH_KEY, KeyTokens
from runtime.models.images import Images

LONGEST_WAIT: Final = timedelta(seconds=30)
"""A provider that asks for more is not waited for: a person hears of it sooner."""


@dataclass(frozen=True, slots=True)
class Controls:
    """Controls of what a model writes; what is None or empty is left to its vendor."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning: str = ""
    seed: int | None = None
    stop: tuple[str, ...] = ()

    def on_the_wire(self) -> dict[str, Any]:
        """Arguments of OpenAI's chat completions, as LiteLLM translates them for all vendors."""
        told: dict[str, Any] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning or None,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; None where LiteLLM's list is to be asked. `are_needed`: without any it is not asked."""

    input: float | None = None
    output: float | None = None
    are_needed: bool = False

    @property
    def are_set(self) -> bool:
        return self.input is not None or self.output is not None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of a model, and how to reach it. `timeout` bounds the wait for an answer, in a stream for its next piece; a
    whole stream may take WHOLE_STREAM times as long.

    A failure of the moment is repeated `max_retries` times, where no wait is longer than `longest_wait`; with `yields`
    only where the vendor names one, or has an error of its own: others are there to answer meanwhile.
    `alias` is what people call it. With `api_keys`, each of them is tried where one is refused or has had too much.
    With a `login`, the token of that sign-in is its key, which `tokens` give when it is asked.
    `lean`: LiteLLM is loaded without what our calls do not use; the first call in a process decides.
    """

    name: str
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    stream: bool = True
    timeout: timedelta = timedelta(seconds=120)
    max_retries: int = 2
    images: Images = Images.AUTO
    alias: str = ""
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    organization: str = ""
    controls: Controls = Controls()
    prices: Prices = Prices()
    longest_wait: timedelta = LONGEST_WAIT
    yields: bool = False
    lean: bool = True
    login: str = ""
    tokens: KeyTokens | None = field(default=None, repr=False, compare=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, the first one first."""
        if self.login:
            return (OAUTH_KEY,)
        return self.api_keys or ((self.api_key,) if self.api_key else ())

    @property
    def title(self) -> str:
        """The model's name for people."""
        return self.alias or self.name
