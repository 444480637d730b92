"""Optional abilities of a channel: one record, in which each field that is not given has a fall-back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from runtime.contract.people import Address
from runtime.contract.signals import FileRef, Sink


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model call began; or it goes on, and will take `long`."""

    long: bool = False


@dataclass(frozen=True, slots=True)
class Speaking:
    """The text of the reply so far.

    `step` is the number under which the run records it; 0 where somebody may change it before that.
    """

    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Working:
    """A tool started (`ended` False) or ended."""

    tool: str
    arguments: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Advancing:
    """A tool at work says how far it is, in words from outside: on one line, and without secrets."""

    tool: str
    arguments: str
    words: str


@dataclass(frozen=True, slots=True)
class Stopping:
    """A person ends the run; a tool that cannot be cut short ends first."""


@dataclass(frozen=True, slots=True)
class Resting:
    """The run ended or waits for a person: no more progress from it."""


Progress = Thinking | Speaking | Working | Advancing | Stopping | Resting


class Listeners(Protocol):
    """An account that only one process at a time may listen to, or each of its shards. Each name is a Role."""

    def listeners(self) -> Sequence[str]:
        """Names of the exclusive listeners, such as `poller` or `shard-0-of-2`."""

    async def attend(self, listener: str, sink: Sink) -> None:
        """As `listen`, for one of them, while this process holds its role. `listen` then takes in nothing itself."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """At most `burst` at once, and one more each `every`. Equal keys are the same bucket of the account."""

    key: str
    burst: int
    every: timedelta


class Types(Protocol):
    """A channel on which the agent can be seen at work."""

    typing_lasts: timedelta

    async def typing(self, address: Address, status: str) -> None:
        """Say so for `typing_lasts`; an empty `status` where the platform has one takes it away. Best effort."""


class Drafts(Protocol):
    """A channel on which a text can be seen growing without leaving a message."""

    def drafts(self, address: Address) -> bool:
        """Tell whether this room can."""

    async def draft(self, address: Address, text: str) -> None:
        """The text so far, Markdown. Best effort."""


class Fetch(Protocol):
    """Gets a file that a message carries."""

    async def __call__(self, file: FileRef, into: Path, *, most: int) -> None:
        """Write the file `file.remote` to `into`. Errors: Retryable; Rejected when gone or over `most` bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Abilities of one account, each with its fallback.

    `settles`  finds out whether an uncertain part is shown (else: the repeat policy)
    `stored`   our checkpoint is what shows a part: no marker is needed, nothing is ever uncertain
    `progress` shows live progress, best effort, at once or never (else: typing, drafts and previews)
    `learn`    asks until the platform told who the account is; then `identity`, empty before, is set
    `floor`    what to store with the marker of a part that is about to be shown, above which `settle` looks
    `buckets`  those that one message to a room takes a token from (else: no bound)
    `took_over` is told that another process may have shown parts since: what it remembers of uncertain ones is old
    `ping`     returns once the platform answered, also where it refused, and takes nothing from whoever listens;
               ChannelError when it did not answer, or not as itself (else: its way is not tried)
    `reach`    why nothing can be posted in a room, with the fix; None when it can, or the platform cannot be asked now
    `link`     the address of a message of a room on the web, for people; empty where it has none (else: no links)
    `reacts`   why a message can't be marked with an emoji here, empty where it can: `edit` gets such a part (else: never)
    `routes`   web requests that it answers, as aiohttp's routes; it checks by itself who sent them
    `command_mark` how commands are written outside of threads
    `title`    the channel as people call it, for models (else: its word)
    `writing`  a sentence on what it can show, for models (else: nothing)
    """

    edits: bool = False  # changes a shown message (else: a new message)
    settles: bool = False
    stored: bool = False
    progress: Callable[[Address, Progress], None] | None = None
    learn: Callable[[], Coroutine[Any, Any, None]] | None = None
    listeners: Listeners | None = None
    floor: Callable[[Address], str] | None = None
    buckets: Callable[[Address], Sequence[Bucket]] | None = None
    took_over: Callable[[], None] | None = None
    types: Types | None = None
    drafts: Drafts | None = None
    fetch: Fetch | None = None
    ping: Callable[[], Coroutine[Any, Any, None]] | None = None
    reach: Callable[[Address], Awaitable[str | None]] | None = None
    link: Callable[[Address, str], str] | None = None
    reacts: Callable[[str], str] | None = None
    routes: Callable[[], Sequence[Any]] | None = None
    command_mark: str = "/"
    title: str = ""
    writing: str = ""
    own_rooms: bool = False  # each room is one person's and the agent's (else: as the store knows)

    @property
    def looks_at_once(self) -> bool:
        """True where a part may be looked for as soon as it is in doubt: a key or a look-up settles it.

        With a floor it may not: all that was sent meanwhile must have had time to arrive above it.
        """
        return (self.settles or self.stored) and self.floor is None

    @property
    def previews(self) -> bool:
        """True where a message may stand for an answer that still grows: nothing else shows a run at work."""
        return self.edits and not self.stored and self.progress is None
