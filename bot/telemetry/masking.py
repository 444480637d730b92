"""Keeps secrets out of what people and logs are shown: the values we hold, however they are written, and known shapes."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Final
from urllib.parse import quote, quote_plus

from runtime.text.redaction import HIDDEN, hide

SHORTEST: Final = 8  # characters; masking shorter ones would only garble the text
ANYWHERE: Final = 16
"""Characters from which on a value is no word: it is hidden inside others too, as a bot's token in an address is."""
WORD: Final = "[A-Za-z0-9_]"
# Escapes of JSON and of addresses, and colours of a terminal, end with a letter and are a border all the same.
BORDER_BEFORE: Final = (
    rf"(?:(?<!{WORD})|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{{4}})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\[\dm)|(?<=\[\d\dm))"
)


class Mask:
    """Call it with a text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
        self._forms = {form: _found(form) for form in sorted(forms, key=len, reverse=True)}  # longer ones hold others

    def __call__(self, text: str) -> str:
        for form, found in self._forms.items():
            if form in text:
                text = found.sub(HIDDEN, text)
        return hide(text)


def mask_tracebacks(mask: Mask) -> None:
    """Print what ends this process without secrets too."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(mask("".join(traceback.format_exception(kind, error, trace))))

    sys.excepthook = show


def _found(form: str) -> re.Pattern[str]:
    """Finds `form`: a short one as a word of its own, so that no setting loses its name to a value like it."""
    if len(form) >= ANYWHERE:
        return re.compile(re.escape(form))
    before = BORDER_BEFORE if re.match(WORD, form) else ""
    behind = f"(?!{WORD})" if re.match(WORD, form[-1]) else ""
    return re.compile(f"{before}{re.escape(form)}{behind}")


def _forms(value: str) -> Iterator[str]:
    """As it is, as JSON and Python write it, and as a part of an address; a long one of several lines by its lines."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield quote(value)
    yield quote(value, safe="")
    yield quote_plus(value)
    if "\n" in value:
        yield from (line for line in value.splitlines() if len(line) >= 16 and not line.startswith("-----"))
