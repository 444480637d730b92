"""One call of LiteLLM for a picture or a recording: its time, its failures, and what it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from runtime.contract import Usage
from runtime.errors import ModelFailed
from runtime.models.account.keys import Keys
from runtime.models.failures import failure_of
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.litellm_model import key_for_own_server
from runtime.models.settings import ModelSettings
from runtime.text.glyphs import bound

UNPRICED_MEDIA: Final = "The model {model} has no known price, so it isn't asked. Set price under [{table}]."
DETAIL_MAX_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unit:
    """Price of one picture or one minute in US dollars, and the table of the settings that has it. None: LiteLLM's list."""

    table: str
    price: float | None = None
    is_needed: bool = False


class Asking:
    """Sends calls of one model."""

    def __init__(self, settings: ModelSettings, unit: Unit, *, library: Library = LIBRARY) -> None:
        self._settings = settings
        self._unit = unit
        self._library = library
        self._keys = Keys(settings.keys)

    async def ask(self, call: str, more: dict[str, Any], units: Callable[[Any], float | None]) -> tuple[Any, Usage]:
        """The answer of LiteLLM's function `call`, and its cost; `units` counts pictures or minutes in it. Errors: ModelFailed."""
        litellm = await self._library.get(lean=self._settings.lean)
        if self._unit.is_needed and self._unit.price is None and not _is_listed(litellm, self._settings.name):
            raise ModelFailed(UNPRICED_MEDIA.format(model=self._settings.name, table=self._unit.table))
        self._library.spare_loggers()
        limit = self._settings.timeout
        function: Callable[..., Awaitable[Any]] = getattr(litellm, call)
        try:
            async with asyncio.timeout(limit.total_seconds()):
                answer = await function(**self._arguments(), **more)
        except Exception as error:  # noqa: BLE001 - LiteLLM names no closed set of errors; all end in ModelFailed
            failure = failure_of(error, litellm=litellm, model=self._settings.name, limit=limit)
            detail = bound(self._keys.hidden(f"{type(error).__name__}: {error}"), DETAIL_MAX_CHARS)
            raise ModelFailed(self._keys.hidden(failure.words), detail=detail, cause=failure.cause) from None
        return answer, self._spent(litellm, answer, call.removeprefix("a"), units(answer))

    def _arguments(self) -> dict[str, Any]:
        settings = self._settings
        optional = {"api_base": settings.api_base, "api_key": self._keys.current or key_for_own_server(settings)}
        own = {"model": settings.name, "timeout": settings.timeout.total_seconds(), "num_retries": 0}
        return {**own, **{key: value for key, value in optional.items() if value}}

    def _spent(self, litellm: Any, answer: Any, kind: str, units: float | None) -> Usage:
        model, usage = self._settings.name, getattr(answer, "usage", None)
        read, written = (int(getattr(usage, f"{way}_tokens", 0) or 0) for way in ("input", "output"))
        price = self._unit.price
        own = None if price is None or units is None else price * units
        cost = _listed_cost(litellm, answer, model, kind) if price is None else own
        return Usage(model, read, written, 0 if cost is None else round(cost * 1_000_000), unpriced=cost is None)


def _is_listed(litellm: Any, model: str) -> bool:
    try:
        litellm.get_model_info(model=model)
    except Exception:  # noqa: BLE001 - that it is missing has no class of its own
        return False
    return True


def _listed_cost(litellm: Any, answer: Any, model: str, kind: str) -> float | None:
    """By LiteLLM's list; None for a model that is in none."""
    try:
        return float(litellm.completion_cost(completion_response=answer, model=model, call_type=kind)) or None
    except Exception:  # noqa: BLE001 - that it is missing has no class of its own
        return None
