"""Text beside a file that holds a long one: how it begins, and what else is in it."""

from __future__ import annotations

from typing import Final

from runtime.markup.plain import to_plain
from runtime.markup.split import Measure, beginning
from runtime.markup.tree import Block, Code, Document, Heading, Paragraph, Text
from runtime.text.glyphs import clip

BRIEF: Final = 800
"""As much as is read before a file is opened, in whatever unit the platform counts."""

CHAPTERS: Final = 8
CHAPTER: Final = 60  # characters of a heading that is named; a longer one is cut


def opening(document: Document, file: str, measure: Measure, limit: int) -> Document:
    """How `document` begins, the headings that follow, and a word that `file` has the whole: at most `limit` in all.

    `measure` and `limit` are as for `split`, but the result is short even where `limit` is not. Headings that do not
    fit are left out. Errors: as `split`, also where that last word alone is too long.
    """
    last = Paragraph((Text(f"The whole text ({len(to_plain(document)):,} characters) is in "), Code(file), Text(".")))
    begun = beginning(document, lambda part: measure(Document((*part.blocks, last))), min(limit, BRIEF))
    with_chapters = Document((*begun.blocks, *_chapters(document, begun), last))
    return with_chapters if measure(with_chapters) <= limit else Document((*begun.blocks, last))


def _chapters(document: Document, begun: Document) -> tuple[Block, ...]:
    """The headings that `begun` has not yet, in one line."""
    headings = [to_plain(Document((block,))) for block in document.blocks if isinstance(block, Heading)]
    left = headings[sum(isinstance(block, Heading) for block in begun.blocks) :]
    if not left:
        return ()
    named = [clip(text, CHAPTER) for text in left[:CHAPTERS]]
    more = ["…"] if len(left) > CHAPTERS else []
    return (Paragraph((Text("It goes on with: " + " · ".join([*named, *more])),)),)
