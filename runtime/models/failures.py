"""Failures of a model call, in words for the person who waits, and if a repeat is worth it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Final

from runtime.models.vendors import fault_of
from runtime.text.glyphs import bound


class Repeat(Enum):
    NEVER = "never"
    ONCE = "once"
    OFTEN = "often"  # as often as the settings say


@dataclass(frozen=True, slots=True)
class Failure:
    """`words` are a whole sentence; `wait` is what the provider asked for before the next try.

    `overflow`: the request does not fit into the model's window.
    """

    words: str
    repeat: Repeat = Repeat.NEVER
    wait: timedelta | None = None
    overflow: bool = False


class Unusable(Exception):
    """The answer came and cannot be used."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.words)
        self.failure = failure


BROKE_OFF: Final = Failure("The connection to the model broke in the middle of its answer.", Repeat.OFTEN)
TOO_LONG: Final = Failure("The model's answer was cut at its length limit before it was complete, so it was not used.")
FILTERED: Final = Failure("The model's provider stopped the answer with its content filter.")
EMPTY_ANSWER: Final = Failure("The model gave an empty answer.", Repeat.ONCE)
AWAY: Final = Failure("The model's server can't be reached.", Repeat.OFTEN)

NOT_REACHED: Final = re.compile("Connection error|Cannot connect to host")
"""What the client libraries of OpenAI and of all other vendors say; LiteLLM calls both an error of the server."""


def failure_of(error: Exception, *, litellm: Any, model: str, limit: timedelta) -> Failure:
    """Failure behind `error`. LiteLLM's classes follow the text of an answer, its `status_code` the wire: we ask that."""
    headers = getattr(error, "litellm_response_headers", None)
    match error:
        case Unusable():
            return error.failure
        case litellm.exceptions.MidStreamFallbackError():
            return BROKE_OFF
        case litellm.ContextWindowExceededError():
            return Failure(f"The conversation is too long for the model {model}.", overflow=True)
        case TimeoutError() | litellm.Timeout() if headers is None:
            return Failure(f"The model did not answer within {limit.total_seconds():g} seconds.")
        case litellm.APIConnectionError() | litellm.InternalServerError() if NOT_REACHED.search(str(error)):
            return AWAY
        case litellm.BadRequestError() if "LLM Provider NOT provided" in str(error):
            return Failure(f"The model can't be used: {fault_of(model) or f'{model} names no provider LiteLLM knows'}.")
        case litellm.AuthenticationError() if headers is None and "Missing" in str(error):
            return Failure(f"There is no key for the model {model} in the settings.")
        case _:
            return of_status(getattr(error, "status_code", None), error, model, asked_wait(headers))


def of_status(status: int | None, error: Exception, model: str, wait: timedelta | None) -> Failure:
    match status:
        case 401:
            return Failure(f"The model's provider refused the key (401): check the key for {model} in the settings.")
        case 402:
            return Failure(f"The account behind the key for {model} has no credit left (402).")
        case 403:
            return Failure(f"The key may not use the model {model} (403).")
        case 404:
            return Failure(f"The model {model} is unknown to its provider (404): check its name and api_base.")
        case 408:
            return Failure("The model's provider took too long (408).", Repeat.OFTEN, wait)
        case 429:
            return Failure("The model's provider is getting too many requests right now (429).", Repeat.OFTEN, wait)
        case int() if status >= 500:
            return Failure(f"The model's provider had an internal error ({status}).", Repeat.OFTEN, wait)
        case int():
            return Failure(f"The model's provider refused the request ({status}): {message_of(error)}")
        case None:
            return Failure(f"The model {model} couldn't be called: {message_of(error)}")


def message_of(error: Exception) -> str:
    """The provider's own words, on one line, without LiteLLM's prefixes and the JSON around them."""
    text = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -) )+", "", str(error))
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["error"]["message"])
    return bound(" ".join(text.split()), 300) or type(error).__name__


def asked_wait(headers: Any) -> timedelta | None:
    """The wait in a Retry-After header; one that names a date is left to our own back-off."""
    try:
        return timedelta(seconds=float((headers or {})["retry-after"]))
    except (KeyError, ValueError, OverflowError):
        return None
