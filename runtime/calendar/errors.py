"""Errors for words that name no time."""

from __future__ import annotations

from typing import Final

from runtime.text.glyphs import clip

QUOTE_MAX_CHARS: Final = 60
"""Characters of somebody's words that a refusal repeats."""


class WhenError(ValueError):
    """A time, an expression or a zone that is not understood: the reason, and an example that works."""

    def __init__(self, reason: str, example: str = "") -> None:
        end = "" if reason.endswith("?") else "."
        super().__init__(f"{reason}{end} For example: {example}" if example else reason)
        self.reason = reason
        self.example = example


def quoted(text: str) -> str:
    """`text` as a refusal repeats it: one short line that cannot steer a terminal."""
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return f'"{clip(line, QUOTE_MAX_CHARS + 1)}"'
