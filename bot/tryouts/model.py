"""One tiny question to a model, to learn whether name, address and key are right: for `init`, `doctor`, `models test`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.plugins.packages import made_model
from bot.tryouts.causes import CauseWord
from runtime.contract import Model, ModelReply, ModelRequest, OnText, Usage, UserTurn
from runtime.errors import ConfigError, ModelFailed

if TYPE_CHECKING:
    from runtime.models.settings import ModelSettings

MODEL_TRIAL_TIMEOUT: Final = timedelta(seconds=20)
GRACE: Final = timedelta(seconds=2)  # a model that keeps its own time tells what it waited for
QUESTION: Final = ModelRequest("You check a connection.", [UserTurn("Answer with the one word: ready")], ())

FIX_PACKAGE: Final = "Fix the package, or choose another model."


@dataclass(frozen=True, slots=True)
class Answered:
    """`first` is the time to the first words, `took` to the last."""

    text: str
    took: timedelta
    first: timedelta
    usage: Usage


@dataclass(frozen=True, slots=True)
class Refused:
    """`why` and `fix` are sentences for the person who set the model up."""

    why: str
    fix: str


async def try_model(
    name: str, api_base: str, key: str, *, patience: timedelta = MODEL_TRIAL_TIMEOUT
) -> Answered | Refused:
    """Ask the model that would run, once and without repeats. Its client library is loaded first, which is not counted."""
    from runtime.models.settings import ModelSettings

    return await try_given(ModelSettings(name, api_base, key), patience=patience)


async def try_given(given: ModelSettings, *, patience: timedelta = MODEL_TRIAL_TIMEOUT) -> Answered | Refused:
    """As `try_model`, with everything that the settings say of the model."""
    from runtime.models.litellm_loading import LIBRARY
    from runtime.models.litellm_model import LiteModel

    try:
        model = made_model(replace(given, timeout=patience, max_retries=0))
    except ConfigError as error:
        return Refused(str(error), FIX_PACKAGE)
    if isinstance(model, LiteModel):
        await LIBRARY.get(lean=given.lean)
    return await try_made(model, given.name, given.api_base, patience)


async def try_made(
    model: Model, name: str, api_base: str = "", patience: timedelta = MODEL_TRIAL_TIMEOUT
) -> Answered | Refused:
    """As `try_model`, of a model that is made already."""
    began, spoke = time.monotonic(), list[float]()

    def heard(text: str) -> None:
        if text and not spoke:
            spoke.append(time.monotonic())

    try:
        reply = await _reply(model, name, patience, heard)
    except ModelFailed as error:
        return Refused(str(error), fix_of(str(error), name, api_base))
    ended = time.monotonic()
    first = timedelta(seconds=next(iter(spoke), ended) - began)
    return Answered(" ".join(reply.text.split()), timedelta(seconds=ended - began), first, reply.usage)


async def _reply(model: Model, name: str, patience: timedelta, heard: OnText) -> ModelReply:
    """Errors: ModelFailed, whatever a package's model raises, and however long it takes."""
    try:
        async with asyncio.timeout((patience + GRACE).total_seconds()):
            return await model.reply(QUESTION, heard)
    except ModelFailed:
        raise
    except TimeoutError as error:
        raise ModelFailed(f"{name} did not answer within {patience.total_seconds():.0f} s.") from error
    except Exception as error:
        raise ModelFailed(f"{name}: its package raises {type(error).__name__}: {error}") from error


# By what the model's failure says (`runtime.models.failures`); the last one fits the rest.
_FIXES: Final = (
    ("its package raises", CauseWord.MODEL_UNAVAILABLE, FIX_PACKAGE),
    (
        "can't be reached",
        CauseWord.PROVIDER_UNREACHABLE,
        "Is its server running, and is the address right? {place}",
    ),
    ("did not answer within", CauseWord.PROVIDER_UNREACHABLE, "Is its server busy, or is the address wrong? {place}"),
    ("refused the key", CauseWord.KEY_REFUSED, "Make a new key at the vendor, and copy all of it."),
    ("no key", CauseWord.KEY_REFUSED, "Give a key: most vendors ask for one."),
    ("no credit", CauseWord.QUOTA, "Add credit at the vendor, or use another key."),
    ("too many requests", CauseWord.QUOTA, "Wait a minute, then try again. {place}"),
    ("may not use the model", CauseWord.MODEL_UNAVAILABLE, "Choose a model that this key may use."),
    (
        "unknown to its provider",
        CauseWord.MODEL_UNAVAILABLE,
        "Write the vendor, a slash, then the model's name as the vendor writes it. {place}",
    ),
    ("can't be used", CauseWord.MODEL_UNAVAILABLE, "Its name must begin with a known vendor."),
    ("", CauseWord.PROVIDER_UNREACHABLE, "{place}"),
)


def cause_of_words(why: str) -> CauseWord:
    """The cause behind a sentence of a model's failure; `OTHER` where it is none that is known."""
    return next((cause for words, cause, _ in _FIXES if words and words in why), CauseWord.OTHER)


def fix_of(why: str, name: str, api_base: str) -> str:
    """The fix for a model's failure."""
    place = f"It was asked at {api_base}." if api_base else f"It was asked where {name.partition('/')[0]} has its API."
    return next(fix for words, _, fix in _FIXES if words in why).format(place=place)
