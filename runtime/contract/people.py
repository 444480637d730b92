"""Ids, people and places; times, and the points tests can stop at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import Any, NewType

SignalId = NewType("SignalId", str)
SessionKey = NewType("SessionKey", str)
RunId = NewType("RunId", str)
ApprovalId = NewType("ApprovalId", str)
DeliveryId = NewType("DeliveryId", str)
NodeId = NewType("NodeId", str)
PersonId = NewType("PersonId", str)
Identity = NewType("Identity", str)
"""A person's account on a platform: `channel:user`, such as `web:ada`, `telegram:1001` or `slack:T1/U1`."""

Json = Any
"""What `json.loads` gives: the shape is checked where it is read."""

Now = Callable[[], datetime]

steady: Callable[[], float] = time.monotonic
if hasattr(time, "CLOCK_BOOTTIME"):
    steady = partial(time.clock_gettime, time.CLOCK_BOOTTIME)
"""Seconds that only grow: nobody sets them, and they go on while the machine sleeps, as leases do."""
NewId = Callable[[], str]
Probe = Callable[[str], None]
"""Called with the name of each point at which a kill must be harmless. Production passes `no_probe`."""


def no_probe(point: str) -> None:
    """The probe of production: nothing happens."""


class Role(IntEnum):
    """Rights of a person; a higher one may do all that a lower one may."""

    VIEWER = 0
    USER = 1
    OPERATOR = 2
    OWNER = 3

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Person:
    id: PersonId
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a reply: `channel:account/room` or `channel:account/room/thread`.

    Inside the program `account` is the account's own identity at its platform, so that a renamed account keeps its
    conversations; the name in the settings is translated where settings are read and where people are shown one.
    """

    channel: str
    account: str
    room: str
    thread: str = ""

    def __str__(self) -> str:
        base = f"{self.channel}:{self.account}/{self.room}"
        return f"{base}/{self.thread}" if self.thread else base

    @property
    def whole_room(self) -> Address:
        """Address without its thread: the room with all its threads."""
        return replace(self, thread="") if self.thread else self

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address written as `text`. Errors: ValueError says which form is expected."""
        channel, colon, rest = text.partition(":")
        parts = rest.split("/", 2)
        if not (channel and colon and len(parts) >= 2 and all(parts)):
            raise ValueError(f"{text!r} is not an address; write channel:account/room or channel:account/room/thread")
        return cls(channel, parts[0], parts[1], parts[2] if len(parts) == 3 else "")


def room_topic(address: Address) -> str:
    """The notifier's topic for whatever lasting changed in a room: a message taken in, a part shown, a run that ended."""
    return f"room:{address}"
