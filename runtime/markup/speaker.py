"""The name of the agent that leads its words, `*ops* · Done.`, and the words without it."""

from __future__ import annotations

from typing import Final

from runtime.markup.tree import Block, Document, Emphasis, Inline, Paragraph, Text

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
