"""Routing of messages: the rules of rooms, and the decision that follows from them. Pure.

In a room of one person and the agent every message is for the agent. In a room of several it depends on how the message
reached it and on the attention that the room is given; `COURSES` holds all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import (
    Address,
    Addressing,
    Amended,
    Busy,
    Clicked,
    Identity,
    Moved,
    Person,
    Said,
    Signal,
    Urgency,
)


class Attention(StrEnum):
    """Attention of the agent in a room of several people."""

    STRICT = "strict"  # what names it, each time
    MENTION = "mention"  # what names it, and what follows in a thread that this made it part of
    THREAD = "thread"  # as `mention`, in threads that last too: the topics of a forum
    OPEN = "open"  # everything
    OBSERVE = "observe"  # what names it; the rest is context for later
    OFF = "off"  # nothing


class Decision(Enum):
    """Course of a message."""

    RUN = "run"
    INTERRUPT = "interrupt"  # what is at work ends first, as by a stop
    OBSERVE = "observe"  # kept as context, without a run
    IF_JOINED = "if joined"  # as RUN in a thread that the agent is part of, else as IGNORE
    IGNORE = "ignore"  # nothing is stored
    REFUSE = "refuse"


# What reaches the agent, by the room's attention. A direct room has none unless a rule names it.
COURSES: Final[Mapping[tuple[Attention, Addressing], Decision]] = {
    (Attention.STRICT, Addressing.MENTION): Decision.RUN,
    (Attention.STRICT, Addressing.OVERHEARD): Decision.IGNORE,
    (Attention.MENTION, Addressing.MENTION): Decision.RUN,
    (Attention.MENTION, Addressing.OVERHEARD): Decision.IF_JOINED,
    (Attention.THREAD, Addressing.MENTION): Decision.RUN,
    (Attention.THREAD, Addressing.OVERHEARD): Decision.IF_JOINED,
    (Attention.OPEN, Addressing.MENTION): Decision.RUN,
    (Attention.OPEN, Addressing.OVERHEARD): Decision.RUN,
    (Attention.OBSERVE, Addressing.MENTION): Decision.RUN,
    (Attention.OBSERVE, Addressing.OVERHEARD): Decision.OBSERVE,
    (Attention.OFF, Addressing.DIRECT): Decision.REFUSE,
    (Attention.OFF, Addressing.MENTION): Decision.REFUSE,
    (Attention.OFF, Addressing.OVERHEARD): Decision.IGNORE,
}

BY_URGENCY: Final[Mapping[Urgency, Decision]] = {
    Urgency.LOW: Decision.OBSERVE,
    Urgency.NORMAL: Decision.RUN,
    Urgency.HIGH: Decision.INTERRUPT,
    Urgency.CRITICAL: Decision.INTERRUPT,
}
"""What becomes of a message that would run."""

JOINING: Final = (Attention.MENTION, Attention.THREAD)


@dataclass(frozen=True, slots=True)
class RoomRule:
    """Settings for the rooms that `room`, an address or a glob of addresses, names. `people` and `blocked` are
    identities or names; without `people` everybody may speak who is known. `prompt` is what the agent is told there: the text, or its file. `language` is that of our words there."""

    room: str = "*"
    attention: Attention | None = None
    people: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()
    busy: Busy | None = None
    prompt: str = ""
    language: str = ""

    def fits(self, room: str, thread: str) -> bool:
        """True if it names this room, or this thread of it."""
        return fnmatchcase(room, self.room) or fnmatchcase(thread, self.room)


ANY_ROOM: Final = RoomRule()


@dataclass(frozen=True, slots=True)
class AccountNames:
    """The names that settings give to accounts, by channel and identity at the platform. Unknown ones keep their identity."""

    names: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, address: Address) -> str:
        """The address as settings and people write it."""
        name = self.names.get((address.channel, address.account), address.account)
        return str(address if name == address.account else replace(address, account=name))


@dataclass(frozen=True, slots=True)
class RoomRules:
    """The rules of all rooms: of those that fit the first holds. `named` writes an address as the rules do.

    `bots` are programs that may speak; `sources` are those that bring what happened outside, such as webhooks, and answer
    nobody: what they bring is no talk of programs among themselves.
    """

    default: Attention = Attention.MENTION
    rules: tuple[RoomRule, ...] = ()
    blocked: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    named: AccountNames = field(default_factory=AccountNames, compare=False)

    def rule(self, address: Address) -> RoomRule:
        if not self.rules:
            return ANY_ROOM
        return _first(self.rules, self.named(address.whole_room), self.named(address))

    def attention(self, signal: Signal) -> Attention:
        """Attention that holds in the signal's room."""
        own = self.rule(signal.address).attention
        return own or (Attention.OPEN if signal.reach is Addressing.DIRECT else self.default)

    def course(self, signal: Signal) -> Decision:
        """Course of a signal as far as its room decides; who sent it is looked at later."""
        if signal.by_bot and signal.actor not in self.bots | self.sources:
            return Decision.IGNORE
        attention = self.attention(signal)
        match signal.body:
            case Moved():
                return Decision.RUN
            case Clicked() | Amended():
                return Decision.REFUSE if attention is Attention.OFF else Decision.RUN
            case Said():
                return COURSES.get((attention, signal.reach), Decision.RUN)
            case _:
                course = COURSES.get((attention, signal.reach), Decision.RUN)
                return Decision.IGNORE if course is Decision.OBSERVE else course

    def joins(self, signal: Signal) -> bool:
        """True if a message that runs makes the agent part of its thread. What a source brings asks for no company."""
        attention = self.attention(signal)
        lasting = attention is Attention.THREAD
        named = signal.reach is Addressing.MENTION and bool(signal.address.thread)
        asked = signal.joinable or (lasting and signal.actor not in self.sources)
        return named and attention in JOINING and asked

    def bars(self, address: Address, actor: Identity, who: Person | None) -> bool:
        """True if somebody may not speak there."""
        rule, names = self.rule(address), {actor, who.name} if who else {actor}
        is_blocked = bool(names & (self.blocked | rule.blocked))
        return is_blocked or bool(rule.people and not names & rule.people)


def _first(rules: Iterable[RoomRule], room: str, thread: str) -> RoomRule:
    return next((rule for rule in rules if rule.fits(room, thread)), ANY_ROOM)


@dataclass(frozen=True, slots=True)
class BusyRules:
    """Rules for a message that comes while the agent works: by room, else the default."""

    default: Busy
    rooms: RoomRules = field(default_factory=RoomRules)

    def at(self, address: Address) -> Busy:
        return self.rooms.rule(address).busy or self.default


def busy_at(busy: Busy | BusyRules, address: Address) -> Busy:
    """Rule that holds at `address`, where one may hold everywhere."""
    return busy if isinstance(busy, Busy) else busy.at(address)
