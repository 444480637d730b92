"""Values that we hold ourselves, in every form in which they may turn up. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, quote_plus

from runtime.guard.findings import Detector, Found

SHORTEST: Final = 8
"""Characters; to take out shorter ones would only garble the text."""

ANYWHERE: Final = 16
"""Characters from which on a value is no word: it is found inside others too, as a bot's token in an address is."""

LINE: Final = 16
"""Characters of a line that is a secret by itself, in a value of several lines."""

WORD: Final = "[A-Za-z0-9_]"
# Escapes of JSON and of addresses, and colours of a terminal, end with a letter and are a border all the same.
BORDER_BEFORE: Final = (
    rf"(?:(?<!{WORD})|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{{4}})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\[\dm)|(?<=\[\d\dm))"
)


def written_forms(value: str) -> Iterator[str]:
    """As it is, as JSON and Python write it, and as a part of an address; a long one of several lines by its lines."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(json.dumps(value))[3:-3]  # a call's arguments in a model's answer
    yield json.dumps(value, ensure_ascii=False)[1:-1]
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
    """Values by their names, such as `model.api_key`. What stands in one word is looked for in long words alone."""

    def __init__(self, values: Iterable[tuple[str, str]] = ()) -> None:
        self._forms = dict(_forms_of(values))
        self._short = [text for text in self._forms if len(text) < ANYWHERE or re.search(r"\s", text)]
        self._long = [*self._forms.keys() - set(self._short)]
        self.has_blanks = any(re.search(r"[^!-~]", text) for text in self._short)

    def found(self, text: str, long_words: str) -> Iterator[Found]:
        for written in [one for one in self._short if one in text] + [one for one in self._long if one in long_words]:
            form = self._forms[written]
            for match in form.find.finditer(text):
                yield Found(Detector.HELD, form.name, *match.span())

    def value_of(self, written: str) -> str:
        """The value behind one of its forms; what is none of ours stands for itself."""
        form = self._forms.get(written)
        return form.value if form else written


def _forms_of(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Form]]:
    for name, value in values:
        if len(value.strip()) >= SHORTEST:
            for text in (*written_forms(value), *coded_forms(value)):
                yield text, Form(text, name, value, finder(text))
