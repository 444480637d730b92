"""The places at which a tree is cut best, found once for all its pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import IntEnum
from operator import attrgetter
from typing import Final, NamedTuple

from runtime.markup.spans import Span, text_of
from runtime.markup.tree import Break, Code, CodeBlock, Heading, Item, List, Quote, Row, Table, Text
from runtime.text.graphemes import boundary

BLANKS: Final = re.compile(r"[^\S\u00a0\u2007\u202f]+")  # white space but for the kinds that hold words together
SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’»)\]]*\Z")  # noqa: RUF001 - quotation marks are meant
WIDE_SENTENCE_END: Final = re.compile(r"([。！？]+[」』”’）】]*)\s*")  # noqa: RUF001 - Chinese and Japanese need no blank
NEVER_FIRST: Final = r"\sー々、。，．！？」』）】〉》ぁぃぅぇぉっゃゅょァィゥェォッャュョ"  # noqa: RUF001 - as above
IDEOGRAPH: Final = re.compile(
    rf"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff](?![{NEVER_FIRST}])"
)
BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*\n)+")


class Rank(IntEnum):
    """Ranks of cuts, by what they keep whole, the best first."""

    BLOCK = 0  # between blocks
    ITEM = 1  # between items of a list, rows of a table, blocks of a quote, paragraphs of code
    INNER = 2  # the same, deeper
    LINE = 3
    SENTENCE = 4
    WORD = 5


class Cut(NamedTuple):
    """One piece ends before the place `end`, the next begins at `start`; between them is only white space."""

    end: int
    start: int


Found = dict[Rank, list[Cut]]

# How much of what would fit a piece must hold for a cut of this rank; with less the next rank is tried.
LEAST_FILLED: Final = {
    Rank.BLOCK: 0.4,
    Rank.ITEM: 0.5,
    Rank.INNER: 0.6,
    Rank.LINE: 0.6,
    Rank.SENTENCE: 0.6,
    Rank.WORD: 0.0,
}


class Cuts:
    """All good places to cut below `root`, found block by block."""

    def __init__(self, root: Span) -> None:
        self._root = root
        self._known: dict[tuple[int, bool], Found] = {}

    def best(self, start: int, fits: int, most: int) -> Cut | None:
        """Best cut of a piece from `start` that may go on up to some place from `fits` to `most`, which are beyond `start`.

        None where it depends on that place.
        """
        for rank, least in LEAST_FILLED.items():
            cut = self.last(rank, start, most)
            if cut != self.last(rank, start, fits):
                return None
            if cut is not None and cut.end - start >= least * (fits - start):
                return cut if cut.end - start >= least * (most - start) else None
        if fits < most:
            return None
        place = self._whole_character(start, fits)
        return Cut(place, place)

    def next(self, place: int, most: int) -> Cut | None:
        """First cut of the best rank that has any behind `place` and up to `most`."""
        return next(filter(None, (self._first(rank, place, most) for rank in Rank)), None)

    def _first(self, rank: Rank, place: int, most: int) -> Cut | None:
        blocks = self._root.children
        for index in range(bisect_right(blocks, place, key=attrgetter("end")), len(blocks)):
            block = blocks[index]
            if block.start > most:
                break
            if rank is Rank.BLOCK:
                cuts = [Cut(block.start, block.start)] if self._is_between(index) else []
            else:
                cuts = self._in(block, rank)
            behind = bisect_right(cuts, place, key=attrgetter("end"))
            if behind < len(cuts):
                return cuts[behind] if cuts[behind].end <= most else None
        return None

    def last(self, rank: Rank, start: int, reach: int) -> Cut | None:
        """The last cut of `rank` behind `start` and up to `reach`."""
        blocks = self._root.children
        for index in range(bisect_right(blocks, reach, key=attrgetter("start")) - 1, -1, -1):
            block = blocks[index]
            if rank is not Rank.BLOCK:
                cuts = self._in(block, rank)
                place = bisect_right(cuts, reach, key=attrgetter("end"))
                if place and cuts[place - 1].end > start:
                    return cuts[place - 1]
            elif block.start > start and self._is_between(index):
                return Cut(block.start, block.start)
            if block.start <= start:
                break
        return None

    def _is_between(self, index: int) -> bool:
        """True if a cut may fall before the outermost block number `index`."""
        return index > 0 and not _introduces(self._root.node, index - 1, self._root.children[index - 1])

    def _in(self, block: Span, rank: Rank) -> list[Cut]:
        """The cuts of `rank` in an outermost block, found when they are first asked for."""
        fine = rank > Rank.INNER
        if (block.start, fine) not in self._known:
            found: Found = {one: [] for one in Rank}
            for its, cut in _fine(block) if fine else _coarse(block, 0):
                found[its].append(cut)
            for cuts in found.values():
                cuts.sort()
            self._known[block.start, fine] = found
        return self._known[block.start, fine][rank]

    def _whole_character(self, start: int, reach: int) -> int:
        leaf = self._root.leaf(min(reach, self._root.end - 1))
        floor = max(start, leaf.start) - leaf.start
        return leaf.start + boundary(text_of(leaf.node), reach - leaf.start, floor)


def _coarse(span: Span, depth: int) -> Iterator[tuple[Rank, Cut]]:
    """Between what a block is made of: items, rows, the blocks of a quote, the paragraphs of code."""
    node = span.node
    if isinstance(node, CodeBlock):
        for found in BLANK_LINES.finditer(node.text):
            yield Rank.ITEM, Cut(span.start + found.start(), span.start + found.end())
    if not isinstance(node, List | Quote | Table | Item):
        return
    rank = Rank.INNER if depth or isinstance(node, Item) else Rank.ITEM
    for index, child in enumerate(span.children):
        if index and not _introduces(node, index - 1, span.children[index - 1]):
            yield rank, Cut(child.start, child.start)
        yield from _coarse(child, depth + (not isinstance(node, Item)))


def _fine(span: Span) -> Iterator[tuple[Rank, Cut]]:
    """Within the lines of a block, and between the cells of a row."""
    if not span.children:
        yield from ((rank, Cut(span.start + end, span.start + start)) for rank, end, start in _in_leaf(span))
    for index, child in enumerate(span.children):
        if index and isinstance(span.node, Row):
            yield Rank.WORD, Cut(child.start, child.start)
        if index or not isinstance(span.node, Table):  # a header is whole, or it was made a row before
            yield from _fine(child)


def _introduces(node: object, index: int, before: Span) -> bool:
    """A heading stays with what follows, the header of a table with its first row."""
    return isinstance(before.node, Heading) or (isinstance(node, Table) and index == 0)


def _in_leaf(span: Span) -> Iterator[tuple[Rank, int, int]]:
    """Cuts in the text of a leaf, counted from its begin."""
    match span.node:
        case Text(text):
            yield from _in_prose(text)
        case Code(text):
            yield from ((Rank.WORD, found.start(), found.end()) for found in BLANKS.finditer(text))
        case CodeBlock(text):
            yield from _in_code(text)
        case Break():
            yield Rank.LINE, 0, 1
        case _:
            return


def _in_prose(text: str) -> Iterator[tuple[Rank, int, int]]:
    for found in BLANKS.finditer(text):
        start, end = found.span()
        if "\n" in found.group():
            yield Rank.LINE, start, end
        elif SENTENCE_END.search(text, max(start - 4, 0), start):
            yield Rank.SENTENCE, start, end
        yield Rank.WORD, start, end
    if not text.isascii():
        yield from ((Rank.SENTENCE, found.end(1), found.end()) for found in WIDE_SENTENCE_END.finditer(text))
        yield from ((Rank.WORD, found.end(), found.end()) for found in IDEOGRAPH.finditer(text))


def _in_code(text: str) -> Iterator[tuple[Rank, int, int]]:
    """Blanks within a line stay where they are: in code they may mean something."""
    yield from ((Rank.LINE, found.start(), found.end()) for found in re.finditer("\n", text))
    yield from ((Rank.WORD, found.end(), found.end()) for found in re.finditer(r"[ \t]+", text))
