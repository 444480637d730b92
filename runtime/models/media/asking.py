"""One call of LiteLLM for a picture or a recording: its time, its size, its failures, and what it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from runtime.contract import Usage
from runtime.errors import Cause, ModelFailed
from runtime.models.account.keys import Keys
from runtime.models.failures import failure_of
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.litellm_model import key_for_own_server
from runtime.models.media.bounded import AnswerBound, bounded_by
from runtime.models.settings import ModelSettings
from runtime.text.glyphs import bound

UNPRICED_MEDIA: Final = (
    "The model {model} has no known price, so it isn't asked. Set {table}.price to US dollars for {counted}, or "
    'budgets.unpriced = "warn".'
)
COUNTED: Final = {"images": "one picture", "transcription": "a minute", "speech": "a million characters"}
"""Units of a price, by the table that has it."""
DETAIL_MAX_CHARS: Final = 1_000
ANSWER_MAX_BYTES: Final = 64 << 20
"""Bytes of an answer of a vendor: four pictures of 10 MB, written as base64."""
ANSWER_TOO_LARGE: Final = "The model {model} sent more than {most} MiB, so its answer was not taken."


@dataclass(frozen=True, slots=True)
class Unit:
    """Price of one picture, one minute or a million characters in US dollars, and the table of the settings that has it. None: LiteLLM's list."""

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

    async def ask(
        self, call: str, more: dict[str, Any], units: Callable[[Any], float | None], most: int = ANSWER_MAX_BYTES
    ) -> tuple[Any, Usage]:
        """The answer of LiteLLM's function `call`, of at most `most` bytes, and its cost; `units` counts pictures, minutes or
        characters. Errors: ModelFailed."""
        litellm = await self._library.get(lean=self._settings.lean)
        spoken = "input" in more
        if self._unit.is_needed and self._unit.price is None and not _is_priced(litellm, self._settings.name, spoken):
            table = self._unit.table
            words = UNPRICED_MEDIA.format(model=self._settings.name, table=table, counted=COUNTED[table])
            raise ModelFailed(words)
        self._library.spare_loggers()
        limit, size = self._settings.timeout, AnswerBound(most)
        function: Callable[..., Awaitable[Any]] = getattr(litellm, call)
        try:
            with bounded_by(size):
                async with asyncio.timeout(limit.total_seconds()):
                    answer = await function(**self._arguments(), **more)
        except Exception as error:  # noqa: BLE001 - LiteLLM names no closed set of errors; all end in ModelFailed
            if size.is_exceeded:
                words = ANSWER_TOO_LARGE.format(model=self._settings.name, most=most >> 20)
                raise ModelFailed(words, cause=Cause.ANSWER) from None
            failure = failure_of(error, litellm=litellm, model=self._settings.name, limit=limit)
            detail = bound(self._keys.hidden(f"{type(error).__name__}: {error}"), DETAIL_MAX_CHARS)
            raise ModelFailed(self._keys.hidden(failure.words), detail=detail, cause=failure.cause) from None
        sent = str(more.get("input") or "")
        return answer, self._spent(litellm, answer, call.removeprefix("a"), units(answer), sent)

    def _arguments(self) -> dict[str, Any]:
        settings = self._settings
        optional = {"api_base": settings.api_base, "api_key": self._keys.current or key_for_own_server(settings)}
        own = {"model": settings.name, "timeout": settings.timeout.total_seconds(), "num_retries": 0}
        own["max_retries"] = 0  # of the vendor's client, each of which would be paid; without it LiteLLM takes two
        return {**own, **{key: value for key, value in optional.items() if value}}

    def _spent(self, litellm: Any, answer: Any, kind: str, units: float | None, words: str) -> Usage:
        model, usage = self._settings.name, getattr(answer, "usage", None)
        read, written = (int(getattr(usage, f"{way}_tokens", 0) or 0) for way in ("input", "output"))
        price = self._unit.price
        own = None if price is None or units is None else price * units
        cost = _listed_cost(litellm, answer, model, kind, words) if price is None else own
        return Usage(model, read, written, 0 if cost is None else round(cost * 1_000_000), unpriced=cost is None)


def _is_priced(litellm: Any, model: str, spoken: bool) -> bool:
    """True if LiteLLM's list can tell what a call costs: of speech by characters, since nothing else is known of it."""
    try:
        listed = litellm.get_model_info(model=model)
    except Exception:  # noqa: BLE001 - that it is missing has no class of its own
        return False
    return not spoken or bool(listed.get("input_cost_per_character"))


def _listed_cost(litellm: Any, answer: Any, model: str, kind: str, words: str) -> float | None:
    """By LiteLLM's list; None for a model that is in none. Of `words`, if some were sent to be spoken, each character counts: LiteLLM
    itself leaves out blanks, which vendors bill."""
    try:
        if words:
            return float(litellm.get_model_info(model=model)["input_cost_per_character"]) * len(words) or None
        return float(litellm.completion_cost(completion_response=answer, model=model, call_type=kind)) or None
    except Exception:  # noqa: BLE001 - that it is missing has no class of its own
        return None
