"""Wire to Signal. Pure: names were looked up before, and nothing is asked here."""

from __future__ import annotations

from typing import Final

from adapters.slack import interactions, messages
from adapters.slack.envelope import NO_EVENT, Happening, Malformed, kind_of
from runtime.contract import Signal

TAKEN: Final = frozenset({"message", "block_actions", "view_submission", "command", NO_EVENT})
"""Kinds that something may come of. For any other no name is looked up, and nobody waits."""


def parse(happened: Happening) -> Signal | None:
    """The signal of what happened; None for our own messages and for what is nobody's words.

    Errors: Malformed.
    """
    try:
        match kind_of(happened.body):
            case "message":
                return messages.message(happened)
            case "block_actions":
                return interactions.click(happened)
            case "view_submission":
                return interactions.form(happened)
            case "command":
                return interactions.command(happened)
            case kind if kind == NO_EVENT:
                raise Malformed("there is no event in it")
            case _:
                return None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
