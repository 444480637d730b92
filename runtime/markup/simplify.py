"""A tree with less around its words: for pieces so small that what stands around the words leaves them no room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
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

Heavy = Callable[[Document], bool]
"""Whether so little as this is already too much to repeat in every piece."""

SAMPLE: Final = (Text("x"),)


def loosened(block: Block) -> tuple[Block, ...] | None:
    """`block` with one level less around its words; None when only words are left. Code stays code."""
    match block:
        case Quote(blocks):
            return blocks
        case List(items, start):
            return tuple(chain.from_iterable(_item(item, start, number) for number, item in enumerate(items)))
        case Table(header, rows):
            return tuple(map(_row, (header, *rows)))
        case CodeBlock(text, info):
            return (Paragraph((Text(info),)), CodeBlock(text)) if info else None
        case Heading(_, children):
            return (Paragraph(children),)
        case Paragraph(children):
            bare = tuple(chain.from_iterable(map(_bare, children)))
            return None if bare == children else (Paragraph(bare),)
        case Rule():
            return None


def _item(item: Item, start: int | None, number: int) -> tuple[Block, ...]:
    """The blocks of `item`, its mark written as text."""
    mark = Text("- " if start is None else f"{start + number}. ")
    match item.blocks:
        case (Paragraph(children), *rest):
            return (Paragraph((mark, *children)), *rest)
        case blocks:
            return (Paragraph((mark,)), *blocks)


def _row(row: Row) -> Paragraph:
    cells = [inline for cell in row.cells for inline in (Text(" | "), *cell.children)]
    return Paragraph(tuple(cells[1:]))


def _bare(inline: Inline) -> tuple[Inline, ...]:
    match inline:
        case Strong(children) | Emphasis(children):
            return children
        case Strike(children):
            return (Text("~~"), *children, Text("~~"))  # without its marks it would say the opposite
        case Link():
            return _spelled(inline)
        case Text() | Code() | Break() | Moment():
            return (inline,)


def _spelled(link: Link) -> tuple[Inline, ...]:
    """A link whose address is text."""
    hint = f' "{link.title}"' if link.title else ""
    return (*link.children, Text(f" ({link.url}{hint})"))


def lightened(document: Document, heavy: Heavy) -> Document:
    """`document` without what would be repeated in every piece and is too long for that.

    Addresses of links become text, the info of code a paragraph before it, the header of a table its first row.
    """
    return Document(tuple(chain.from_iterable(_light_block(block, heavy) for block in document.blocks)))


def _light_block(block: Block, heavy: Heavy) -> Iterator[Block]:
    match block:
        case Quote(blocks):
            yield Quote(tuple(chain.from_iterable(_light_block(inner, heavy) for inner in blocks)))
        case List(items):
            yield replace(block, items=tuple(Item(_light_blocks(item.blocks, heavy)) for item in items))
        case CodeBlock(text, info) if info and heavy(Document((CodeBlock("x", info),))):
            yield from (Paragraph((Text(info),)), CodeBlock(text))
        case Table():
            yield _light_table(block, heavy)
        case Paragraph() | Heading():
            yield replace(block, children=_light_inlines(block.children, heavy))
        case CodeBlock() | Rule():
            yield block


def _light_blocks(blocks: Iterable[Block], heavy: Heavy) -> tuple[Block, ...]:
    return tuple(chain.from_iterable(_light_block(block, heavy) for block in blocks))


def _light_table(table: Table, heavy: Heavy) -> Table:
    header, *rows = (_light_row(row, heavy) for row in (table.header, *table.rows))
    if not heavy(Document((Table(header, ()),))):
        return Table(header, tuple(rows))
    nothing = Row(tuple(replace(cell, children=()) for cell in header.cells))
    return Table(nothing, (header, *rows))


def _light_row(row: Row, heavy: Heavy) -> Row:
    return Row(tuple(Cell(_light_inlines(cell.children, heavy), cell.align) for cell in row.cells))


def _light_inlines(children: tuple[Inline, ...], heavy: Heavy) -> tuple[Inline, ...]:
    return tuple(chain.from_iterable(_light_inline(child, heavy) for child in children))


def _light_inline(inline: Inline, heavy: Heavy) -> Iterator[Inline]:
    match inline:
        case Link(url, children, title):
            light = replace(inline, children=_light_inlines(children, heavy))
            too_long = heavy(Document((Paragraph((Link(url, SAMPLE, title),)),)))
            yield from _spelled(light) if too_long else (light,)
        case Strong(children) | Emphasis(children) | Strike(children):
            yield replace(inline, children=_light_inlines(children, heavy))
        case Text() | Code() | Break() | Moment():
            yield inline
