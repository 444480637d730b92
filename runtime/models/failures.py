"""Failures of a model call, in words for the person who waits, and if a repeat is worth it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Final

from runtime.errors import Cause
from runtime.models.account.tokens import LoginFailed
from runtime.models.vendors import fault_of
from runtime.text.glyphs import bound


class Repeat(Enum):
    NEVER = "never"
    ONCE = "once"
    OFTEN = "often"  # as often as the settings say


@dataclass(frozen=True, slots=True)
class Failure:
    """`words` are a whole sentence; `wait` is what the provider asked for before the next try."""

    words: str
    repeat: Repeat = Repeat.NEVER
    wait: timedelta | None = None
    cause: Cause = Cause.OTHER


class Unusable(Exception):
    """The answer came and cannot be used."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.words)
        self.failure = failure


BROKE_OFF: Final = Failure(
    "The connection to the model broke in the middle of its answer.", Repeat.OFTEN, cause=Cause.AWAY
)
TOO_LONG: Final = Failure(
    "The model's answer was cut at its length limit before it was complete, so it was not used.", cause=Cause.ANSWER
)
WHOLE_STREAM: Final = 10
"""So many times as long as for one piece a stream may take in all: a model that goes on for ever ends with words."""
FILTERED: Final = Failure("The model's provider stopped the answer with its content filter.", cause=Cause.REQUEST)
EMPTY_ANSWER: Final = Failure("The model gave an empty answer.", Repeat.ONCE, cause=Cause.ANSWER)
AWAY: Final = Failure("The model's server can't be reached.", Repeat.OFTEN, cause=Cause.AWAY)

NOT_REACHED: Final = re.compile("Connection error|Cannot connect to host")
"""What the client libraries of OpenAI and of all other vendors say; LiteLLM calls both an error of the server."""

Statuses = range | frozenset[int]

REFUSED: Final = frozenset({400, 413, 422})
"""Statuses by which vendors refuse a request for what it says: another model would refuse it too."""

WAIT_MAX: Final = timedelta(days=1)
"""A vendor's wait that is longer is a mistake, such as the time of day in seconds since 1970 that some proxies write."""

NO_MONEY: Final = (
    r"usage limits?\b|credit balance|insufficient[_ ](quota|balance|credit|funds)|exceeded your current quota"
    r"|billing|out of credits|purchase credits|payment required|spend(ing)? limit"
)
# Some call what they are short of for a while a "quota" too: a 429 of Google's is only busy.
OVERLOADED: Final = r"overloaded|over capacity"
TOO_LARGE: Final = (
    r"prompt is too long|context[_ ]length|context window|maximum context|too many tokens in the (prompt|request)"
)
KEY_WORDS: Final = r"invalid[_ ](x-)?api[_ ]?key|api key not valid|incorrect api key"


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of failure: the statuses and, where they do not tell, the words of the body by which it is known."""

    statuses: Statuses
    cause: Cause
    words: str
    body: str = ""
    repeat: Repeat = Repeat.NEVER

    def fits(self, status: int, body: str) -> bool:
        return status in self.statuses and (not self.body or re.search(self.body, body, re.IGNORECASE) is not None)


REFUSALS: Final = frozenset({400, 413, 422})
# The first row that fits decides. Source: the pages on errors of platform.openai.com, docs.anthropic.com ("usage limits" are
# a 400, 529 is "overloaded") and ai.google.dev (a wrong key is a 400), read 2026-11.
ROWS: Final = (
    Row(REFUSALS, Cause.OVERFLOW, "The conversation is too long for the model {model}.", TOO_LARGE),
    Row(
        frozenset({400, 403, 429}),
        Cause.BILLING,
        "The account behind the key for {model} has reached its limit or has no credit left ({status}).",
        NO_MONEY,
    ),
    Row(frozenset({402}), Cause.BILLING, "The account behind the key for {model} has no credit left (402)."),
    Row(
        frozenset({400, 401}),
        Cause.AUTH,
        "The model's provider refused the key ({status}): check the key for {model} in the settings.",
        KEY_WORDS,
    ),
    Row(
        frozenset({401}),
        Cause.AUTH,
        "The model's provider refused the key (401): check the key for {model} in the settings.",
    ),
    Row(frozenset({403}), Cause.AUTH, "The key may not use the model {model} (403)."),
    Row(
        frozenset({404}),
        Cause.AUTH,
        "The model {model} is unknown to its provider (404): check its name and api_base.",
    ),
    Row(
        frozenset({429, 529}),
        Cause.BUSY,
        "The model's provider is getting too many requests right now ({status}).",
        repeat=Repeat.OFTEN,
    ),
    Row(
        frozenset({200, 500, 503}),
        Cause.BUSY,
        "The model's provider is getting too many requests right now ({status}).",
        OVERLOADED,
        Repeat.OFTEN,
    ),
    Row(frozenset({408, 409}), Cause.AWAY, "The model's provider took too long ({status}).", repeat=Repeat.OFTEN),
    Row(range(500, 1000), Cause.AWAY, "The model's provider had an internal error ({status}).", repeat=Repeat.OFTEN),
    Row(REFUSED, Cause.REQUEST, "The model's provider refused the request ({status}): {message}"),
    Row(
        range(1000),
        Cause.AWAY,
        "The model's provider answered with a status that I don't know ({status}): {message}",
        repeat=Repeat.ONCE,
    ),
)


def endless(limit: timedelta) -> Failure:
    """Failure of a stream that went on and on. Another try would be as long."""
    return Failure(
        f"The model's answer was still not complete after {limit.total_seconds():g} seconds.", cause=Cause.AWAY
    )


def failure_of(error: Exception, *, litellm: Any, model: str, limit: timedelta) -> Failure:
    """Failure behind `error`. LiteLLM's classes follow the text of an answer, its `status_code` the wire: we ask that."""
    headers = getattr(error, "litellm_response_headers", None)
    match error:
        case Unusable():
            return error.failure
        case LoginFailed():
            return Failure(str(error), Repeat.OFTEN if error.is_away else Repeat.NEVER, cause=error.cause)
        case litellm.exceptions.MidStreamFallbackError():
            return BROKE_OFF
        case litellm.ContextWindowExceededError():
            return Failure(f"The conversation is too long for the model {model}.", cause=Cause.OVERFLOW)
        case TimeoutError() | litellm.Timeout() if headers is None:
            return Failure(f"The model did not answer within {limit.total_seconds():g} seconds.", cause=Cause.AWAY)
        case litellm.APIConnectionError() | litellm.InternalServerError() if NOT_REACHED.search(str(error)):
            return AWAY
        case litellm.BadRequestError() if "LLM Provider NOT provided" in str(error):
            fault = fault_of(model) or f"{model} names no provider LiteLLM knows"
            return Failure(f"The model can't be used: {fault}.", cause=Cause.AUTH)
        case litellm.AuthenticationError() if headers is None and "Missing" in str(error):
            return Failure(f"There is no key for the model {model} in the settings.", cause=Cause.AUTH)
        case _:
            return of_status(getattr(error, "status_code", None), error, model, asked_wait(headers))


def of_status(status: int | None, error: Exception, model: str, wait: timedelta | None) -> Failure:
    """Failure by status and body, as the table has it."""
    message = message_of(error)
    if status is None:
        return Failure(f"The model {model} couldn't be called: {message}")
    row = next(row for row in ROWS if row.fits(status, str(error)))
    return Failure(row.words.format(model=model, status=status, message=message), row.repeat, wait, row.cause)


def message_of(error: Exception) -> str:
    """The provider's own words, on one line, without LiteLLM's prefixes and the JSON around them."""
    text = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -) )+", "", str(error))
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["error"]["message"])
    return bound(" ".join(text.split()), 300) or type(error).__name__


def asked_wait(headers: Any) -> timedelta | None:
    """The wait in a Retry-After header; one that names a date is left to our own back-off."""
    try:
        seconds = float((headers or {})["retry-after"])
        return timedelta(seconds=min(max(seconds, 0), WAIT_MAX.total_seconds()))
    except (KeyError, ValueError):
        return None
