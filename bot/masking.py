"""Keeps secrets out of what people and logs are shown: the values we hold, however they are written, and known shapes."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Final
from urllib.parse import quote, quote_plus

from runtime.shapes import HIDDEN, hide

SHORTEST: Final = 6  # characters; masking shorter ones would only garble the text


class Mask:
    """Call it with a text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)  # one secret may be a part of another

    def __call__(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return hide(text)


def mask_tracebacks(mask: Mask) -> None:
    """What ends this process is printed without secrets too."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(mask("".join(traceback.format_exception(kind, error, trace))))

    sys.excepthook = show


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
