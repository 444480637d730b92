"""Markdown for a channel: parsed once, split into messages, and rendered."""

from __future__ import annotations

from runtime.markup import (
    Document,
    mass_mentions,
    moment,
    neutralised,
    neutralised_text,
    parse,
    split,
    table_text,
    to_html,
    to_plain,
)
from runtime.markup.attachment import opening
from runtime.text.lengths import characters, utf8, utf16

__all__ = [
    "Document",
    "characters",
    "mass_mentions",
    "moment",
    "neutralised",
    "neutralised_text",
    "opening",
    "parse",
    "split",
    "table_text",
    "to_html",
    "to_plain",
    "utf8",
    "utf16",
]
