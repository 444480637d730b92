"""The text of a page with its links and fields numbered, made of Playwright's accessibility tree. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

LINE: Final = re.compile(
    r'(?P<indent> *)- (?P<role>[\w-]+|/[\w-]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<marks>(?: \[[^\]]*\])*)(?::(?: (?P<text>.*))?)?'
)
REF: Final = re.compile(r"\[ref=(\w+)\]")
QUOTED: Final = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")""")
USED: Final = frozenset(
    (
        *("link", "button", "textbox", "searchbox", "checkbox", "radio", "combobox", "listbox", "switch", "slider"),
        *("spinbutton", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem"),
    )
)
"""Roles of things that people use. Source: WAI-ARIA 1.2, 5.3.2, without what only holds others."""
SILENT: Final = frozenset(("generic", "paragraph", "text", "group", "rowgroup", "listitem", "list", "main", "banner"))
"""Roles that say nothing to a reader beside their text."""
CLICKABLE: Final = "[cursor=pointer]"
STATES_TOLD: Final = ("checked", "selected", "disabled", "expanded", "pressed")
ITEM_MAX_CHARS: Final = 300
"""Of one text or name."""


@dataclass(frozen=True, slots=True)
class Element:
    """A thing of a page that can be used: Playwright's name for it, its role, and its words as people see them."""

    ref: str
    role: str
    name: str

    @property
    def told(self) -> str:
        return f"{self.role} “{' '.join(self.name.split())}”" if self.name else f"{self.role} without a name"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the tree."""

    indent: int
    role: str
    name: str
    marks: str
    text: str

    @property
    def ref(self) -> str:
        found = REF.search(self.marks)
        return found[1] if found else ""

    @property
    def is_used(self) -> bool:
        return bool(self.ref) and (self.role in USED or CLICKABLE in self.marks)

    @property
    def words(self) -> str:
        return self.name or self.text

    def element(self) -> Element:
        # A field's text is what it holds, which changes as it is filled in; its name stays.
        holds = self.role in ("textbox", "searchbox", "combobox", "spinbutton", "slider")
        return Element(self.ref, self.role, (self.name if holds else self.words)[:ITEM_MAX_CHARS])


def rows_of(tree: str) -> list[Row]:
    """The lines of a tree; one that has another form counts as text."""
    return [_row(line) for line in tree.splitlines() if line.strip()]


def _row(line: str) -> Row:
    plain = _unquoted_line(line)
    found = LINE.fullmatch(plain)
    if found is None:
        return Row(len(line) - len(line.lstrip()), "text", "", "", line.strip().removeprefix("- "))
    name = json.loads(found["name"], strict=False) if found["name"] else ""
    return Row(len(found["indent"]), found["role"], name, found["marks"] or "", _unquoted(found["text"] or ""))


def _unquoted_line(line: str) -> str:
    """A line whose whole key YAML had to quote, without these quotes."""
    indent, dash, rest = line.partition("- ")
    if dash and not indent.strip() and rest.startswith("'") and (found := QUOTED.match(rest)):
        return f"{indent}- {_unquoted(found[0])}{rest[found.end() :]}"
    return line


def _unquoted(text: str) -> str:
    if not QUOTED.fullmatch(text):
        return text
    try:
        return text[1:-1].replace("''", "'") if text[0] == "'" else str(json.loads(text, strict=False))
    except ValueError:
        return text


def elements_of(rows: Sequence[Row]) -> dict[str, Element]:
    """Things that can be used, by Playwright's name for them."""
    return {row.ref: row.element() for row in rows if row.is_used}


def told(rows: Sequence[Row], number: Callable[[Element], str]) -> Iterator[str]:
    """Lines for the model. `number` gives an element the target by which a call names it."""
    for place, row in enumerate(rows):
        words = row.words[:ITEM_MAX_CHARS]
        if row.role.startswith("/"):
            continue
        if row.is_used:
            leads = rows[place + 1].text if place + 1 < len(rows) and rows[place + 1].role == "/url" else ""
            yield _used(row, number(row.element()), leads)
        elif row.role == "heading" and words:
            yield f"# {words}"
        elif row.role in SILENT:
            if words:
                yield words
        elif words:
            yield f"{row.role}: {words}"


def _used(row: Row, target: str, leads: str) -> str:
    states = [state for state in STATES_TOLD if f"[{state}" in row.marks]
    holds = f" = {row.text[:ITEM_MAX_CHARS]}" if row.name and row.text else ""
    parts = [f"[{target}]", row.role if row.role in USED else "clickable", row.words[:ITEM_MAX_CHARS]]
    return (
        " ".join(filter(None, parts))
        + holds
        + (f" ({', '.join(states)})" if states else "")
        + (f" -> {leads[:ITEM_MAX_CHARS]}" if leads else "")
    )
