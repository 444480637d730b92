"""Sentences that were written in English, with their values in them, said in the language of whoever reads them now.

Refusals, reasons and last words are made where nobody knows who reads them: some go to a model, into the audit or a row of
the store, which are English, and the same ones onto a page or a card. So `say` is not called there: the sentence is
`marked` and its values put in. Here the text is found again that it was made of, by what stands between its places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from runtime.text.words import ENGLISH, LANGUAGE, LANGUAGES, catalogue, decimal, language

PLACE: Final = re.compile(r"\{(\w+)(?:![rsa])?(?::[^{}]*)?\}")
LEAST_LETTERS: Final = 5
"""Letters of its own that a text with places needs: fewer are found in texts that are something else."""
SENTENCE_WORDS: Final = 2
"""Words of a value that may be a sentence of ours itself; shorter ones are names, which are no words of ours."""
SAID_ALONE: Final = frozenset({"effect"})
"""Places whose one word is ours, such as "write"."""
MEASURED: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})*(?:\.\d+)? (?:s|KB)|\d{1,3}(?:,\d{3})+)")
"""Seconds, sizes, and numbers with their thousands marked."""
DEEPEST: Final = 3
BETWEEN: Final = tuple(map(re.compile, (r"(\n)", r"(; )", r"((?<=[.!?]) )", r"(: )")))
"""What stands between sentences that were joined; the first that divides a text is tried."""
RETOLD_KEPT: Final = 1_024
LONGEST_CHARS: Final = 2_000
"""Longer texts are nothing of ours."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text with places: `pieces` stand between them, of which there is one more than `names`."""

    text: str
    pieces: Sequence[str]
    names: Sequence[str]

    def values(self, told: str) -> dict[str, str] | None:
        """Values in the places, where `told` was made of it. A name that comes twice must have one value."""
        begin, *between, end = self.pieces
        at, last = len(begin), len(told) - len(end)
        if at > last or not (told.startswith(begin) and told.endswith(end)):
            return None
        values: dict[str, str] = {}
        for name, piece in zip(self.names, [*between, None], strict=True):
            # The first place of each piece: a pattern of all of them tries each with each, and a value may be of such pieces.
            place = last if piece is None else told.find(piece, at, last)
            if place < 0 or values.setdefault(name, value := told[at:place]) != value:
                return None
            at = place + len(piece or "")
        return values


def retold(text: str) -> str:
    """`text` in the language of now, if it's a sentence of ours, or lines of them; as it is otherwise.

    >>> retold("There is no schedule called x.")
    'There is no schedule called x.'
    """
    if not text or (not LANGUAGE.get() and LANGUAGES.get().are_english) or (now := language()) == ENGLISH:
        return text
    return _retold(now, str(text)) if len(text) <= LONGEST_CHARS else text


def told_to_reader(text: str) -> str:
    """`text` for the reader of a page, in their language; for a program it stays English."""
    return retold(text) if LANGUAGE.get() else text


@lru_cache(RETOLD_KEPT)
def _retold(now: str, text: str, depth: int = 0) -> str:
    if MEASURED.fullmatch(text):
        return decimal(text)
    if not text or (said := catalogue(now).gettext(text)) != text:
        return said if text else ""
    small = text[0].lower() + text[1:]
    if small != text and (said := catalogue(now).gettext(small)) != small:
        return said[0].upper() + said[1:]  # it begins a sentence
    if (made := _made(now, text, depth)) is not None:
        return made
    for end in BETWEEN:
        if len(parts := end.split(text)) > 1:
            return "".join(part if number % 2 else _retold(now, part, depth) for number, part in enumerate(parts))
    return text


def _made(now: str, text: str, depth: int) -> str | None:
    """Made of the first template that fits: they are sorted by how much of a text they say themselves."""
    for template in _templates(now):
        if all(piece in text for piece in template.pieces) and (values := template.values(text)) is not None:
            told = {name: _value(now, name, value, depth) for name, value in values.items()}
            return _filled(catalogue(now).gettext(template.text), told)
    return None


def _filled(text: str, values: Mapping[str, str]) -> str:
    return PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def _value(now: str, name: str, value: str, depth: int) -> str:
    if name in SAID_ALONE and value:
        return catalogue(now).gettext(value)
    if MEASURED.fullmatch(value):
        return decimal(value)
    is_sentence = depth < DEEPEST and len(value.split()) >= SENTENCE_WORDS
    return _retold(now, value, depth + 1) if is_sentence else value


@lru_cache
def _templates(now: str) -> Sequence[Template]:
    """Texts with places of a catalogue, those that say most themselves first."""
    found = list(_with_places(getattr(catalogue(now), "_catalog")))  # noqa: B009  # gettext lists its texts nowhere else
    return sorted(found, key=lambda one: -sum(map(len, one.pieces)))


def _with_places(texts: dict[str | tuple[str, int], str]) -> Iterator[Template]:
    for text in texts:
        if isinstance(text, str) and (parts := PLACE.split(text))[1:]:
            pieces = parts[::2]
            if sum(letter.isalpha() for piece in pieces for letter in piece) >= LEAST_LETTERS:
                yield Template(text, pieces, parts[1::2])
