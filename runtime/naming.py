"""One rule for whatever people name: its id or its name, else the first characters of its id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

SHORTEST: Final = 4
"""Characters of an id below which nothing is looked for: they would fit half of all."""
MARKS: Final = "#@"
"""What people write before the name of a room, or leave out."""

T = TypeVar("T")


def meant(
    words: str, things: Iterable[T], *, ids: Callable[[T], str], names: Callable[[T], Iterable[str]]
) -> Sequence[T]:
    """Those of `things` that `words` mean: one, several to choose from, or none."""
    every, wanted = list(things), folded(words)
    exact = [one for one in every if wanted in (folded(ids(one)), *map(folded, names(one)))]
    if exact or len(wanted) < SHORTEST:
        return exact
    return [one for one in every if folded(ids(one)).startswith(wanted)]


def folded(text: str) -> str:
    """A name as it is compared: whatever its case, and with or without its mark."""
    return " ".join(text.split()).lstrip(MARKS).casefold()
