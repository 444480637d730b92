"""A tree with its places counted, so that any stretch of it can be cut out as a tree of its own.

Each character of text is one place, and so is a node that has none (a rule, an empty cell). A stretch keeps what stands
around its places: quotes, lists with their numbers, the fence and info of code, marks, links, the header of a table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from runtime.markup.tree import (
    Break,
    Cell,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
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

Node = (
    Document | Paragraph | Heading | List | Item | Quote | CodeBlock | Table | Row | Cell | Rule
    | Text | Code | Strong | Emphasis | Strike | Link | Break | Moment
)  # fmt: skip


class Span(NamedTuple):
    """`node` and the places it takes, from `start` up to `end`. As a tuple, since a text has ten thousands of them."""

    node: Node
    start: int
    end: int
    children: tuple[Span, ...] = ()

    def stretch(self, start: int, end: int) -> Any:
        """The node with only what is at the places from `start` up to `end`. Some of its places must be there."""
        if start <= self.start and self.end <= end:
            return self.node
        if not self.children:
            return _part(self.node, max(start - self.start, 0), end - self.start)
        first = bisect_right(self.children, start, key=_end)
        last = bisect_left(self.children, end, key=_start)
        kept = [child.stretch(start, end) for child in self.children[first:last]]
        return _with(self.node, first, kept)

    def leaf(self, place: int) -> Span:
        """The innermost span around `place`, which must be in this one."""
        span = self
        while span.children:
            span = span.children[bisect_right(span.children, place, key=_end)]
        return span


def span(node: Node, start: int = 0) -> Span:
    """`node` with its places counted from `start`."""
    children, end = [], start
    for child in inside(node):
        children.append(span(child, end))
        end = children[-1].end
    return Span(node, start, end if children else start + max(len(text_of(node)), 1), tuple(children))


def spans_before(nodes: Sequence[Node], end: int) -> tuple[Span, ...]:
    """`nodes` with their places counted so that the last of them ends at `end`."""
    made: list[Span] = []
    for node in reversed(nodes):
        made.append(span(node, end - span(node).end))
        end = made[-1].start
    return tuple(reversed(made))


def inside(node: Node) -> Sequence[Node]:
    """Nodes within `node`, in the order of reading."""
    match node:
        case Document(blocks) | Quote(blocks) | Item(blocks):
            return blocks
        case List(items):
            return items
        case Table(header, rows):
            return (header, *rows)
        case Row(cells):
            return cells
        case Paragraph() | Heading() | Cell() | Strong() | Emphasis() | Strike() | Link():
            return node.children
        case Text() | Code() | CodeBlock() | Break() | Moment() | Rule():
            return ()


def text_of(node: Node) -> str:
    """The text of a node that holds no others."""
    return node.text if isinstance(node, Text | Code | CodeBlock) else ""


def _part(node: Node, start: int, end: int) -> Node:
    return replace(node, text=node.text[start:end]) if isinstance(node, Text | Code | CodeBlock) else node


def _with(node: Node, first: int, kept: list[Any]) -> Node:
    """`node` with only `kept` of its children, of which the first was number `first`."""
    match node:
        case Document() | Quote() | Item():
            return replace(node, blocks=tuple(kept))
        case List(_, start, tight):
            return List(tuple(kept), None if start is None else start + first, tight)
        case Table(header) if first:
            return Table(header, tuple(kept))
        case Table():
            return Table(kept[0], tuple(kept[1:]))
        case Row(cells):
            rest = cells[first + len(kept) :]
            return Row((*map(_emptied, cells[:first]), *kept, *map(_emptied, rest)))
        case Paragraph() | Heading() | Cell() | Strong() | Emphasis() | Strike() | Link():
            return replace(node, children=tuple(kept))
        case Text() | Code() | CodeBlock() | Break() | Moment() | Rule():
            return node


def _emptied(cell: Cell) -> Cell:
    return replace(cell, children=())


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end
