"""Chats by the room of the rows: a group that becomes a supergroup gets another id, and its rows keep the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.contract import Address

SUPERGROUPS: Final = -1_000_000_000_000
"""Ids of supergroups and channels lie below. Source: core.telegram.org/bots/api, "Dialog ids", read 2026-11."""

GENERAL: Final = "1"
"""The topic that is there without being made: a message to it names no topic."""


def is_group(chat: int) -> bool:
    return chat < 0


def message_name(chat: int, number: int) -> str:
    """A message's id as the runtime keeps it. It names the chat, for after a move the same number is another message."""
    return f"{chat}:{number}"


def message_of(name: str) -> tuple[int, int] | None:
    """Chat and number in a name that `message_name` made; None for any other text."""
    chat, colon, number = name.partition(":")
    try:
        return (int(chat), int(number)) if colon else None
    except ValueError:
        return None


def topic_of(address: Address) -> int | None:
    """The forum topic that a message to `address` must name."""
    return int(address.thread) if address.thread.isdigit() and address.thread != GENERAL else None


def link(address: Address, message: str) -> str:
    """The address of a message of a supergroup; other chats have none. Source: core.telegram.org/api/links, read 2026-11."""
    found = message_of(message)
    if found is None or found[0] > SUPERGROUPS:
        return ""
    topic = f"{address.thread}/" if topic_of(address) else ""
    return f"https://t.me/c/{SUPERGROUPS - found[0]}/{topic}{found[1]}"


class Rooms:
    """Chats that rooms are now."""

    def __init__(self) -> None:
        self._chat_of: dict[str, int] = {}
        self._room_of: dict[int, str] = {}

    def learn(self, moved: Mapping[str, str]) -> None:
        """Learn from the store which rooms moved."""
        for room, chat in moved.items():
            self._set(room, int(chat))

    def move(self, old: int, new: int) -> str:
        """Chat `old` is `new` from now on; the room of its rows."""
        room = self.room(old)
        self._set(room, new)
        return room

    def _set(self, room: str, chat: int) -> None:
        self._chat_of[room] = chat
        self._room_of[chat] = room

    def chat(self, room: str) -> int:
        """The chat to send to. Errors: ValueError when `room` is no id."""
        return self._chat_of.get(room) or int(room)

    def room(self, chat: int) -> str:
        """The room under which `chat` has its rows."""
        return self._room_of.get(chat) or str(chat)
