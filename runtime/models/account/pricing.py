"""Price of a call: by the settings, else by LiteLLM's list; and a guess of its tokens where a vendor does not count."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, Final

import structlog

from runtime.contract import Call, ModelRequest
from runtime.models.settings import Prices

log = structlog.get_logger("models")

CHARACTERS_A_TOKEN: Final = 4
"""A rule of thumb for English text."""
TOKENS_TOLD_MAX: Final = 10**12
MICROS_TOLD_MAX: Final = 10**12
"""A million US dollars. More than that of one call is a mistake of its vendor's, and would fit into no row."""


class Pricing:
    """Price of one model's calls."""

    def __init__(self, model: str, prices: Prices) -> None:
        self._model = model
        self._prices = prices
        self._is_listed: bool | None = None

    def is_known(self, litellm: Any) -> bool:
        if (
            self._is_listed is None and not self._prices.are_set
        ):  # once: the search for a model that is not there is long
            self._is_listed = is_listed(litellm, self._model)
        return self._prices.are_set or bool(self._is_listed)

    def cost(self, litellm: Any, usage: Any) -> int | None:
        """In millionths of a US dollar; None for a model that has no price anywhere."""
        if not self.is_known(litellm):
            return None
        if self._prices.are_set:  # USD for a million tokens is millionths of a USD for each
            read, written = self._prices.input or 0, self._prices.output or 0
            return bounded(
                bounded(usage.prompt_tokens) * read + bounded(usage.completion_tokens) * written, MICROS_TOLD_MAX
            )
        try:
            usage = usage if isinstance(usage, litellm.Usage) else as_told(litellm, usage)
            cost = float(sum(litellm.cost_per_token(model=self._model, usage_object=usage))) * 1_000_000
            return bounded(round(cost), MICROS_TOLD_MAX)  # a cost that is no number is none
        except Exception:
            log.exception("the cost of a call is not known", model=self._model)  # no reason to lose its answer
            return None


def bounded(told: float, most: int = TOKENS_TOLD_MAX) -> int:
    """A number as a vendor tells it, as far as it can be one: nobody is paid for a call, and none is endless.

    >>> bounded(-3), bounded(7.6), bounded(10**400), bounded(True)
    (0, 8, 1000000000000, 1)
    """
    return round(min(max(0, told), most))


def is_listed(litellm: Any, model: str) -> bool:
    try:
        litellm.get_model_info(model=model)
    except Exception:  # noqa: BLE001 - that it is missing has no class of its own
        return False
    return True


def as_told(litellm: Any, usage: Any) -> Any:
    """The same in LiteLLM's form, for its list of prices."""
    read, written, both = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    return litellm.Usage(prompt_tokens=read, completion_tokens=written, total_tokens=both)


def cached_tokens(usage: Any) -> int:
    """Of the tokens read, how many a vendor took from its cache of prompts."""
    details = getattr(usage, "prompt_tokens_details", None)
    return bounded(getattr(details, "cached_tokens", None) or 0)


def estimated_usage(litellm: Any, request: ModelRequest, text: str, calls: Sequence[Call]) -> Any:
    """A guess for budgets where the provider does not count."""
    asked = len(request.system) + len(request.working) + sum(len(turn.text) for turn in request.turns)
    said = len(text) + sum(len(call.arguments) for call in calls)
    return litellm.Usage(
        prompt_tokens=ceil(asked / CHARACTERS_A_TOKEN), completion_tokens=ceil(said / CHARACTERS_A_TOKEN)
    )
