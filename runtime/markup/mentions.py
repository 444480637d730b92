"""Words that would call everybody in a room, made harmless: a reader sees the same, the platform no longer knows them.

The model's words are not the agent's to shout with. What a person, one by one, is called by is left as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from runtime.markup.tree import (
    Block,
    Break,
    Cell,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Item,
    Link,
    List,
    Moment,
    Paragraph,
    Quote,
    Row,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

Line = tuple[Inline, ...]

NOTHING_WIDE: Final = "\u200b"
"""ZERO WIDTH SPACE."""

WAITING: Final = "Waiting for "
"""Begins the line that calls those who are to decide."""

NO_TEXT: Final = "\0"
"""Stands for what is no text: no mention goes across it, and Markdown has none of it."""


def mass_mentions(*words: str) -> re.Pattern[str]:
    """The pattern of a dialect's mass mentions, such as `@everyone` or `<!channel>`, in small or capital letters."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)


def neutralised_text(text: str, mentions: re.Pattern[str]) -> str:
    """`text` with a zero-width space behind the first character of each match. For plain twins: code is not spared."""
    return mentions.sub(lambda found: _broken(found.group()), text)


def neutralised(document: Document, mentions: re.Pattern[str]) -> Document:
    """`document` with a zero-width space behind the first character of each match in text; code stays as it is.

    A mention whose letters stand in several nodes (`@every**one**`) is one too: some dialects drop the marks between.
    """
    return Document(tuple(_in(block, mentions) for block in document.blocks))


def _broken(mention: str) -> str:
    return mention[0] + NOTHING_WIDE + mention[1:]


def _in(block: Block, mentions: re.Pattern[str]) -> Block:
    match block:
        case Paragraph(children):
            return Paragraph(_in_line(children, mentions))
        case Heading(level, children):
            return Heading(level, _in_line(children, mentions))
        case Quote(blocks):
            return Quote(tuple(_in(inner, mentions) for inner in blocks))
        case List(items):
            return replace(block, items=tuple(Item(tuple(_in(b, mentions) for b in item.blocks)) for item in items))
        case Table(header, rows):
            return Table(_in_row(header, mentions), tuple(_in_row(row, mentions) for row in rows))
        case CodeBlock() | Rule():
            return block


def _in_row(row: Row, mentions: re.Pattern[str]) -> Row:
    return Row(tuple(Cell(_in_line(cell.children, mentions), cell.align) for cell in row.cells))


def _in_line(line: Line, mentions: re.Pattern[str]) -> Line:
    """Words and marks, the words looked at together."""
    texts = list(_texts(line))
    places = [found.start() + 1 for found in mentions.finditer("".join(texts))]
    return _replaced(line, iter(_with_nothing_at(places, texts))) if places else line


def _texts(line: Line) -> Iterator[str]:
    for inline in line:
        match inline:
            case Text(text):
                yield text
            case Code() | Break() | Moment():
                yield NO_TEXT
            case Strong(children) | Emphasis(children) | Strike(children) | Link(_, children):
                yield from _texts(children)


def _with_nothing_at(places: list[int], texts: list[str]) -> Iterator[str]:
    """`texts` with a zero-width space at each of `places` of the whole."""
    start = 0
    for text in texts:
        end = start + len(text)
        here = [place - start for place in places[bisect_right(places, start) : bisect_right(places, end)]]
        start = end
        yield NOTHING_WIDE.join(text[i:j] for i, j in zip([0, *here], [*here, len(text)], strict=True))


def _replaced(line: Line, texts: Iterator[str]) -> Line:
    """`line` with `texts` in the place of its own, in their order."""
    return tuple(_one_replaced(inline, texts) for inline in line)


def _one_replaced(inline: Inline, texts: Iterator[str]) -> Inline:
    match inline:
        case Text():
            return Text(next(texts))
        case Code() | Break() | Moment():
            next(texts)
            return inline
        case Strong(children) | Emphasis(children) | Strike(children) | Link(_, children):
            return replace(inline, children=_replaced(children, texts))
