"""News among nodes, as texts that fit into a NOTIFY. No input or output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

NOTICE_MAX_BYTES: Final = 7_900
"""Bytes of one text. PostgreSQL refuses 8,000 and more; source: its documentation of NOTIFY, read 2026-11."""
MOST_WAITING: Final = 1_000
"""Topics that wait to be told, and what one statement carries: some 60 kB. More are one word for everything."""
EVERYTHING: Final = "*"
"""In place of topics: look everywhere."""


class Outgoing:
    """Topics that wait to be told, each once, in the order of their first ring. Too many become `EVERYTHING`."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, *topics: str) -> None:
        if EVERYTHING in self._waiting:
            return
        self._waiting.update(dict.fromkeys(topics))
        if EVERYTHING in topics or len(self._waiting) > self._most:
            self._waiting = {EVERYTHING: None}

    def take(self) -> list[str]:
        taken = list(self._waiting)
        self._waiting.clear()
        return taken


def sealed(sender: str, topics: Iterable[str] = ()) -> list[str]:
    """`topics` in as few texts as they fit into; at least one, which without topics only proves that it arrives.

    >>> sealed("n1", ["lanes", "room:web:main/7"])
    ['{"from":"n1","topics":["lanes","room:web:main/7"]}']
    """
    return [_text(sender, group) for group in _groups(list(topics), NOTICE_MAX_BYTES - len(_text(sender, [])))]


def head(sender: str) -> str:
    """Begin of each text of a sender, by which it knows its own unopened.

    >>> sealed("n1", ["lanes"])[0].startswith(head("n1"))
    True
    """
    return _text(sender, []).removesuffix("]}")


def opened(text: str) -> tuple[str, Sequence[str]]:
    """Sender and topics. Errors: ValueError for a text that no node of ours wrote."""
    match json.loads(text):
        case {"from": str(sender), "topics": [*topics]} if all(isinstance(topic, str) for topic in topics):
            return sender, topics
        case _:
            raise ValueError("no envelope")


def _text(sender: str, topics: Sequence[str]) -> str:
    # Written in ASCII, so that a character is a byte whatever the encoding of the database.
    return json.dumps({"from": sender, "topics": topics}, separators=(",", ":"))


def _groups(topics: Sequence[str], room: int) -> Iterator[list[str]]:
    """Topics in order, cut where the next one fits no more; one that never fits stands for everything."""
    group: list[str] = []
    left = room
    for topic in topics:
        size = len(json.dumps(topic)) + 1
        if size > room:
            topic, size = EVERYTHING, len(json.dumps(EVERYTHING)) + 1
        if size > left:
            yield group
            group, left = [], room
        group.append(topic)
        left -= size
    yield group
