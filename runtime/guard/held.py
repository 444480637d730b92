"""Values that we hold ourselves, in every form in which they may turn up. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from runtime.guard.findings import Detector, Found

SHORTEST: Final = 8
"""Characters; to take out shorter ones would only garble the text."""

ANYWHERE: Final = 16
"""Characters from which on a value is no word: it is found inside others too, as a bot's token in an address is."""

LINE: Final = 16
"""Characters of a line that is a secret by itself, in a value of several lines."""

PieceSize = Literal[8, 4]
PIECES: Final[Mapping[PieceSize, Literal["Q", "I"]]] = {8: "Q", 4: "I"}
"""Characters of a piece, and the number that is as long."""

LONG: Final = 15
"""Characters of a form that holds a whole piece of eight wherever it stands."""

WORD: Final = "[A-Za-z0-9_]"
# Escapes of JSON and of addresses, and colours of a terminal, end with a letter and are a border all the same.
BORDER_BEFORE: Final = (
    rf"(?:(?<!{WORD})|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{{4}})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\[\dm)|(?<=\[\d\dm))"
)


def written_forms(value: str) -> Iterator[str]:
    """As it is, as JSON, Python and pages write it, and as a part of an address; a long one of several lines by its lines."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(json.dumps(value))[3:-3]  # a call's arguments in a model's answer
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1].replace("/", r"\/")  # as PHP does
    yield re.sub("[&<>]", lambda one: rf"\u{ord(one[0]):04x}", json.dumps(value)[1:-1])  # as Go does
    yield escape(value)
    yield repr(value)[1:-1]
    yield quote(value)
    yield quote(value, safe="")
    yield quote_plus(value)
    if "\n" in value:
        yield from (line for line in value.splitlines() if len(line) >= LINE and not line.startswith("-----"))


def coded_forms(value: str) -> Iterator[str]:
    """In hex, and in base64 wherever in a longer text it stands: of the letters that depend on its neighbours none."""
    coded = value.encode("utf-8", "surrogatepass")
    yield coded.hex()
    yield coded.hex().upper()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + coded).decode().rstrip("=")
        inner = whole[(0, 2, 3)[shift] : len(whole) - (0 if (len(coded) + shift) % 3 == 0 else 1)]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def finder(form: str) -> re.Pattern[str]:
    """Finds `form`: a short one as a word of its own, so that no setting loses its name to a value like it."""
    if len(form) >= ANYWHERE:
        return re.compile(re.escape(form))
    before = BORDER_BEFORE if re.match(WORD, form) else ""
    behind = f"(?!{WORD})" if re.match(WORD, form[-1]) else ""
    return re.compile(f"{before}{re.escape(form)}{behind}")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a value; `name` is the setting's, and `value` what its mark is made of."""

    text: str
    name: str
    value: str
    find: re.Pattern[str]


class Held:
    """Values by their names, such as `model.api_key`.

    A text is cut into pieces of eight characters, and each is looked up in a set. A form of fifteen characters or more holds one
    of these pieces whole, wherever it stands: so it is enough to know the eight pieces that a cut may give. Of shorter forms pieces of
    four are known. Only a form whose piece was met is searched for.
    """

    def __init__(self, values: Iterable[tuple[str, str]] = (), *, besides: Held | None = None) -> None:
        self._forms: dict[str, Form] = {**(besides._forms if besides else {}), **dict(_forms_of(values))}
        long = [text for text in self._forms if len(text) >= LONG]
        indexes = (_Index(8, long), _Index(4, self._forms.keys() - set(long)))
        self._indexes = [index for index in indexes if index.known]
        self.names = frozenset(form.name for form in self._forms.values())
        self.has_blanks = any(re.search(r"[^!-~]", text) for text in self._forms)

    def found(self, text: str, words: str | None = None) -> Iterator[Found]:
        """`words` are the words of `text` that may hold a value, where those are known: no others are looked at then."""
        if not self._forms:
            return
        letters = (text if words is None or self.has_blanks else words).encode("ascii", "replace")
        for written in (one for index in self._indexes for one in index.perhaps_in(letters)):
            form = self._forms[written]
            for match in form.find.finditer(text):
                yield Found(Detector.HELD, form.name, *match.span())

    def value_of(self, written: str) -> str:
        """The value behind one of its forms; what is none of ours stands for itself."""
        form = self._forms.get(written)
        return form.value if form else written


class _Index:
    """Forms by the pieces by which they are met."""

    def __init__(self, size: PieceSize, forms: Iterable[str]) -> None:
        self._size = size
        self._forms: dict[int, list[str]] = {}
        for form in forms:
            for piece in _pieces_met(form.encode("ascii", "replace"), size):
                self._forms.setdefault(piece, []).append(form)
        self.known = frozenset(self._forms)

    def perhaps_in(self, letters: bytes) -> list[str]:
        """Forms a piece of which is in there. Looking up numbers makes no texts."""
        whole = len(letters) // self._size * self._size
        pieces = memoryview(letters)[:whole].cast(PIECES[self._size])
        if self.known.isdisjoint(pieces):
            return []
        met = self.known.intersection(pieces)
        return list(dict.fromkeys(form for piece in met for form in self._forms[piece]))


def _pieces_met(form: bytes, size: PieceSize) -> Iterator[int]:
    """One of them is met, however a text that holds `form` is cut. They are taken where it is least like other texts."""
    window = 2 * size - 1
    starts = range(0, max(1, len(form) - window + 1), size)
    best = max(starts, key=lambda start: len(set(form[start : start + window])))
    for start in range(best, best + size):
        yield from memoryview(form[start : start + size]).cast(PIECES[size])


def _forms_of(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Form]]:
    for name, value in values:
        if len(value.strip()) >= SHORTEST:
            for text in (*written_forms(value), *coded_forms(value)):
                yield text, Form(text, name, value, finder(text))
