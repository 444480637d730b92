"""Sentences of a memory file in Markdown: its list entries and paragraphs, without headings and hints. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.migration.found import FoundMemory

NOTE_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
FENCE: Final = re.compile(r"^\s*(```|~~~)")
ENTRY: Final = re.compile(r"^(?P<indent>\s*)(?:[-*+]|\d{1,3}[.)])\s+(?P<box>\[[ xX]\]\s+)?(?P<text>.*)$")
EMPTY_BOX: Final = "[ ]"
HINT: Final = re.compile(r"^(?:\(.*\)|\*[^*].*\*|_.*_|[-*_]{3,})$", re.DOTALL)
UNFILLED: Final = re.compile(r"^\*{0,2}[^:]{1,60}:\*{0,2}\s*(?:\(.*\)|_\(.*\)_|)$", re.DOTALL)
"""A line of a form that nobody filled in, such as `**Name**: (your name)`."""


def sentences(text: str, source: str) -> Iterator[FoundMemory]:
    """Entries and paragraphs, in their order, each once."""
    seen: set[str] = set()
    for block in _blocks(NOTE_COMMENT.sub("", text)):
        words = " ".join(block.split())
        if not words or words in seen or HINT.match(words) or UNFILLED.match(words) or words in ("Prefer ...", "…"):
            continue
        seen.add(words)
        yield FoundMemory(words, source)


def _blocks(text: str) -> Iterator[str]:
    held: list[str] = []
    is_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            is_code = not is_code
            continue
        entry = ENTRY.match(line)
        if entry and (entry["box"] or "").startswith(EMPTY_BOX):
            continue  # a choice that nobody made
        if is_code or line.lstrip().startswith("#") or not line.strip():
            yield "\n".join(held)
            held = []
        elif entry and not (entry["indent"] and held):
            yield "\n".join(held)
            held = [entry["text"]]
        else:
            held.append(entry["text"] if entry else line)
    yield "\n".join(held)


OBSERVED: Final = re.compile(r"<!--\s*observed:\s*(?P<day>\S+)\s*\|\s*status:\s*(?P<status>\w+)\s*-->")
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def directives(text: str, source: str) -> Iterator[FoundMemory]:
    """Entries below a line that says when each was observed, as long as they hold; of a file without such lines all."""
    marks = [*OBSERVED.finditer(text)]
    if not marks:
        yield from sentences(text, source)
        return
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        if DAY.fullmatch(mark["day"]) and mark["status"] == "active":
            yield from sentences(text[mark.end() : end].split("\n#")[0], source)


FIELD: Final = re.compile(r"^[-*] \*\*[^*\n]{1,60}\*\*:?[ \t]*(?P<value>.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
PLACEHOLDER: Final = re.compile(r"\s*(?:_?\(.*\)_?)?\s*", re.DOTALL)


def is_unfilled(text: str) -> bool:
    """True for a form each field of which is empty or holds the hint that it came with: `- **Name:** _(pick one)_`.

    >>> is_unfilled("- **Name:**\\n  _(pick one)_"), is_unfilled("- **Name:** Ada"), is_unfilled("Be kind.")
    (True, False, False)
    """
    fields = [*FIELD.finditer(text)]
    return bool(fields) and all(PLACEHOLDER.fullmatch(one["value"]) for one in fields)


def without_introduction(text: str) -> str:
    """A form without what stands above its first part."""
    before, part, rest = text.partition("\n## ")
    return part + rest if part else before
