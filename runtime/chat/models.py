"""Words about the model of a conversation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DEFAULT: Final = "default"
FOR_OPERATORS: Final = "Only operators and owners can change the model."
NOTHING_SAID: Final = "Nothing has been said here yet. Say something first, then choose a model."


def told(usual: str, chosen: str, models: Sequence[str], mark: str) -> str:
    """The model that answers here, and which others there are."""
    if not usual:
        return "No model is set."
    here = f"`{chosen}`, chosen for this conversation" if chosen in models else f"`{usual}`"
    return f"The model here is {here}.{_choices(models, mark)}"


def unknown(models: Sequence[str], mark: str) -> str:
    return f"I don't know that model.{_choices(models, mark)}" if models else "There is only one model here."


def chosen(name: str, model: str, usual: str) -> str:
    """News for everybody in the room."""
    if model:
        return f"{name} chose the model `{model}` for this conversation, from the next message on."
    return f"{name} went back to the usual model, `{usual}`, from the next message on."


def _choices(models: Sequence[str], mark: str) -> str:
    names = ", ".join(f"`{mark}model {name}`" for name in (*models, DEFAULT))
    return f" Choose {names}." if models else ""
