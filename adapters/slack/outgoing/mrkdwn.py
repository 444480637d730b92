"""Blocks of a message: a `markdown` block, and sections in Slack's own markup where an instant stands in a text.

Only that markup has `<!date^…>`, by which each reader sees an instant by their own clocks; a `markdown` block shows it as
it is written. Source: docs.slack.dev/messaging/formatting-message-text, read 2026-08.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby
from typing import Any, Final

from adapters.slack.outgoing.dialect import to_slack
from adapters.slack.text import escaped
from runtime.markup import Document
from runtime.markup.tree import (
    Block,
    Break,
    Code,
    Emphasis,
    Inline,
    Item,
    Link,
    List,
    Moment,
    Paragraph,
    Strike,
    Strong,
    Text,
)

SECTION: Final = 3_000  # characters of a section's text
SECTIONS: Final = 10  # of a message, which has at most 50 blocks
FORM: Final = "{date_short_pretty} {time}"
JOINT: Final = "\u200b"
"""ZERO WIDTH SPACE: before a sign that would be a mark."""
MARKUP_BROKEN: Final = str.maketrans({mark: f"{JOINT}{mark}" for mark in "*_~`"})

Json = dict[str, Any]


def blocks_of(document: Document, marked: str) -> list[Json]:
    """The text of a message as blocks, in their order; `marked` is all of it as one."""
    if not any(map(_has_moment, document.blocks)):
        return [_block(marked)]
    made = [_made(own, list(blocks)) for own, blocks in groupby(document.blocks, key=_has_moment)]
    found = [block for blocks in made for block in blocks]
    return found if len(found) <= SECTIONS else [_block(marked)]


def _made(own: bool, blocks: Sequence[Block]) -> list[Json]:
    texts = [_text(block) for block in blocks] if own else []
    if not own or any(len(text) > SECTION for text in texts):
        return [_markdown(blocks)]
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}} for text in texts]


def _markdown(blocks: Sequence[Block]) -> Json:
    return _block(to_slack(Document(tuple(blocks))))


def _block(marked: str) -> Json:
    return {"type": "markdown", "text": marked}


def _has_moment(block: Block) -> bool:
    """True if an instant stands in a paragraph, or in a plain list, which is all that is written here."""
    match block:
        case Paragraph(children):
            return any(map(_is_around, children))
        case List(items):
            paragraphs = [inner for item in items for inner in item.blocks]
            return all(isinstance(one, Paragraph) for one in paragraphs) and any(map(_has_moment, paragraphs))
        case _:
            return False


def _is_around(inline: Inline) -> bool:
    match inline:
        case Moment():
            return True
        case Strong(children) | Emphasis(children) | Strike(children):
            return any(map(_is_around, children))
        case _:
            return False


def _text(block: Block) -> str:
    match block:
        case Paragraph(children):
            return _inlines(children)
        case List(items, start):
            marks = ("• " for _ in count()) if start is None else (f"{number}. " for number in count(start))
            return "\n".join(mark + _item(item) for item, mark in zip(items, marks, strict=False))
        case _:
            raise AssertionError("only what has an instant is written here")


def _item(item: Item) -> str:
    return "\n   ".join(_text(block).replace("\n", "\n   ") for block in item.blocks)


def _inlines(children: Iterable[Inline]) -> str:
    return "".join(_pieces(children))


def _pieces(children: Iterable[Inline]) -> Iterator[str]:
    for inline in children:
        match inline:
            case Text(text):
                yield escaped(text).translate(MARKUP_BROKEN)
            case Code(text):
                yield f"`{escaped(text).replace('`', JOINT)}`"
            case Strong(inner):
                yield f"*{_inlines(inner)}*"
            case Emphasis(inner):
                yield f"_{_inlines(inner)}_"
            case Strike(inner):
                yield f"~{_inlines(inner)}~"
            case Link(url, inner):
                yield f"<{escaped(url).replace('|', '%7C')}|{_inlines(inner).replace('|', '/')}>"
            case Break():
                yield "\n"
            case Moment(at, text):
                yield f"<!date^{at.timestamp():.0f}^{FORM}|{escaped(text).replace('|', '/')}>"
