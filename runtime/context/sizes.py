"""Sizes of what a model is sent, in tokens: estimates that need no tokenizer. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from runtime.contract import AssistantTurn, FileRef, ToolSpec, ToolTurn, Turn, UserTurn

ASCII_A_TOKEN: Final = 4
"""Characters: a rule of thumb for English, code and JSON. Of all other writing each character counts as a token."""

IMAGE_TOKENS: Final = 1_000
"""Of one picture. Vendors count some 85 to 1,600, by its size."""

FRAME_TOKENS: Final = 4
"""Of the role and the marks around each message."""

PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def of_text(text: str) -> int:
    """Tokens of `text`, never none.

    >>> of_text("a" * 400), of_text("你好"), of_text("")
    (101, 3, 1)
    """
    if text.isascii():
        return len(text) // ASCII_A_TOKEN + 1
    plain = len(text.encode("ascii", "ignore"))
    return plain // ASCII_A_TOKEN + len(text) - plain + 1


def of_turn(turn: Turn) -> int:
    match turn:
        case UserTurn(text, _, files):
            return FRAME_TOKENS + of_text(text) + IMAGE_TOKENS * sum(map(_is_picture, files))
        case AssistantTurn(text, calls, reasoning):
            words = sum(of_text(call.tool) + of_text(call.arguments) for call in calls)
            return FRAME_TOKENS + of_text(text) + words + (of_text(reasoning.blocks) if reasoning and calls else 0)
        case ToolTurn(_, _, text):
            return FRAME_TOKENS + of_text(text)


def of_turns(turns: Iterable[Turn]) -> int:
    """Tokens of all. Most turns are words in ASCII alone: those are counted here at once."""
    tokens = 0
    for turn in turns:
        text = turn.text
        if text.isascii() and not getattr(turn, "files", ()) and not getattr(turn, "calls", ()):
            tokens += FRAME_TOKENS + len(text) // ASCII_A_TOKEN + 1
        else:
            tokens += of_turn(turn)
    return tokens


def of_tool(tool: ToolSpec) -> int:
    return of_text(tool.name) + of_text(tool.description) + of_text(json.dumps(dict(tool.schema), default=str))


class ToolSizes:
    """Tokens of a list of tools, counted anew when it is another than the last one, which it seldom is."""

    def __init__(self) -> None:
        self._tools: tuple[ToolSpec, ...] = ()
        self._tokens = 0

    def of(self, tools: Sequence[ToolSpec]) -> int:
        wanted = tuple(tools)
        if wanted != self._tools:
            self._tools, self._tokens = wanted, sum(map(of_tool, wanted))
        return self._tokens


def _is_picture(file: FileRef) -> bool:
    return file.path.lower().endswith(PICTURES)
