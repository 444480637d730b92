"""One document as several, each small enough for one message of its platform.

The tree is cut, not the rendered text, so each piece is valid alone: its quotes, lists, fences and marks are closed, and
open again in the next. A cut falls between blocks where it can, else between items, rows or lines, sentences, words,
characters. Lists count on; the fence of code and the header of a table come again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from operator import attrgetter
from typing import Final, TypeVar

from runtime.markup.cuts import Cut, Cuts, Rank
from runtime.markup.plain import to_plain
from runtime.markup.simplify import lightened, loosened
from runtime.markup.spans import Span, span, spans_before
from runtime.markup.tree import CodeBlock, Document, Table

T = TypeVar("T")
Measure = Callable[[Document], int]
"""How long a document is once rendered, in the platform's unit (see `measures`). Pure; more text is not less."""

RECENT: Final = 4  # a piece is the last that fitted, but for tables behind it that were measured as a whole
SEVERAL: Final = 32  # blocks; a document with no more is measured as a whole
HEAVY: Final = 3  # what each piece repeats around its words may take one third of it
THIN: Final = 16  # a piece that holds fewer characters than limit / 16 has too much around them
DENSER: Final = 1.02  # a look that is to be too long
NEAR: Final = 4  # a look is at the next cut where that is less than a quarter of the way farther
LEAD: Final = 8  # behind reach / 8 or more, code or a table that fits whole goes into the next piece


def once(made_of: Callable[[Document], T]) -> Callable[[Document], T]:
    """`made_of` that knows what it made last: where a document fits at once, it is asked several times about the same."""
    last: tuple[Document, T] | None = None

    def known(document: Document) -> T:
        nonlocal last
        if last is None or last[0] is not document:
            last = document, made_of(document)
        return last[1]

    return known


def split(document: Document, measure: Measure, limit: int) -> list[Document]:
    """`document` in pieces of at most `limit` each, in order; itself where it fits.

    No word is lost: only white space at the cuts is. What would leave no room for words loses its form: an address too
    long to stand in each piece becomes text, and quotes, lists and marks too deep for the limit end.

    Errors: ValueError where `limit` does not even hold one character.
    """
    return list(_split(document, measure, limit))


def split_made(document: Document, make: Callable[[Document], T], size: Callable[[T], int], limit: int) -> list[T]:
    """The pieces that `split` would cut, as `make` makes them, where `size` of that is the measure. None is made twice."""
    fitting: deque[tuple[Document, T]] = deque(maxlen=RECENT)

    def measure(part: Document) -> int:
        made = make(part)
        if (length := size(made)) <= limit:
            fitting.append((part, made))
        return length

    def made_of(piece: Document) -> T:
        return next((made for part, made in fitting if part is piece), None) or make(piece)

    return list(map(made_of, _split(document, measure, limit)))


def beginning(document: Document, measure: Measure, limit: int) -> Document:
    """The first piece that `split` would make, without making the others. Errors: as `split`."""
    begin = _begin(document, measure, 2 * limit)  # too long also without what makes it heavy
    if begin is document and measure(document) <= limit:
        return document
    return next(_pieces(begin, measure, limit), None) or next(_pieces(document, measure, limit), document)


def _split(document: Document, measure: Measure, limit: int) -> Iterator[Document]:
    if _begin(document, measure, limit) is document and measure(document) <= limit:
        yield document
        return
    pieces = _pieces(document, measure, limit)
    yield next(pieces, document)
    yield from pieces


def _begin(document: Document, measure: Measure, limit: int) -> Document:
    """As many of the first blocks as are too long for `limit`; all where there are few, or none too long."""
    several = SEVERAL
    while several < len(document.blocks):
        begin = Document(document.blocks[:several])
        if measure(begin) > limit:
            return begin
        several *= 2
    return document


def _pieces(document: Document, measure: Measure, limit: int) -> Iterator[Document]:
    light = lightened(document, lambda part: measure(part) > limit // HEAVY)
    if light.blocks:
        yield from _Cutting(span(light), measure, limit).pieces()


class _Cutting:
    """One tree being cut from its begin to its end, loosened where it must be."""

    def __init__(self, root: Span, measure: Measure, limit: int) -> None:
        self._measure = measure
        self._limit = limit
        self._held = limit  # places of a piece that is as dense as what was measured last
        self._take(root)

    def _take(self, root: Span) -> None:
        self._root = root
        self._cuts = Cuts(root)
        self._whole: dict[int, bool] = {}
        self._fitting = Document(())  # the last piece that was found to fit

    def pieces(self) -> Iterator[Document]:
        """The pieces in which there is something to see."""
        start = 0
        while start < self._root.end:
            cut = self._next(start)
            if isinstance(cut, Span):
                self._take(cut)
                start = cut.start
                continue
            if to_plain(self._fitting).strip():
                yield self._fitting
            start = cut.start

    def _next(self, start: int) -> Cut | Span:
        """The cut of the piece from `start`; or the rest, looser, where there is too much around its words."""
        for fits, most in self._reaches(start):
            if self._is_thin(start, most) and (looser := self._loosened(start)):
                return looser
            if most == start:
                raise ValueError(f"a limit of {self._limit} is too small for one character")
            if self._is_thin(start, fits) and fits < most:
                continue
            cut = self._cut(start, fits, most)
            # A shorter text can be longer once rendered, if seldom. With any cut its piece has just been found to fit.
            if cut is not None and (cut.end == fits or self._size(start, cut.end) <= self._limit):
                return cut
        return Cut(fits, fits)

    def _size(self, start: int, end: int) -> int:
        piece = self._root.stretch(start, end)
        size = self._measure(piece)
        if size <= self._limit:
            self._fitting = piece
        return size

    def _reaches(self, start: int) -> Iterator[tuple[int, int]]:
        """Bounds of the last place that a piece from `start` may reach: one that fits, and the last not found too long.

        They come closer with each look, until they meet; at `start` where nothing fits. A look is at a place where the
        piece would be cut, if there is one, since it is likely to end there.
        """
        fits, size, over, over_size = start, 0, self._root.end + 1, 0
        guess = start + self._held
        for look in count():
            guess = self._likely(start, fits, min(max(guess, fits + 1), over - 1), over - 1)
            measured = self._size(start, guess)
            self._held = (guess - start) * self._limit // max(measured, 1)
            if measured <= self._limit:
                fits, size = guess, measured
            else:
                over, over_size = guess, measured
            yield fits, over - 1
            if over - fits <= 1:
                return
            # Where the limit is if all is equally dense; every third time the middle, so that few looks suffice.
            even = look % 3 < 2
            if over > self._root.end:
                guess = start + int(DENSER * self._held if even else 2 * (fits - start))
            else:
                guess = fits + int((over - fits) * ((self._limit - size) / (over_size - size) if even else 0.5))

    def _likely(self, start: int, fits: int, guess: int, most: int) -> int:
        """The place near `guess`, behind `fits` and up to `most`, where a piece would be cut or where the next cut is."""
        cut = self._cut(start, guess, guess)
        if cut is not None and cut.end > fits:
            return cut.end
        after = self._cuts.next(guess, min(most, guess + (guess - start) // NEAR))
        return after.end if after else guess

    def _is_thin(self, start: int, reach: int) -> bool:
        """True if so little of a block fits that what is around its words must go."""
        return reach < self._block(start).end and reach - start < max(self._limit // THIN, 1)

    def _loosened(self, start: int) -> Span | None:
        """The rest from `start`, its first block looser; all that follows keeps its places."""
        index = self._index(start)
        first = self._root.children[index]
        looser = loosened(first.stretch(start, first.end))
        if looser is None:
            return None
        spans = (*spans_before(looser, first.end), *self._root.children[index + 1 :])
        others = self._root.stretch(first.end, self._root.end).blocks
        return Span(Document((*looser, *others)), spans[0].start if spans else first.end, self._root.end, spans)

    def _cut(self, start: int, fits: int, most: int) -> Cut | None:
        """The cut of a piece that may reach some place from `fits` to `most`; None where that depends on the place."""
        if most == self._root.end:
            return Cut(most, most) if fits == most else None
        whole = self._before_a_whole(start, fits)
        if whole != self._before_a_whole(start, most):
            return None
        return whole or self._cuts.best(start, fits, most)

    def _before_a_whole(self, start: int, reach: int) -> Cut | None:
        """The cut before the code or table that `reach` would cut, where that fits whole into a piece of its own."""
        cut = self._cuts.last(Rank.BLOCK, start, reach)
        if cut is None or cut.end - start < max((reach - start) // LEAD, 1):
            return None
        block = self._block(cut.start)
        return cut if block.end > reach and self._fits_whole(block) else None

    def _fits_whole(self, block: Span) -> bool:
        """True for code or a table that one piece can hold."""
        if block.start not in self._whole:
            fits = isinstance(block.node, CodeBlock | Table) and self._measure(Document((block.node,))) <= self._limit
            self._whole[block.start] = fits
        return self._whole[block.start]

    def _block(self, place: int) -> Span:
        """The outermost block around `place`."""
        return self._root.children[self._index(place)]

    def _index(self, place: int) -> int:
        return bisect_right(self._root.children, place, key=attrgetter("end"))
