"""The name of the agent that leads its words, `*ops* · Done.`, the words without it, and the schedule behind a report."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from runtime.markup.plain import to_plain
from runtime.markup.tree import Block, Document, Emphasis, Inline, Paragraph, Text
from runtime.text.glyphs import visible
from runtime.text.words import said_at, say

SPEAKER_JOINT: Final = " ·"


def without_speaker(document: Document, name: str) -> Document | None:
    """The words behind the name; None where the document isn't led by it, or nothing follows."""
    match document.blocks:
        case (Paragraph((Emphasis((Text(said),)), Text(joint), *words)), *others) if said == name:
            if not joint.startswith(SPEAKER_JOINT):
                return None
            line = joint.removeprefix(SPEAKER_JOINT).lstrip()
            left: tuple[Inline, ...] = ((Text(line),) if line else ()) + tuple(words)
            kept: tuple[Block, ...] = ((Paragraph(left),) if left else ()) + tuple(others)
            return Document(kept) if kept else None
        case _:
            return None


def with_schedule(document: Document, name: str, place: Hashable) -> Document:
    """`document` with the line, in the language of `place`; as it is where it says that name itself."""
    if name.casefold() in to_plain(document).casefold():
        return document
    with said_at(place):
        line = say("From the schedule “{name}”", name=visible(name, one_line=True))
    return Document((*document.blocks, Paragraph((Emphasis((Text(line),)),))))
