"""How a press comes to us: the real adapter and its real library, the platform's own words around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sized
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.contract import AdapterContext, Address, ChannelAdapter, Identity
from tests.security.presses import PEOPLE, Press

FIRST_PERSON: Final = 5_001
NUMBERS: Final[Mapping[str, int]] = {name: FIRST_PERSON + number for number, name in enumerate(PEOPLE)}
GLANCE: Final = 0.001  # seconds between two looks
PATIENCE: Final = 20.0  # seconds on a busy machine; all of it is there within one


@dataclass(frozen=True, slots=True)
class Sent:
    """A press that the platform was answered about. `key` names its event; `told` is what its sender alone read."""

    key: str
    told: str | None = None


class Wire(Protocol):
    """One account on one platform. `rooms`: the one of the card that is pressed, and another. `cards` stand there."""

    rooms: tuple[Address, Address]
    cards: list[str]
    has_form: bool
    has_alone: bool
    heard: Mapping[str, Sized]
    """What was made of each event, by its key."""

    @property
    def name(self) -> str: ...

    def identity(self, name: str) -> Identity: ...

    def adapter(self, given: AdapterContext) -> ChannelAdapter: ...

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]: ...

    async def send(self, press: Press) -> Sent:
        """Once the platform was answered. Errors: AssertionError when it was not, or by an error."""

    async def again(self, sent: Sent) -> Sent:
        """The platform brings the same event once more."""


async def until(holds: Callable[[], bool], what: str) -> None:
    """Errors: AssertionError names what did not come."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not holds():
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"within {PATIENCE:g} s there was no {what}")
        await asyncio.sleep(GLANCE)
