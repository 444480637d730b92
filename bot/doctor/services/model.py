"""The model: is its key there and its server reachable; and, if asked for, does it answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from bot.doctor.subject import REACH, Subject, fault, fine, warning
from bot.secrets import model_keys
from bot.settings.settings import Settings
from bot.tryouts.model import Answered, try_model
from bot.wiring.unused_settings import unknown_models
from runtime.contract import Finding

WHY_MODEL: Final = "Messages stay unanswered."

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
    model = subject.settings.model
    if model.is_demo:
        why = "The demo only shows how things work."
        return [warning("model.name", "the built-in demo", why, "signalbox init --force, or set model.name")]
    if wrong := list(unknown_models(subject.settings)):
        return wrong
    found = [fine("model.name", model.name), _key(subject.settings)]
    return [*found, await _answer(subject.settings) if subject.live else await _reach(subject.settings)]


def _key(settings: Settings) -> Finding:
    model = settings.model
    if model.api_key:
        return fine("model.key", f"its key comes from {settings.source('model.api_key')}")
    names = model_keys.names(model.name)
    if not names or model.api_base:
        return fine("model.key", "it needs no key that we know of")
    return fault("model.key", "it needs a key, and none was found", WHY_MODEL, f"signalbox secrets set {names[0]}")


async def _answer(settings: Settings) -> Finding:
    model = settings.model
    key = model.api_key.get_secret_value() if model.api_key else ""
    told = await try_model(model.name, model.api_base, key, lean=model.lean)
    if isinstance(told, Answered):
        return fine("model.answers", f"it answers, in {told.took.total_seconds():.1f} s")
    return fault("model.answers", told.why, WHY_MODEL, told.fix)


async def _reach(settings: Settings) -> Finding:
    address = settings.model.api_base or HOSTS.get(model_keys.vendor(settings.model.name), "")
    if not address:
        return fine("model.reachable", "not tested; to ask it for one word: signalbox doctor --model")
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if parts.scheme in getproxies():
        return fine("model.reachable", f"{parts.hostname}:{port} through a proxy; to test it: signalbox doctor --model")
    try:
        await _connect(parts.hostname or "", port)
    except OSError as error:
        what = f"{parts.hostname}:{port} can't be reached ({_words(error)})"
        fix = "start that server, or set model.api_base" if settings.model.api_base else "check this machine's network"
        return fault("model.reachable", what, WHY_MODEL, fix)
    return fine("model.reachable", f"{parts.hostname}:{port}")


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
