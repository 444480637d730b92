"""A document as parts in order, and the text that is told of them: both ends where it is long. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from tools.kit.output import joined

PARTS_READ_MAX: Final = 500
"""Parts, such as pages, that one call reads."""
PART_CHARS: Final = 3_000
"""Characters after which a text without pages begins a new part."""
ERROR_MAX_CHARS: Final = 200
"""Characters of what a library says is wrong with a document."""
ONLY_PART: Final = "all of it"
"""Label of a text without parts, which needs none."""
RANGE: Final = re.compile(r"(\d{1,6})(?:\s*[-\u2013]\s*(\d{1,6})?)?")
CHOICE: Final = 'Write pages as "3", "11-20" or "1-5, 9".'
CUT_INSIDE: Final = "{count:,} characters of this {unit} are left out"


BROKEN_FILE: Final = "The file is broken. Ask for it again."


class Unreadable(Exception):
    """A document can't be read. The text is written for the model, in our words alone: nobody fences it, and what libraries
    say of a file repeats names in it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Text of one part. `pictures`: it shows some, whether it has a text or not."""

    label: str
    text: str
    pictures: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A document: `unit` is the word for its parts, `count` their number, and `part` reads one by its place from 0 on."""

    kind: str
    unit: str
    count: int
    part: Callable[[int], Part]
    title: str = ""
    about: str = ""
    missed: str = ""

    @classmethod
    def of(cls, kind: str, parts: Sequence[Part], *, title: str = "", about: str = "", missed: str = "") -> Document:
        """Of parts that have no numbers of their own: they're counted, and may have a label beside, such as a sheet's name."""
        shown = [replace(part, label=_numbered(number, part.label)) for number, part in enumerate(parts, 1)]
        if len(parts) == 1:
            shown = [replace(parts[0], label=parts[0].label or ONLY_PART)]
        return cls(kind, "part", len(parts), shown.__getitem__, title, about, missed)


def _numbered(number: int, label: str) -> str:
    return f"part {number}: {label}" if label else f"part {number}"


def numbers(pages: str, count: int, unit: str) -> Sequence[int]:
    """Places of the parts that are wanted. Errors: Unreadable for what is no such choice, or not there.

    >>> numbers("2-3, 9-", 10, "page")
    [1, 2, 8, 9]
    """
    if not pages.strip():
        return range(count)
    chosen: dict[int, None] = {}
    for piece in pages.split(","):
        found = RANGE.fullmatch(piece.strip())
        if not found:
            raise Unreadable(f"{pages!r} names no {unit}s. {CHOICE}")
        first = int(found[1])
        last = int(found[2]) if found[2] else count if found[0] != found[1] else first
        if not 1 <= first <= min(last, count):
            raise Unreadable(f"There is no {unit} {piece.strip()}: it has {counted(count, unit)}.")
        chosen |= dict.fromkeys(range(first - 1, min(last, count)))
    return list(chosen)


def told(document: Document, pages: str, most: int) -> str:
    """The document as the model reads it, in about `most` characters: where it is longer, its beginning and its end."""
    wanted = numbers(pages, document.count, document.unit)
    chosen = wanted[:PARTS_READ_MAX]
    shown = _Shown(document, chosen, most)
    body = "\n\n".join(shown.texts())
    size = "" if document.count == 1 and document.unit == "part" else f", {counted(document.count, document.unit)}"
    title = f" Title: {document.title}." if document.title else ""
    lines = [f"{document.kind}{size}.{title}{document.about}"]
    lines += [f"[{word}]" for word in (shown.wordless(), document.missed) if word]
    if len(wanted) > len(chosen):
        first, last = chosen[-1] + 2, wanted[-1] + 1
        lines.append(f'[At most {PARTS_READ_MAX} are read at once: pages="{first}-{last}" reads the rest.]')
    return "\n".join([*lines, body]).rstrip()


def headed(document: Document, name: str, most: int) -> str:
    """The document with its parts as headings of Markdown, for whoever cuts it into passages."""
    shown = _Shown(document, range(min(document.count, PARTS_READ_MAX)), most, mark="## {label}", tells_of_empty=False)
    about = document.title or name.rpartition("/")[2]
    return "\n\n".join([f"# {about}", *([shown.wordless()] if shown.wordless() else []), *shown.texts()])


def counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


class _Shown:
    """The parts that fit. Those in the middle are never read where the ends are full, so a long document costs little."""

    def __init__(
        self,
        document: Document,
        chosen: Sequence[int],
        most: int,
        mark: str = "[{label}]",
        *,
        tells_of_empty: bool = True,
    ) -> None:
        self._document, self._chosen, self._most, self._mark = document, chosen, most, mark
        self._tells_of_empty = tells_of_empty
        self._read: dict[int, Part] = {}
        self._ahead = self._forward(most)
        self._behind: list[int] = []
        if len(self._ahead) < len(chosen) or self._chars(self._ahead) > most:
            self._ahead = self._within(self._ahead, most // 2) or list(chosen[:1])
            rest = list(chosen[len(self._ahead) :])
            self._behind = list(reversed(self._within(reversed(rest), most - self._chars(self._ahead))))

    def _forward(self, most: int) -> list[int]:
        """Places from the first on, until there is more than `most`."""
        read, chars = list[int](), 0
        for place in self._chosen:
            read.append(place)
            chars += self._size(place)
            if chars > most:
                break
        return read

    def _within(self, places: Iterable[int], room: int) -> list[int]:
        fitting = list[int]()
        for place in places:
            room -= self._size(place)
            if room < 0:
                break
            fitting.append(place)
        return fitting

    def _chars(self, places: Iterable[int]) -> int:
        return sum(map(self._size, places))

    def _size(self, place: int) -> int:
        part = self._part(place)
        return len(part.label) + len(part.text) + len("[]\n\n\n")

    def _part(self, place: int) -> Part:
        if place not in self._read:
            self._read[place] = self._document.part(place)
        return self._read[place]

    def texts(self) -> Iterator[str]:
        yield from self._told(self._ahead)
        missing = self._chosen[len(self._ahead) : len(self._chosen) - len(self._behind)]
        if missing:
            yield self._left_out(missing[0] + 1, missing[-1] + 1)
        yield from self._told(self._behind)

    def _told(self, places: Iterable[int]) -> Iterator[str]:
        """Parts with their marks; those without a text in a row are told together."""
        for run, counted_places in groupby(enumerate(places), self._run_of):
            row = [place for _, place in counted_places]
            if run is None:
                yield from map(self._marked, row)
            elif self._tells_of_empty:
                yield self._empty(row)

    def _run_of(self, counted_place: tuple[int, int]) -> int | None:
        """The same number for parts without a text that follow each other; None for others."""
        number, place = counted_place
        return None if self._part(place).text.strip() else place - number

    def _empty(self, row: Sequence[int]) -> str:
        if len(row) == 1:
            return f"[{self._part(row[0]).label}: no text]"
        return f"[{self._document.unit}s {row[0] + 1:,} to {row[-1] + 1:,}: no text]"

    def _left_out(self, first: int, last: int) -> str:
        unit, next_ones = self._document.unit, min(last, first + max(len(self._ahead), 1) - 1)
        which = f"{unit} {first:,} is" if first == last else f"{unit}s {first:,} to {last:,} are"
        span = f"{first}" if first == next_ones else f"{first}-{next_ones}"
        return f'[… {which} left out here: pages="{span}" reads on …]'

    def _marked(self, place: int) -> str:
        part = self._part(place)
        text = part.text
        if part.label == ONLY_PART:
            return text
        if len(text) > self._most:  # one part alone is too long
            half = self._most // 2
            note = CUT_INSIDE.format(count=len(text) - 2 * half, unit=self._document.unit)
            text = joined(text[:half], text[-half:], note, after=text[half : half + 1])
        return f"{self._mark.format(label=part.label)}\n{text}".rstrip()

    def wordless(self) -> str:
        """Words about pages that show pictures alone; nothing where all that was read has a text."""
        bare = [part for part in self._read.values() if part.pictures and not part.text.strip()]
        if not bare:
            return ""
        unit = self._document.unit
        if len(bare) == len(self._read) == self._document.count:
            return f"It has no text: {counted(len(bare), unit)} of pictures, as of a scan. Ask for one with text in it."
        return (
            f"{counted(len(bare), unit)} of those read {'shows' if len(bare) == 1 else 'show'} pictures without text."
        )


def pieces(blocks: Iterable[str], label: str = "") -> list[Part]:
    """Parts of some 3,000 characters, made of whole blocks, each with this label."""
    texts, held, chars = list[str](), list[str](), 0
    for block in blocks:
        if held and chars + len(block) > PART_CHARS:
            texts.append("\n".join(held))
            held, chars = [], 0
        held.append(block)
        chars += len(block) + 1
    texts.append("\n".join(held))
    return [Part(label, text) for text in texts]


def blocks_of(text: str) -> Iterator[str]:
    """Lines of a text; one that is very long in pieces."""
    for line in text.splitlines():
        yield from (line[at : at + PART_CHARS] for at in range(0, max(len(line), 1), PART_CHARS))


def row_of(cells: Iterable[object]) -> str:
    """A row of a table on one line, without the empty cells at its end."""
    return " | ".join(" ".join(str("" if cell is None else cell).split()) for cell in cells).rstrip(" |")
