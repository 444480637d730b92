"""Known channels and threads: told by the gateway, asked for where it was not told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from runtime.contract import Address

Raw = Mapping[str, Any]

DM: Final = 1
GROUP_DM: Final = 3
BEGINS_THREADS: Final = frozenset({0, 5})  # a text channel, an announcement channel: there a message may begin one
THREADS: Final = frozenset({10, 11, 12})  # in an announcement channel, public, private


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or thread. `parent` is a thread's channel, `guild` its server; `last` its newest message. `room` is
    the name of the channel that a thread belongs to."""

    id: str
    kind: int
    parent: str = ""
    name: str = ""
    last: str = ""
    guild: str = ""
    room: str = ""

    @property
    def room_name(self) -> str:
        """Name of the channel, or of a thread's channel; empty where Discord did not tell."""
        name = self.room if self.is_thread else self.name
        return f"#{name}" if name else ""

    @property
    def is_thread(self) -> bool:
        return self.kind in THREADS

    @property
    def has_threads(self) -> bool:
        """True if a message there may begin a thread: not in the chat of a voice channel, and no thread in a thread."""
        return self.kind in BEGINS_THREADS

    @property
    def is_direct(self) -> bool:
        """True if the agent and one person are alone there."""
        return self.kind == DM

    def address(self, channel: str, identity: str) -> Address:
        if self.is_thread:
            return Address(channel, identity, self.parent, self.id)
        return Address(channel, identity, self.id)


def place_of(raw: Raw, guild: str = "") -> Place:
    """The place that an object of the API stands for. Errors: KeyError when it is none."""
    kind = int(raw["type"])
    return Place(
        id=str(raw["id"]),
        kind=kind,
        parent=str(raw.get("parent_id") or "") if kind in THREADS else "",
        name=str(raw.get("name") or ""),
        last=str(raw.get("last_message_id") or ""),
        guild=guild or str(raw.get("guild_id") or ""),
    )


@dataclass(slots=True)
class MessageLinks:
    """Addresses of messages on the web, for the channels whose server is known."""

    guilds: dict[str, str] = field(default_factory=dict)

    def learn(self, place: Place) -> None:
        if place.guild:
            self.guilds[place.id] = place.guild

    def link(self, address: Address, message: str) -> str:
        """A thread's own messages are in the thread; the one that it begins with is in its channel."""
        channel = address.thread if address.thread not in ("", message) else address.room
        guild = self.guilds.get(channel) or self.guilds.get(address.room, "")
        return f"https://discord.com/channels/{guild}/{channel}/{message}" if guild and message.isdigit() else ""


@dataclass(slots=True)
class Rooms:
    """Places by id, and the bot's own roles, by which people mention it too.

    `told` are those of which the gateway told the newest message in this session.
    """

    identity: str
    places: dict[str, Place] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    roles: dict[str, frozenset[str]] = field(default_factory=dict)

    def learn(self, event: str, data: Raw) -> None:
        """Take in what the gateway tells about places; anything else is left alone."""
        match event:
            case "GUILD_CREATE":
                self._keep([*(data.get("channels") or ()), *(data.get("threads") or ())], str(data["id"]))
                self._roles(str(data["id"]), data.get("roles") or ())
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                self._keep([data])
            case "THREAD_LIST_SYNC":
                self._keep(data.get("threads") or (), str(data["guild_id"]))
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self.places.pop(str(data["id"]), None)
                self.told.discard(str(data["id"]))
            case _:
                pass

    def _keep(self, told: Iterable[Raw], guild: str = "") -> None:
        """Keep what has an id and a kind; what lacks one is asked for when somebody speaks there; the others are kept."""
        for raw in (one for one in told if "id" in one and "type" in one):
            place = place_of(raw, guild)
            around = self.places.get(place.parent)
            self.places[place.id] = replace(place, room=around.name) if around else place
            self.told.add(place.id)

    def begin(self) -> None:
        """A session is new: what was told in the last one is old."""
        self.told.clear()

    def current(self) -> list[Place]:
        return [self.places[number] for number in self.told]

    def _roles(self, guild: str, roles: Iterable[Raw]) -> None:
        own = (str(role["id"]) for role in roles if str((role.get("tags") or {}).get("bot_id")) == self.identity)
        self.roles[guild] = frozenset(own)

    def note(self, channel: str, message: str) -> None:
        """A message came: what is older was told."""
        if place := self.places.get(channel):
            self.places[channel] = replace(place, last=message)

    def own_roles(self, guild: str) -> frozenset[str]:
        return self.roles.get(guild, frozenset())
