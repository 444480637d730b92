"""The name of the schedule behind a report, as its last line, where a channel has no other place for it."""

from __future__ import annotations

from collections.abc import Hashable

from runtime.markup.plain import to_plain
from runtime.markup.tree import Document, Emphasis, Paragraph, Text
from runtime.text.glyphs import visible
from runtime.text.words import said_at, say


def with_schedule(document: Document, name: str, place: Hashable) -> Document:
    """`document` with the line, in the language of `place`; as it is where it says that name itself."""
    if name.casefold() in to_plain(document).casefold():
        return document
    with said_at(place):
        line = say("From the schedule “{name}”", name=visible(name, one_line=True))
    return Document((*document.blocks, Paragraph((Emphasis((Text(line),)),))))
