"""The seam to a channel: one account on one chat platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from runtime.contract.deliveries import Attempt, Delivery, Part, Receipt, Settled, Wire
from runtime.contract.people import Address
from runtime.contract.signals import FileRef, Sink


class Connection(StrEnum):
    """How an account stands with its platform."""

    CONNECTING = "connecting"  # not yet since the start
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"  # it was, and will be again by itself
    DEAF = "deaf"  # the connection looks open, and nothing was heard for longer than can be
    REFUSED = "refused"  # the platform said no: a person must mend it; tried again now and then


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """`reason` names the account, what is wrong and the fix; empty when connected."""

    connection: Connection
    reason: str = ""

    @property
    def trouble(self) -> str | None:
        """None when connected, else what is wrong in words."""
        return None if self.connection is Connection.CONNECTED else self.reason or self.connection.value


CONNECTED: Final = ConnectionStatus(Connection.CONNECTED)


class Capability(StrEnum):
    """What a channel can do beyond the least. Each has one written fall-back in the runtime."""

    EDIT = "edit"  # change a shown message (else: a new message)
    SETTLE = "settle"  # find out whether an uncertain part is shown (else: the repeat policy)
    STORED = "stored"  # our checkpoint is what shows it: no marker is needed, nothing is ever uncertain
    PROGRESS = "progress"  # live, unstored progress (else: nothing)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model call began; or it goes on, and will take `long`."""

    long: bool = False


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
class Stopping:
    """A person ends the run; a tool that cannot be cut short ends first."""


@dataclass(frozen=True, slots=True)
class Resting:
    """The run ended or waits for a person: no more progress from it."""


Progress = Thinking | Speaking | Working | Stopping | Resting


class ChannelAdapter(Protocol):
    """One account on one chat platform. Everything optional is a Capability.

    `channel` is the platform's word (`web`, `slack`), `account` the account's name in the settings, `identity` the
    account's own identity at its platform, under which rows are stored.
    """

    channel: str
    account: str
    capabilities: frozenset[Capability]

    @property
    def identity(self) -> str:
        """Empty only until the platform has told it, see `LearnsIdentity`."""

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

    def standing(self) -> ConnectionStatus:
        """How the account stands with its platform at this moment."""


# What a channel may offer beside: the composition root looks once, with isinstance, and hands on what it finds.


@runtime_checkable
class LearnsIdentity(Protocol):
    """An account whose identity only the platform can tell."""

    async def learn(self) -> None:
        """Ask until the platform told it; then `identity`, empty before, is set. `standing` says why it takes long."""


@runtime_checkable
class HasListeners(Protocol):
    """An account that only one process at a time may listen to, or each of its shards. Each name is a Role."""

    def listeners(self) -> Sequence[str]:
        """Names of the exclusive listeners, such as `poller` or `shard-0-of-2`."""

    async def attend(self, listener: str, sink: Sink) -> None:
        """As `listen`, for one of them, while this process holds its role. `listen` then takes in nothing itself."""


@runtime_checkable
class HasFloor(Protocol):
    """A channel that settles by looking above what it knew before the attempt."""

    def floor(self, address: Address) -> str:
        """What to store with the marker of a part that is about to be shown at `address`."""


@runtime_checkable
class HasRates(Protocol):
    """A platform that bounds how much may be sent."""

    def buckets(self, address: Address) -> Sequence[Bucket]:
        """The buckets that one message to `address` takes a token from."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """At most `burst` at once, and one more each `every`. Equal keys are the same bucket of the account."""

    key: str
    burst: int
    every: timedelta


@runtime_checkable
class Types(Protocol):
    """A channel on which the agent can be seen at work."""

    typing_lasts: timedelta

    async def typing(self, address: Address, status: str) -> None:
        """Say so for `typing_lasts`; an empty `status` where the platform has one takes it away. Best effort."""


@runtime_checkable
class Drafts(Protocol):
    """A channel on which a text can be seen growing without leaving a message."""

    def drafts(self, address: Address) -> bool:
        """Whether this room can."""

    async def draft(self, address: Address, text: str) -> None:
        """The text so far, Markdown. Best effort."""


@runtime_checkable
class HasFiles(Protocol):
    """A channel whose messages carry files."""

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        """Write the file `file.remote` to `into`. Errors: Retryable; Rejected when gone or over `most` bytes."""


@runtime_checkable
class Pings(Protocol):
    """A platform that can be asked something small, to see whether it answers."""

    async def ping(self) -> None:
        """Return once the platform answered, also where it refused. Takes nothing away from whoever listens.

        Errors: ChannelError when it did not answer, or not as itself.
        """


@runtime_checkable
class Reaches(Protocol):
    """A channel that can tell beforehand whether something can be posted in a room."""

    async def reach(self, address: Address) -> str | None:
        """Why nothing can be posted there, with the fix, in words; None when it can, or the platform cannot be asked now."""
