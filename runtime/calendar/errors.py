"""Errors for words that name no time."""

from __future__ import annotations

from typing import Final

from runtime.text.glyphs import clip
from runtime.text.words import marked

QUOTE_MAX_CHARS: Final = 60
"""Characters of somebody's words that a refusal repeats."""
WITH_EXAMPLE: Final = marked("{reason}. For example: {example}")
WITH_EXAMPLE_ASKED: Final = marked("{reason} For example: {example}")


class WhenError(ValueError):
    """A time, an expression or a zone that is not understood: the reason, and an example that works."""

    def __init__(self, reason: str, example: str = "") -> None:
        text = WITH_EXAMPLE_ASKED if reason.endswith("?") else WITH_EXAMPLE
        super().__init__(text.format(reason=reason, example=example) if example else reason)
        self.reason = reason
        self.example = example


def quoted(text: str) -> str:
    """`text` as a refusal repeats it: one short line that cannot steer a terminal."""
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return f'"{clip(line, QUOTE_MAX_CHARS + 1)}"'
