"""Models: is each one's key there and its server reachable; and, if asked for, does it answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from bot.doctor.subject import REACH, Subject, fault, fine, warning
from bot.secrets import model_keys
from bot.tryouts.model import Answered, try_given
from bot.tryouts.served import missing_there
from bot.wiring.models.catalogue import KEY_MISSING, NO_KEY_NEEDED, ListedModel, catalogue_of
from bot.wiring.unused_settings import unknown_models
from runtime.contract import Finding

WHY_MODEL: Final = "Messages stay unanswered."
WHY_FURTHER: Final = "It can't answer, or stand in for another model."

# Where vendors have their API, by the first part of a model's name. Source: their API pages, read 2026-08. A vendor
# that is not here is only tried with `doctor --model`.
HOSTS: Final = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai",
    "groq": "https://api.groq.com",
    "openrouter": "https://openrouter.ai",
    "deepseek": "https://api.deepseek.com",
    "xai": "https://api.x.ai",
    "cohere": "https://api.cohere.com",
    "together_ai": "https://api.together.xyz",
    "perplexity": "https://api.perplexity.ai",
    "fireworks_ai": "https://api.fireworks.ai",
    "cerebras": "https://api.cerebras.ai",
    "ollama": "http://localhost:11434",
    "ollama_chat": "http://localhost:11434",
}


async def check_model(subject: Subject) -> Sequence[Finding]:
    """The usual model in a few lines, and each further one in a line."""
    settings = subject.settings
    if settings.model.is_demo and not settings.demo_answers:
        return [fine("model.name", "the built-in demo, by which no agent works"), *await _further(subject)]
    if settings.model.is_demo:
        why = "The demo only shows how things work."
        anew = "signalbox init --force" if settings.file else "signalbox init"
        usual = [warning("model.name", "the built-in demo", why, f"{anew}, or set model.name")]
        return [*usual, *await _further(subject)]
    if wrong := list(unknown_models(settings)):
        return wrong
    first = next(one for one in catalogue_of(settings) if one.is_usual)
    name = first.name if first.name == first.given.name else f"{first.name}: {first.given.name}"
    found = [fine("model.name", name), _key(first)]
    return [*found, await _tried(first, subject, "model", WHY_MODEL), *await _further(subject)]


async def _further(subject: Subject) -> Sequence[Finding]:
    """All side by side: one that is away must not make the others wait."""
    return await asyncio.gather(*(_one(one, subject) for one in catalogue_of(subject.settings) if not one.is_usual))


async def _one(one: ListedModel, subject: Subject) -> Finding:
    """A line on a model of [[models]]."""
    if one.key == KEY_MISSING:
        what = f"{one.given.name}: it needs a key, and none was found"
        return fault(f"models.{one.name}", what, WHY_FURTHER, f"signalbox secrets set {one.wanted_key}")
    found = await _tried(one, subject, f"models.{one.name}", WHY_FURTHER)
    key = "" if one.key == NO_KEY_NEEDED else ", with its key"
    return replace(found, id=f"models.{one.name}", what=f"{one.given.name}{key}: {found.what}")


async def _tried(one: ListedModel, subject: Subject, ident: str, why: str) -> Finding:
    if missing := await missing_there(one.given):
        fix = "choose one of these, or load it there"
        return fault(f"{ident}.served", missing, why, fix)
    return await _answer(one, ident, why) if subject.live else await _reach(one, ident, why)


def _key(first: ListedModel) -> Finding:
    if first.key == KEY_MISSING:
        what = "it needs a key, and none was found"
        return fault("model.key", what, WHY_MODEL, f"signalbox secrets set {first.wanted_key}")
    return fine(
        "model.key",
        "it needs no key that we know of" if first.key == NO_KEY_NEEDED else f"its key comes from {first.key}",
    )


async def _answer(one: ListedModel, ident: str, why: str) -> Finding:
    if one.given.login:
        return fine(f"{ident}.answers", f"not asked: its key is the sign-in {one.given.login}, which runs here use")
    told = await try_given(one.given)
    if isinstance(told, Answered):
        return fine(f"{ident}.answers", f"it answers, in {told.took.total_seconds():.1f} s")
    return fault(f"{ident}.answers", told.why, why, told.fix)


async def _reach(one: ListedModel, ident: str, why: str) -> Finding:
    return await reachable(ident, one.given.name, one.given.api_base, why)


async def reachable(ident: str, model: str, api_base: str, why: str) -> Finding:
    """Finding about the server of a model: is there one? Nothing is asked of it."""
    ident = f"{ident}.reachable"
    address = api_base or HOSTS.get(model_keys.vendor(model), "")
    if not address:
        return fine(ident, "not tested; to ask it for one word: signalbox doctor --model")
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if parts.scheme in getproxies():
        return fine(ident, f"{parts.hostname}:{port} through a proxy; to test it: signalbox doctor --model")
    try:
        await _connect(parts.hostname or "", port)
    except OSError as error:
        what = f"{parts.hostname}:{port} can't be reached ({_words(error)})"
        fix = "start that server, or change its api_base" if api_base else "check this machine's network"
        return fault(ident, what, why, fix)
    return fine(ident, f"{parts.hostname}:{port}")


def _words(error: OSError) -> str:
    """The kernel's words; asyncio has its own, with the address once more. Names that are not found have no number."""
    if isinstance(error, TimeoutError):
        return "no answer"
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error.strerror)


async def _connect(host: str, port: int) -> None:
    async with asyncio.timeout(REACH.total_seconds()):
        _, writer = await asyncio.open_connection(host, port)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
