"""Tree to plain text: what a terminal shows, and the twin a channel falls back to when it refuses our markup."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Final

from runtime.markup.columns import in_columns
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
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

CODE_INDENT: Final = "    "
RULE_LINE: Final = "-" * 20


def to_plain(document: Document) -> str:
    """`document` as text that needs no markup to be read. Lines are as long as they were written."""
    return _blocks(document.blocks)


def _blocks(blocks: Iterable[Block], gap: str = "\n\n") -> str:
    return gap.join(map(_block, blocks))


def _block(block: Block) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return _inlines(children)
        case List():
            return _list(block)
        case Quote(blocks):
            return _prefixed(_blocks(blocks), "> ", "> ")
        case CodeBlock(text, info):
            label = f"{info}:\n" if info else ""
            return label + _prefixed(text, CODE_INDENT, CODE_INDENT)
        case Table():
            return table_text(block)
        case Rule():
            return RULE_LINE


def _prefixed(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    return "\n".join(((rest if number else first) + line).rstrip() for number, line in enumerate(lines))


def _list(block: List) -> str:
    marks = ("- " for _ in count()) if block.start is None else (f"{number}. " for number in count(block.start))
    gap = "\n" if block.tight else "\n\n"
    return gap.join(_item(item, mark, gap) for item, mark in zip(block.items, marks, strict=False))


def _item(item: Item, mark: str, gap: str) -> str:
    return _prefixed(_blocks(item.blocks, gap), mark, " " * len(mark))


def table_text(table: Table) -> str:
    """`table` in columns of a monospace font, its cells without marks, as `to_plain` shows it."""
    rows = [[_cell_text(cell) for cell in row.cells] for row in (table.header, *table.rows)]
    return in_columns(rows, [cell.align for cell in table.header.cells])


def _cell_text(cell: Cell) -> str:
    return _inlines(cell.children).replace("\n", " ")


def _inlines(children: Iterable[Inline]) -> str:
    return "".join(map(_inline, children))


def _inline(inline: Inline) -> str:
    match inline:
        case Text(text) | Code(text) | Moment(_, text):
            return text
        case Strong(children) | Emphasis(children):
            return _inlines(children)
        case Strike(children):
            return f"~~{_inlines(children)}~~"  # without its marks it would say the opposite
        case Link(url, children, title):
            return _link(url, _inlines(children), title)
        case Break():
            return "\n"


def _link(url: str, label: str, title: str) -> str:
    shown = url.removeprefix("mailto:")
    hint = f' "{title}"' if title else ""
    return f"{label} ({url}{hint})" if label not in (url, shown) or title else label
