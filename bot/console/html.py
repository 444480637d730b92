"""Markup that cannot be broken by what stands in it: every text is escaped unless it was made here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

VOID: Final = frozenset({"meta", "link", "input", "br"})
CODE: Final = re.compile(r"`([^`]+)`")
PLACES_OF_A_SENTENCE: Final = re.compile(r"\{(\w+)\}")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | bool | None) -> Html:
    """One element. `class_` and `data_x` become `class` and `data-x`; None and False leave out, True is a bare name."""
    opened = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{opened}>")
    return Html(f"<{name}{opened}>{join(children)}</{name}>")


def join(children: Iterable[str | None]) -> Html:
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children if child is not None))


def filled(sentence: str, **pieces: str | None) -> list[str | None]:
    """A sentence with elements in the places that it names, so that a language may put them where it wants them.

    >>> "".join(map(str, filled("See {page}.", page=tag("b", "R&D"))))
    'See <b>R&amp;D</b>.'
    """
    parts = PLACES_OF_A_SENTENCE.split(sentence)
    return [pieces[part] if number % 2 else part for number, part in enumerate(parts)]


def with_code(words: str) -> list[str | None]:
    """Words of the reference, in which backticks mark what one types.

    >>> join(with_code("Set `a<b` there."))
    'Set <code>a&lt;b</code> there.'
    """
    return [tag("code", part) if number % 2 else part for number, part in enumerate(CODE.split(words))]


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
