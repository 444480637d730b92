"""Answers of a vendor whose model has a window, in its own words: for the servers of `bot.testing.openai.server` and `anthropic`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from bot.testing.openai.server import Reply
from runtime.context.handoff import TASK as HANDOFF
from runtime.context.summaries import TASK as SUMMARY

Json = dict[str, Any]

CHARACTERS_A_TOKEN: Final = 4

OVERFLOWS: Final[dict[str, Callable[[int, int], str]]] = {
    "openai": lambda most, sent: (
        f"This model's maximum context length is {most} tokens. However, your messages resulted in {sent} tokens. "
        "Please reduce the length of the messages."
    ),
    "anthropic": lambda most, sent: f"prompt is too long: {sent} tokens > {most} maximum",
}


@dataclass
class Window:
    """Refuses what is larger than `tokens`, as `vendor` says so. `counts` is what it tells of a request's tokens.

    `condenses` is what it writes where a summary or a handoff is wanted; `largest` the most that it took.
    """

    vendor: str
    tokens: int
    says: str = "Yes."
    condenses: str = "Goal: the release. It is called BLUEBIRD-7."
    counts: Callable[[int], int] = lambda sent: sent
    refused: int = 0
    condensed: int = 0
    largest: int = 0
    sizes: list[int] = field(default_factory=list)

    def __call__(self, request: Json) -> Reply:
        sent = len(json.dumps([request.get("system"), request["messages"], request.get("tools")])) // CHARACTERS_A_TOKEN
        if sent > self.tokens:
            self.refused += 1
            return Reply(OVERFLOWS[self.vendor](self.tokens, sent), status=400)
        self.sizes.append(sent)
        self.largest = max(self.largest, sent)
        usage = (self.counts(sent), 7)
        if any(task in json.dumps(request) for task in (json.dumps(SUMMARY)[1:-1], json.dumps(HANDOFF)[1:-1])):
            self.condensed += 1
            return Reply(self.condenses, usage=usage)
        return Reply(self.says, usage=usage)
