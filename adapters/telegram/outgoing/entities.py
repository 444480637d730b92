"""Tree to text with entities: what a Telegram message is, no markup that could be refused.

Text is written in runs, each with its styles; entities are made of neighbouring runs that share one. Offsets count
UTF-16 units. By the platform's rules code and preformatted text take no other style beside a quote's, and quotes do not
nest: inner ones keep their `>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final

from runtime.markup import Document, table_text
from runtime.markup.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
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
from runtime.text.lengths import utf16

Entity = dict[str, Any]
Style = tuple[str, str]
"""An entity's type, and its address, language or instant."""
Styles = frozenset[Style]

PLAIN: Final[Styles] = frozenset()
QUOTE: Final[Style] = ("blockquote", "")
FOLDED: Final[Style] = ("expandable_blockquote", "")
"""A quote of which people see three lines until they press it. Source: Bot API 7.4, read 2026-11."""
QUOTES: Final = frozenset({QUOTE, FOLDED})
CODE: Final[Style] = ("code", "")
MOMENT: Final = "date_time"
MOMENT_FORM: Final = "Dt"
"""Date and time, by the reader's clocks. Source: Bot API 9.5, "Date-time entity formatting", read 2026-08."""
RULE_LINE: Final = "—" * 10
BULLETS: Final = ("• ", "◦ ", "▪ ")
PRESSED: Final = ("http://", "https://")
"""Addresses that words can be a link to; the platform takes that from words with any other."""
MESSAGE_MAX_ENTITIES: Final = 100
"""Entities the platform keeps in one message; it drops the rest without a word."""


def written(document: Document, folded: Document | None = None) -> tuple[str, list[Entity]]:
    """The text of `document` and its entities; `folded` comes last, and people see its begin."""
    writer = Writer()
    writer.blocks(document.blocks, PLAIN)
    if folded is not None:
        writer.write("\n\n" if document.blocks else "", PLAIN)
        writer.blocks(folded.blocks, frozenset({FOLDED}))
    return finished(writer.runs)


@dataclass(frozen=True, slots=True)
class Run:
    text: str
    styles: Styles


class Writer:
    """Writes blocks one after the other. `indent` stands at the begin of each line but a preformatted one."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._indent = ""
        self._depth = 0

    def write(self, text: str, styles: Styles) -> None:
        indented = text.replace("\n", f"\n{self._indent}")
        if self._indent:
            indented = indented.replace(f"\n{self._indent}\n", "\n\n")
        if text:
            self.runs.append(Run(indented, styles))

    def blocks(self, blocks: Iterable[Block], styles: Styles, gap: str = "\n\n") -> None:
        for number, block in enumerate(blocks):
            if number:
                self.write(gap, styles & QUOTES)
            self._block(block, styles)

    def _block(self, block: Block, styles: Styles) -> None:
        match block:
            case Paragraph(children):
                self._inlines(children, styles)
            case Heading(_, children):
                self._inlines(children, styles | {("bold", "")})
            case List():
                self._list(block, styles)
            case Quote(blocks):
                self._quote(blocks, styles)
            case CodeBlock(text, _):
                self._preformatted(text, block.language, styles)
            case Table():
                self._preformatted(table_text(block), "", styles)
            case Rule():
                self.write(RULE_LINE, styles)

    def _preformatted(self, text: str, language: str, styles: Styles) -> None:
        """On lines of its own, without the indent: what is copied from it should be what was written."""
        last = self.runs[-1] if self.runs else Run("\n", styles)
        if last.text.endswith(f"\n{self._indent}"):
            self.runs[-1:] = [Run(last.text.removesuffix(self._indent), last.styles)]
        elif not last.text.endswith("\n"):
            self.runs.append(Run("\n", styles & QUOTES))
        self.runs.append(Run(text or " ", styles & QUOTES | {("pre", language)}))

    def _quote(self, blocks: Iterable[Block], styles: Styles) -> None:
        if not styles & QUOTES:
            self.blocks(blocks, styles | {QUOTE})
            return
        with_mark = self._indent + "> "
        self.write("> ", styles)
        self._indent, before = with_mark, self._indent
        self.blocks(blocks, styles)
        self._indent = before

    def _list(self, block: List, styles: Styles) -> None:
        bullet = BULLETS[min(self._depth, len(BULLETS) - 1)]
        marks = (bullet for _ in count()) if block.start is None else (f"{n}. " for n in count(block.start))
        gap = "\n" if block.tight else "\n\n"
        self._depth += 1
        for number, (item, mark) in enumerate(zip(block.items, marks, strict=False)):
            self.write((gap if number else "") + mark, styles & QUOTES)
            self._item(item, styles, gap)
        self._depth -= 1

    def _item(self, item: Item, styles: Styles, gap: str) -> None:
        before, self._indent = self._indent, self._indent + "   "
        self.blocks(item.blocks, styles, gap)
        self._indent = before

    def _inlines(self, children: Iterable[Inline], styles: Styles) -> None:
        for child in children:
            self._inline(child, styles)

    def _inline(self, inline: Inline, styles: Styles) -> None:
        match inline:
            case Text(text):
                self.write(text, styles)
            case Code(text):
                self.write(text, _code(styles))
            case Strong(children):
                self._inlines(children, styles | {("bold", "")})
            case Emphasis(children):
                self._inlines(children, styles | {("italic", "")})
            case Strike(children):
                self._inlines(children, styles | {("strikethrough", "")})
            case Link(url, children, _):
                self._link(url, children, styles)
            case Break():
                self.write("\n", styles)
            case Moment(at, text):
                self.write(text, _moment(styles, at))

    def _link(self, url: str, children: Iterable[Inline], styles: Styles) -> None:
        before = len(self.runs)
        links = url.lower().startswith(PRESSED)
        self._inlines(
            children, frozenset(s for s in styles if s[0] != "text_link") | ({("text_link", url)} if links else set())
        )
        label = "".join(run.text for run in self.runs[before:]).strip()
        if not label or not links:
            self._address(url.removeprefix("mailto:"), label, styles)

    def _address(self, address: str, label: str, styles: Styles) -> None:
        """Write an address that nobody could press as text; an address of mail is known to the platform as it is."""
        if not label:
            self.write(address, styles)
        elif address not in label:
            self.write(f" ({address})", styles)


def _code(styles: Styles) -> Styles:
    """A link with code for its words stays a link: its address would be lost else."""
    links = {style for style in styles if style[0] == "text_link"}
    return styles & QUOTES | (links or {CODE})


def _moment(styles: Styles, at: datetime) -> Styles:
    """Beside it words may be styled, and be a link to nothing else."""
    return frozenset(style for style in styles if style[0] != "text_link") | {(MOMENT, f"{at.timestamp():.0f}")}


# -------------------------------------------------------------------------------------------------- runs to entities


def finished(runs: Iterable[Run]) -> tuple[str, list[Entity]]:
    """Text without white space around it, as the platform keeps it, and entities in the order of their begin."""
    kept = list(_stripped(runs))
    entities = sorted(_entities(kept), key=lambda e: (e["offset"], -e["length"], e["type"]))
    return "".join(run.text for run in kept), entities


def _stripped(runs: Iterable[Run]) -> Iterator[Run]:
    kept = [run for run in runs if run.text]
    while kept and not kept[0].text.strip():
        kept.pop(0)
    while kept and not kept[-1].text.strip():
        kept.pop()
    for number, run in enumerate(kept):
        text = run.text.lstrip() if number == 0 and not _is_pre(run) else run.text
        yield Run(text.rstrip() if number == len(kept) - 1 else text, run.styles)


def _is_pre(run: Run) -> bool:
    return any(kind == "pre" for kind, _ in run.styles)


def _entities(runs: list[Run]) -> Iterator[Entity]:
    """One entity for each stretch of neighbouring runs with the same style."""
    open_: dict[Style, int] = {}
    at = 0
    for run in [*runs, Run("", PLAIN)]:
        for style in [style for style in open_ if style not in run.styles]:
            yield _entity(style, open_.pop(style), at)
        for style in run.styles:
            open_.setdefault(style, at)
        at += utf16(run.text)


def _entity(style: Style, start: int, end: int) -> Entity:
    kind, more = style
    made: Entity = {"type": kind, "offset": start, "length": end - start}
    if kind == MOMENT:
        return {**made, "unix_time": int(more), "date_time_format": MOMENT_FORM}
    if more:
        made["url" if kind == "text_link" else "language"] = more
    return made
