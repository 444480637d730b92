"""Text beside a file that holds a long one: how it begins, and what else is in it; and a card whose call is too long."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from runtime.contract import Content, Whole
from runtime.markup.plain import to_plain
from runtime.markup.split import Measure, beginning
from runtime.markup.tree import Block, Code, CodeBlock, Document, Heading, Paragraph, Text
from runtime.text.glyphs import CODE_OPEN, clip
from runtime.text.graphemes import boundary, boundary_after

BRIEF: Final = 800
"""As much as is read before a file is opened, in whatever unit the platform counts."""

CHAPTERS: Final = 8
CHAPTER: Final = 60  # characters of a heading that is named; a longer one is cut


def opening(document: Document, file: str, measure: Measure, limit: int) -> Document:
    """The opening of `document`, the headings that follow and a note that `file` has all of it, in at most `limit`.

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


# --------------------------------------------------------------------------------------------------------- long calls

NOT_HERE: Final = "A question waits whose call is too long to show here. Send me `/approvals` in a private chat, or open Approvals on the page."
"""In the place of a card where no file can stand beside it: nobody decides by a part."""


def unabridged(card: Content) -> Content:
    """The card with all that its call says, for a surface that takes no file: it is as long as that gets."""
    if card.whole is None or not card.whole.text:
        return replace(card, whole=None)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", card.whole.text)), default=0))
    return replace(card, text=f"{card.text}\n\nAll of it:\n\n{fence}\n{card.whole.text}\n{fence}", whole=None)


READ_FROM: Final = 4_000
"""Characters of a call that nobody approves by its ends alone: where not all of it is shown, the card says so."""
READ_FILE: Final = "Read the attached file before you approve."
FOLDED_MAX_CHARS: Final = 1_500
"""Of such a call above the fold."""
KEPT_MIN: Final = 80
"""Characters of a block that is cut: less says nothing."""
CODE_MAX_CHARS: Final = 32
"""A code for what nobody sees is never longer, and never cut."""


@dataclass(frozen=True, slots=True)
class Abridged:
    """A card as one message. `file` is all that its call says, where the message does not hold it."""

    document: Document
    file: str = ""


def abridged(document: Document, whole: Whole, measure: Measure, limit: int, *, asks: bool) -> Abridged:
    """`document` with the begin and the end of its longest blocks, as much as `limit` holds; as it is where it fits.

    `measure` and `limit` are as for `split`. `asks`: somebody is to decide by it. A document whose words beside its blocks
    are too long stays too long.
    """
    texts = [block.text for block in document.blocks if isinstance(block, CodeBlock)]
    file = whole.text or "\n\n".join(texts)
    if measure(document) <= limit:
        short = document
    else:
        note = f"sha256 {whole.sha256}" + (f" · {READ_FILE}" if asks and len(file) > READ_FROM else "")
        short = _cut_blocks(Document((*document.blocks, Paragraph((Text(note),)))), measure, limit)
    if short is document and not whole.text:
        return Abridged(document)
    if short is document and asks and len(file) > READ_FROM:
        more = Document((*document.blocks, Paragraph((Text(READ_FILE),))))
        short = more if measure(more) <= limit else document
    return Abridged(short, file)


def folding(document: Document, whole: Whole) -> Abridged:
    """Abridged document for a surface without limits: a long call's ends, and all of it folded."""
    limit = READ_FROM if _plain_length(document) <= READ_FROM else FOLDED_MAX_CHARS
    return abridged(document, whole, _plain_length, limit, asks=False)


def _plain_length(document: Document) -> int:
    return len(to_plain(document))


def _cut_blocks(document: Document, measure: Measure, limit: int) -> Document:
    """The longest block is cut first, then the next."""
    blocks = list(document.blocks)
    places = [place for place, block in enumerate(blocks) if isinstance(block, CodeBlock)]
    for place in sorted(places, key=lambda at: -len(getattr(blocks[at], "text", ""))):
        block = blocks[place]
        if not isinstance(block, CodeBlock) or len(block.text) <= KEPT_MIN:
            continue
        kept, over = KEPT_MIN, min(len(block.text), limit)
        while over - kept > 1:
            middle = (kept + over) // 2
            blocks[place] = replace(block, text=both_ends(block.text, middle))
            kept, over = (middle, over) if measure(Document(tuple(blocks))) <= limit else (kept, middle)
        blocks[place] = replace(block, text=both_ends(block.text, kept))
        if measure(Document(tuple(blocks))) <= limit:
            break
    return Document(tuple(blocks))


def both_ends(text: str, most: int) -> str:
    """At most `most` characters of `text`, of its begin and its end, and on a line between them how many are left out."""
    if len(text) <= most:
        return text
    first = boundary(text, (most + 1) // 2, 0)
    last = boundary_after(text, len(text) - most // 2)
    first, last = _before_code(text, first), _behind_code(text, last)
    first, last = len(text[:first].rstrip(" \n")), len(text) - len(text[last:].lstrip(" \n"))
    return f"{text[:first]}\n… {last - first:,} characters …\n{text[last:]}"


def _before_code(text: str, at: int) -> int:
    opened = text.rfind(CODE_OPEN, max(at - CODE_MAX_CHARS, 0), at)
    return at if opened < 0 or "⟩" in text[opened:at] else opened


def _behind_code(text: str, at: int) -> int:
    opened = text.rfind(CODE_OPEN, max(at - CODE_MAX_CHARS, 0), at)
    if opened < 0 or "⟩" in text[opened:at]:
        return at
    closed = text.find("⟩", at, at + CODE_MAX_CHARS)
    return at if closed < 0 else closed + 1
