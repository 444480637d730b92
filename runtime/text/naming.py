"""One rule for whatever people name: its id or its name, else the first characters of its id."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from runtime.text.glyphs import seen, visible

SHORTEST: Final = 4
"""Characters of an id below which nothing is looked for: they would fit half of all."""
ROOM_MARKS: Final = "#@"
"""What people write before the name of a room, or leave out."""
PERSON_NAME_MAX_CHARS: Final = 100
"""Characters of a person's name."""
LISTED_MAX: Final = 4
"""Names in a sentence."""
LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχıł",
    "ABESIJKMHOPCTYXaesijopcyxdhlABEZHIKMNOPTYXaikvopuxil",
)
"""Letters of other scripts that are drawn as one of ours. Source: the commonest of Unicode's confusables.txt (UTS 39)."""

OURS: Final = ("settings", "sign-in", "command line of")
"""Beginnings, or all, of the names under which the audit has what no person did. The last is followed by a user of the machine."""

T = TypeVar("T")


def meant(
    words: str, things: Iterable[T], *, ids: Callable[[T], str], names: Callable[[T], Iterable[str]]
) -> Sequence[T]:
    """Things that `words` mean: one, several to choose from, or none."""
    every, wanted = list(things), folded(words)
    exact = [one for one in every if wanted in (folded(ids(one)), *map(folded, names(one)))]
    if exact or len(wanted) < SHORTEST:
        return exact
    return [one for one in every if folded(ids(one)).startswith(wanted)]


def folded(text: str) -> str:
    """A name as it is compared: whatever its case, and with or without its mark."""
    return " ".join(text.split()).lstrip(ROOM_MARKS).casefold()


def alike(text: str) -> str:
    """A person's name as people see it: equal for two that are easily taken for each other."""
    plain = unicodedata.normalize("NFKC", seen(text)).translate(LOOKALIKES)
    return folded(plain).translate(LOOKALIKES)


def is_ours(name: str) -> bool:
    """True for a name that would be taken for one of ours in the audit."""
    *whole, beginning = OURS
    return alike(name) in whole or alike(name).startswith(beginning)


def is_identity(text: str) -> bool:
    """True if a text is an account at a platform: `slack:T1/U1`. No name that a platform tells reads so."""
    channel, colon, user = text.partition(":")
    return bool(channel.isalpha() and colon and user and not any(letter.isspace() for letter in text))


def listed(names: Sequence[str], word: str = "and") -> str:
    """`Ann`, `Ann and Bob`, `Ann, Bob and Cy`; of many the first ones.

    >>> listed(["Ann", "Bob", "Cy"], "or")
    'Ann, Bob or Cy'
    """
    if len(names) > LISTED_MAX:
        return f"{', '.join(names[: LISTED_MAX - 1])} {word} {len(names) - LISTED_MAX + 1} others"
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def fault_of_name(name: str) -> str:
    """The fault of a new name for a person, in words that show what nobody would see; empty where it has none."""
    if not name.strip(": "):
        return "Write a name."  # colons part identities, and are taken out of what people call themselves
    if is_ours(name):
        return "The audit has what no person did under such a name. Choose another one."
    if len(name) > PERSON_NAME_MAX_CHARS:
        return f"A name has at most {PERSON_NAME_MAX_CHARS} characters, and this one has {len(name):,}."
    shown = visible(name, one_line=True)
    return (
        "" if shown == name else f'"{shown}": a name must not contain invisible characters. Type it again without them.'
    )
