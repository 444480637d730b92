"""Globs compared with each other: whether one lies inside others, and whether two may fit the same text. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

ANYTHING: Final = "*"
Piece = str
"""A letter that stands for itself, `?`, `*`, or a class such as `[a-z]` as it is written."""
ANY_LETTER: Final = "?"


def pieces(glob: str) -> tuple[Piece, ...]:
    """A glob in its parts, read as `fnmatch` reads it.

    >>> pieces("a[!b]*")
    ('a', '[!b]', '*')
    >>> pieces("a[b")
    ('a', '[[]', 'b')
    """
    found: list[Piece] = []
    at = 0
    while at < len(glob):
        end = _class_end(glob, at) if glob[at] == "[" else at + 1
        piece = glob[at:end] if end > at else "[[]"
        at = max(end, at + 1)
        if not (piece == ANYTHING and found[-1:] == [ANYTHING]):
            found.append(piece)
    return tuple(found)


def _class_end(glob: str, at: int) -> int:
    """Place behind a class; `at` where the bracket is a letter."""
    first = at + 1 + (glob[at + 1 : at + 2] == "!")
    end = glob.find("]", first + 1)
    return end + 1 if end >= 0 else at


def literal_length(glob: str) -> int:
    """Letters before the first that may be another.

    >>> literal_length("slack:work/C-OPS*"), literal_length("*"), literal_length("web:main/lobby")
    (16, 0, 14)
    """
    parts = pieces(glob)
    return next((at for at, piece in enumerate(parts) if not _is_letter(piece)), len(parts))


def outside(inner: Iterable[str], outer: Iterable[str]) -> str | None:
    """The first of `inner` that no single one of `outer` surely holds; None where each is held.

    >>> outside(["slack:work/C1"], ["slack:work/*"]), outside(["slack:*"], ["slack:work/*"])
    (None, 'slack:*')
    """
    around = tuple(outer)
    return next((glob for glob in inner if not any(holds(one, glob) for one in around)), None)


@cache
def holds(outer: str, inner: str) -> bool:
    """True if `outer` surely fits whatever `inner` fits. In doubt it is not so: of a class only the same one is held."""
    return _walk(pieces(outer), pieces(inner), _takes, both=False)


@cache
def meet(one: str, other: str) -> bool:
    """True if a text may fit both. In doubt, as with two classes, it may."""
    return _walk(pieces(one), pieces(other), _may_agree, both=True)


def _walk(
    one: tuple[Piece, ...], other: tuple[Piece, ...], agree: Callable[[Piece, Piece], bool], *, both: bool
) -> bool:
    """Go through both at once. A star of `one` takes any part of `other`; with `both` that holds the other way too."""
    ways = {(0, 0)}
    seen = set(ways)
    while ways:
        here, there = ways.pop()
        if here == len(one) and there == len(other):
            return True
        for step in _steps(one[here : here + 1], other[there : there + 1], agree, both=both):
            way = here + step[0], there + step[1]
            if way not in seen:
                seen.add(way)
                ways.add(way)
    return False


def _steps(
    here: tuple[Piece, ...], there: tuple[Piece, ...], agree: Callable[[Piece, Piece], bool], *, both: bool
) -> Iterable[tuple[int, int]]:
    if here == (ANYTHING,):
        yield 1, 0
        yield from [(0, 1)] if there else []
    if both and there == (ANYTHING,):
        yield 0, 1
        yield from [(1, 0)] if here else []
    if here and there and ANYTHING not in (*here, *there) and agree(here[0], there[0]):
        yield 1, 1


def _takes(outer: Piece, inner: Piece) -> bool:
    return outer in (ANY_LETTER, inner)


def _may_agree(one: Piece, other: Piece) -> bool:
    return one == other or not (_is_letter(one) and _is_letter(other))


def _is_letter(piece: Piece) -> bool:
    return piece not in (ANYTHING, ANY_LETTER) and (len(piece) == 1 or piece == "[[]")
