"""Embeddings: are memory and documents searched by meaning too; is the model's key there; and, if asked for, does it answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.doctor.services.model import reachable
from bot.doctor.subject import Subject, fault, fine
from bot.secrets import model_keys
from bot.settings.settings import Settings
from bot.wiring.memory.embedder import embedding_settings
from runtime.contract import Finding
from runtime.errors import ModelFailed
from runtime.text.naming import listed

WHY_MEANING: Final = "Memories and documents are found by their words alone."
ONE_TEXT: Final = "hello"


async def check_embeddings(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    if not (searched := _searched(settings)):
        return []
    from runtime.models.vendors import fault_of

    given = embedding_settings(settings)
    if given is None:
        return [fine("embeddings.name", f"{searched} by words only; for meaning too, set embeddings.name")]
    if wrong := fault_of(given.name, given.api_base):
        return [fault("embeddings.name", wrong, WHY_MEANING, "set embeddings.name")]
    if not given.keys and not given.api_base and (names := model_keys.names(given.name)):
        what = f"{given.name}: it needs a key, and none was found"
        return [fault("embeddings.key", what, WHY_MEANING, f"signalbox secrets set {names[0]}")]
    named = fine("embeddings.name", f"{given.name}: {searched} by words and by meaning")
    if not subject.live:
        return [named, await reachable("embeddings", given.name, given.api_base, WHY_MEANING)]
    from runtime.models.embedding.embedder import LiteEmbedder

    try:
        found = await LiteEmbedder(given).embed([ONE_TEXT])
    except ModelFailed as error:
        fix = "check embeddings.name, its key and its api_base"
        return [named, fault("embeddings.answers", str(error), WHY_MEANING, fix)]
    return [named, fine("embeddings.answers", f"it answers, with {found.dims} numbers for a text")]


def _searched(settings: Settings) -> str:
    """The begin of a sentence about everything that is searched here; empty where nothing is."""
    documents = ["documents"] if settings.knowledge else []
    what = [*(["memory"] if settings.memory.enabled else []), *documents]
    return f"{listed(what)} {'are' if documents else 'is'} searched" if what else ""
