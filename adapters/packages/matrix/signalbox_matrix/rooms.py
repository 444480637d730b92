"""Rooms as far as we know them: what people call them, who is there, whether they are encrypted, and where they went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from signalbox.channels import Address

Raw = Mapping[str, Any]

OURS_AND_ONE: Final = 2
"""Members of a room in which somebody is alone with the agent."""
STATE_KINDS: Final = (
    "m.room.member",
    "m.room.name",
    "m.room.canonical_alias",
    "m.room.encryption",
    "m.room.power_levels",
    "m.room.tombstone",
)


@dataclass
class Room:
    """A room that we are in. `encrypted_by` is the event that made it encrypted, `successor` the room that replaces it."""

    id: str
    name: str = ""
    alias: str = ""
    members: int | None = None
    encrypted_by: str = ""
    successor: str = ""
    names: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_direct(self) -> bool:
        return self.members is not None and self.members <= OURS_AND_ONE

    def title(self, speaker: str) -> str:
        """As people call it; a room of one person and the agent by that person."""
        return f"@{speaker}" if self.is_direct else self.name or self.alias or self.id

    def called(self, user: str) -> str:
        """The name by which people know a member."""
        return self.names.get(user) or user.removeprefix("@").partition(":")[0]

    def learn(self, event: Raw) -> None:
        """Take in a piece of state. Errors: AttributeError, KeyError or TypeError for one without a form we know."""
        if "state_key" not in event:
            return
        content = event["content"]
        match event["type"]:
            case "m.room.name":
                self.name = str(content.get("name") or "")
            case "m.room.canonical_alias":
                self.alias = str(content.get("alias") or "")
            case "m.room.encryption":  # it can't be taken back
                self.encrypted_by = self.encrypted_by or str(event.get("event_id") or "unknown")
            case "m.room.tombstone":
                self.successor = str(content.get("replacement_room") or "")
            case "m.room.member":
                self.names[str(event["state_key"])] = str(content.get("displayname") or "")
            case _:
                pass

    def count(self, summary: Raw) -> None:
        """Take in how many are there; a homeserver tells what changed."""
        for key in ("m.joined_member_count", "m.invited_member_count"):
            if isinstance(told := summary.get(key), int):
                self._counts[key] = told
        if "m.joined_member_count" in self._counts:
            self.members = sum(self._counts.values())


class Rooms:
    """Of one account. Rows keep the first id of a room that was replaced; the homeserver knows the newest."""

    def __init__(self) -> None:
        self._known: dict[str, Room] = {}
        self._newest: dict[str, str] = {}
        self._first: dict[str, str] = {}

    def __iter__(self) -> Iterator[Room]:
        return iter(list(self._known.values()))

    def of(self, room: str) -> Room:
        return self._known.setdefault(room, Room(room))

    def known(self, room: str) -> Room | None:
        return self._known.get(room)

    def forget(self, room: str) -> None:
        self._known.pop(room, None)

    def before(self, successor: str) -> Room | None:
        """The room that names this one as what replaces it."""
        return next((room for room in self if room.successor == successor and successor), None)

    def follow(self, moved: Mapping[str, str]) -> None:
        """Take in which room of the rows has which id now."""
        for first, newest in moved.items():
            self.move(first, newest)

    def move(self, old: str, new: str) -> str:
        """Note that `old` is `new` now; the room of the rows."""
        first = self._first.get(old, old)
        self._newest[first], self._first[new] = new, first
        return first

    def wire(self, address: Address) -> str:
        """The homeserver's id of an address's room."""
        return self._newest.get(address.room, address.room)

    def row(self, room: str) -> str:
        """The room of the rows, for a homeserver's id."""
        return self._first.get(room, room)


def link(address: Address, message: str) -> str:
    """Address of a message on the web, where a page offers the clients there are."""
    event = f"/{quote(message, safe='$')}" if message.startswith("$") else ""
    return f"https://matrix.to/#/{quote(address.room, safe='!:')}{event}"
