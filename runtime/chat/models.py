"""Words about the model of a conversation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.text.words import marked, say

DEFAULT: Final = "default"
FOR_OPERATORS: Final = marked("Only operators and owners can change the model.")
NOTHING_SAID: Final = marked("Nothing has been said here yet. Say something first, then choose a model.")


def told(usual: str, chosen: str, models: Sequence[str], mark: str) -> str:
    """The model that answers here, and which others there are."""
    if not usual:
        return say("No model is set.")
    here = say("`{chosen}`, chosen for this conversation", chosen=chosen) if chosen in models else f"`{usual}`"
    return say("The model here is {here}.{models}", here=here, models=_choices(models, mark))


def unknown(models: Sequence[str], mark: str) -> str:
    return (
        say("I don't know that model.{models}", models=_choices(models, mark))
        if models
        else say("There is only one model here.")
    )


def chosen(name: str, model: str, usual: str) -> str:
    """News for everybody in the room."""
    if model:
        return say(
            "{name} chose the model `{model}` for this conversation, from the next message on.", name=name, model=model
        )
    return say("{name} went back to the usual model, `{usual}`, from the next message on.", name=name, usual=usual)


def _choices(models: Sequence[str], mark: str) -> str:
    names = ", ".join(f"`{mark}model {name}`" for name in (*models, DEFAULT))
    return say(" Choose {choices}.", choices=names) if models else ""
