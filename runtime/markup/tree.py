"""Parsed text: a small tree of frozen nodes.

Blocks hold blocks or inlines, inlines hold inlines. Both are closed unions, so a renderer that `match`es over them is
told by the type checker when it forgot one. Depth is bounded (see `reader.py`), so a renderer may recurse.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words. A line break of the source that is not a hard one is `\\n` in here."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Strike:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """`url` begins with http, https or mailto and is percent-encoded."""

    url: str
    children: tuple[Inline, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Break:
    """A hard line break."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant, for readers to see by their own clocks; `text` says it by clocks that it names."""

    at: datetime
    text: str


Inline = Text | Code | Strong | Emphasis | Strike | Link | Break | Moment


@dataclass(frozen=True, slots=True)
class Paragraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """`level` is 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Item:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class List:
    """`start` is the first number of an ordered list, None for bullets. A tight list has no gaps between items."""

    items: tuple[Item, ...]
    start: int | None = None
    tight: bool = True


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`text` has no final line break. `info` is what follows the fence; its first word is the language."""

    text: str
    info: str = ""

    @property
    def language(self) -> str:
        return self.info.split(maxsplit=1)[0] if self.info else ""


class Align(StrEnum):
    NONE = ""
    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Cell:
    children: tuple[Inline, ...]
    align: Align = Align.NONE


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Every row has as many cells as `header`."""

    header: Row
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""


Block = Paragraph | Heading | List | Quote | CodeBlock | Table | Rule


@dataclass(frozen=True, slots=True)
class Document:
    blocks: tuple[Block, ...]
