"""The seam to a channel: one account on one chat platform."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from runtime.contract.deliveries import Attempt, Delivery, Part, Receipt, Settled, Wire
from runtime.contract.people import Address
from runtime.contract.signals import Sink


class Capability(StrEnum):
    """What a channel can do beyond the least. Each has one written fall-back in the runtime."""

    EDIT = "edit"  # change a shown message (else: a new message)
    SETTLE = "settle"  # find out whether an uncertain part is shown (else: the repeat policy)
    STORED = "stored"  # our checkpoint is what shows it: no marker is needed, nothing is ever uncertain
    PROGRESS = "progress"  # live, unstored progress (else: nothing)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model call began."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """The text of the reply so far."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A tool started (`ended` False) or ended."""

    tool: str
    arguments: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Resting:
    """The run ended or waits for a person: no more progress from it."""


Progress = Thinking | Speaking | Working | Resting


class ChannelAdapter(Protocol):
    """One account on one chat platform. Everything optional is a Capability.

    `channel` is the platform's word (`web`, `slack`), `account` the account's name in the settings, `identity` the
    account's own identity at its platform, under which rows are stored.
    """

    channel: str
    account: str
    identity: str
    capabilities: frozenset[Capability]

    async def listen(self, sink: Sink) -> None:
        """Hand each event to `sink` until cancelled; acknowledge it only once `sink` returns its Verdict."""

    def render(self, delivery: Delivery) -> list[Wire]:
        """Cut `delivery` into wire messages, each valid alone. Pure: called once, the result is stored."""

    async def show(self, part: Part) -> Receipt:
        """Show `part`, or raise Retryable, Uncertain or Rejected."""

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Replace what `receipt` shows by `part`. Repeatable. Raises as `show` does. Only with EDIT."""

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Find out whether an uncertain `part` is on screen. Raises Retryable when the platform is away."""

    def progress(self, address: Address, event: Progress) -> None:
        """Show live progress, best effort, at once or never. Only with PROGRESS."""

    def ready(self) -> str | None:
        """None when connected, else the reason in words."""
