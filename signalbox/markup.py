"""Markdown for a channel: parsed once, split into messages, and rendered."""

from __future__ import annotations

from runtime.markup import (
    Document,
    mass_mentions,
    moment,
    neutralised,
    neutralised_text,
    once,
    parse,
    split,
    split_made,
    table_text,
    to_html,
    to_plain,
)
from runtime.markup.attachment import abridged, opening
from runtime.markup.headline import headline
from runtime.markup.mentions import WAITING
from runtime.text.glyphs import clip
from runtime.text.lengths import characters, utf8, utf16

__all__ = [
    "WAITING",
    "Document",
    "abridged",
    "characters",
    "clip",
    "headline",
    "mass_mentions",
    "moment",
    "neutralised",
    "neutralised_text",
    "once",
    "opening",
    "parse",
    "split",
    "split_made",
    "table_text",
    "to_html",
    "to_plain",
    "utf8",
    "utf16",
]
