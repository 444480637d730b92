"""Models that make pictures, write recordings down and speak, and the money of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from runtime.contract.models import Usage
from runtime.contract.people import Address, PersonId

Shape = Literal["square", "wide", "tall"]
PICTURES_MAX: Final = 4
"""Pictures of one call."""


@dataclass(frozen=True, slots=True)
class Painted:
    """Pictures as their model made them (PNG, JPEG or WebP), and what they cost."""

    pictures: Sequence[bytes]
    usage: Usage


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """Words of a recording, and what they cost."""

    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Spoken:
    """A recording of words as its model made it, not looked at yet, and what it cost."""

    recording: bytes
    usage: Usage


class ImageModel(Protocol):
    """A model that makes pictures of words."""

    name: str

    async def paint(self, prompt: str, shape: Shape, count: int) -> Painted:
        """At most `PICTURES_MAX` pictures. Errors: ModelFailed."""


class SpeechModel(Protocol):
    """A model that writes recordings down."""

    name: str

    async def write_down(self, recording: bytes, name: str) -> WrittenDown:
        """The words in `recording`; the ending of `name` tells its kind. Errors: ModelFailed."""


class VoiceModel(Protocol):
    """A model that speaks words."""

    name: str

    async def speak(self, text: str, voice: str) -> Spoken:
        """A recording of `text` in the vendor's `voice`. Errors: ModelFailed."""


class Spending(Protocol):
    """Money of calls that no step of a run records by itself, in the budgets of whoever they are made for."""

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool:
        """False once a budget is spent."""

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None:
        """Record what a call took."""
