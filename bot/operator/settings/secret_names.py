"""Names under which secrets may be sealed from the page: those of models and accounts, and no other."""

from __future__ import annotations

from typing import Final

from bot.secrets import model_keys
from bot.settings.secrets import asked_for
from bot.settings.settings import Settings

SETTABLE: Final = ("model.", "models[", "embeddings.", "images.", "transcription.", "speech.", "accounts[")
"""Beginnings of the settings whose secrets may be set from here: no door of ours opens with one of these."""


def settable(settings: Settings) -> set[str]:
    """Names under which secrets may be sealed from here: those that models and accounts ask for, and nothing else does."""
    asked = asked_for(settings)
    names = {name for name, places in asked.items() if all(place.startswith(SETTABLE) for place in places)}
    models = (settings.model.name, *(one.model for one in settings.models), settings.embeddings.name)
    usual = {name for model in models for name in model_keys.names(model)}
    return names | (usual - asked.keys())


def secret_name(settings: Settings, name: str) -> str:
    """Name of the secret that the setting `name` has, if it may be set from here; else empty."""
    asked = asked_for(settings)
    named = next((variable for variable, places in asked.items() if name in places), "")
    if not named and name in ("model.api_key", "embeddings.api_key"):
        table = settings.model if name == "model.api_key" else settings.embeddings
        named = next(iter(model_keys.names(table.name)), "")
    return named if named in settable(settings) else ""
