"""The places at which a tree is cut best, found once for all its pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Final

from runtime.markup.spans import Span, text_of
from runtime.markup.tree import Break, Code, CodeBlock, Document, Heading, Item, List, Quote, Row, Table, Text
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


@dataclass(frozen=True, slots=True)
class Cut:
    """One piece ends before the place `end`, the next begins at `start`; between them is only white space."""

    end: int
    start: int


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
    """All good places to cut below `root`."""

    def __init__(self, root: Span) -> None:
        self._root = root
        self._cuts: dict[Rank, list[Cut]] = {rank: [] for rank in Rank}
        for rank, cut in _found(root, 0):
            self._cuts[rank].append(cut)
        for cuts in self._cuts.values():
            cuts.sort(key=attrgetter("end", "start"))

    def best(self, start: int, fits: int, most: int) -> Cut | None:
        """Best cut of a piece from `start` that may go on up to some place from `fits` to `most`, which are beyond `start`.

        None where it depends on that place.
        """
        for rank, least in LEAST_FILLED.items():
            cut = self.last(rank, most)
            if cut != self.last(rank, fits):
                return None
            if cut is not None and cut.end > start and cut.end - start >= least * (fits - start):
                return cut if cut.end - start >= least * (most - start) else None
        if fits < most:
            return None
        place = self._whole_character(start, fits)
        return Cut(place, place)

    def last(self, rank: Rank, reach: int) -> Cut | None:
        """The last cut of `rank` up to `reach`."""
        cuts = self._cuts[rank]
        index = bisect_right(cuts, reach, key=attrgetter("end"))
        return cuts[index - 1] if index else None

    def _whole_character(self, start: int, reach: int) -> int:
        leaf = self._root.leaf(min(reach, self._root.end - 1))
        floor = max(start, leaf.start) - leaf.start
        return leaf.start + boundary(text_of(leaf.node), reach - leaf.start, floor)


def _found(span: Span, depth: int) -> Iterator[tuple[Rank, Cut]]:
    node = span.node
    if not span.children:
        yield from ((rank, Cut(span.start + end, span.start + start)) for rank, end, start in _in_leaf(span))
        return
    rank = _rank_between(span, depth)
    for index, child in enumerate(span.children):
        if index and rank is not None and not _introduces(node, index - 1, span.children[index - 1]):
            yield rank, Cut(child.start, child.start)
        if not (index == 0 and isinstance(node, Table)):  # a header is whole, or it was made a row before
            yield from _found(child, depth + isinstance(node, List | Quote | Table))


def _rank_between(span: Span, depth: int) -> Rank | None:
    match span.node:
        case Document():
            return Rank.BLOCK
        case List() | Quote() | Table():
            return Rank.INNER if depth else Rank.ITEM
        case Item():
            return Rank.INNER
        case Row():
            return Rank.WORD
        case _:
            return None  # marks begin and end inside words


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
    yield from ((Rank.ITEM, found.start(), found.end()) for found in BLANK_LINES.finditer(text))
    yield from ((Rank.LINE, found.start(), found.end()) for found in re.finditer("\n", text))
    yield from ((Rank.WORD, found.end(), found.end()) for found in re.finditer(r"[ \t]+", text))
