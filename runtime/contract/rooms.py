"""Context of adapters: rooms and who may see them, folders of files, wake-ups; and what checks find."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from runtime.contract.forms import OpenForm, no_form
from runtime.contract.inbox import ReadClosed, ReadInbox, empty_inbox, none_closed
from runtime.contract.people import Address, Identity, NewId, Now, Person
from runtime.contract.signals import FileRef, OwnMarks, Rated, no_marks, unrated


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a check for the operator. `id` stays the same over releases, and begins with what was looked at.

    `why` it matters and the command or setting that mends it (`fix`) are empty when all is well.
    """

    level: Level
    id: str
    what: str
    why: str = ""
    fix: str = ""


PEOPLE: Final = "people"
"""The notifier's topic for a change of people, by which a link may have become void."""


QUESTIONS: Final = "questions"
"""The notifier's topic for questions to people: one was asked, decided, or expired."""


@dataclass(frozen=True, slots=True)
class Room:
    """A conversation as a list shows it. `title` is its first words, or what its owner calls it."""

    address: Address
    title: str
    last_at: datetime
    waiting_approvals: int
    is_pinned: bool = False
    is_archived: bool = False
    is_unread: bool = False


class Author(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    SUMMARY = "summary"  # stands where a summary speaks for what is above it


@dataclass(frozen=True, slots=True)
class RanTool:
    """A tool call behind an answer. `seconds` is how long it worked; its texts are there only where they were asked for."""

    tool: str
    seconds: float
    arguments: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class WorkBehind:
    """All that led to an answer: the calls of its run that are over, and what the model thought, each in its order."""

    ran: tuple[RanTool, ...] = ()
    thoughts: tuple[str, ...] = ()


NOTHING_RAN: Final = WorkBehind()


@dataclass(frozen=True, slots=True)
class Entry:
    """One lasting thing in a room, as the page shows it.

    `id` is stable and sorts with `at`; `body` is the wire text of a shown part (author agent) or what was said.
    `version` grows when a shown message is edited. `client_id` is the dedupe key of what a person said. A summary's
    body is JSON: its text, kind, model and sizes, and of how many turns it is, from when to when. `reactions` are the wire
    texts of the emoji on it. `run` is the work that it belongs to; `replaces`, the message in whose place it was said. `behind` is what led to an answer, without its texts.
    `is_notice`: nobody said it; it tells where the conversation comes from.
    """

    id: str
    author: Author
    name: str
    at: datetime
    body: str
    files: tuple[FileRef, ...] = ()
    version: int = 0
    answered: bool = True
    client_id: str = ""
    reactions: tuple[str, ...] = ()
    run: str = ""
    replaces: str = ""
    behind: WorkBehind = NOTHING_RAN
    is_notice: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A room at one moment. `busy`: a message is not answered yet, and no approval is waited for.

    `mode`: how much runs there unasked, empty where it is as ever; `until` and `trusted` are set while somebody is trusted.
    `edited` are entries before these whose text was replaced lately, and summaries that stand there, each with its version. `is_newest`: none come after these.
    """

    entries: tuple[Entry, ...]
    busy: bool
    mode: str = ""
    until: datetime | None = None
    trusted: str = ""
    edited: Mapping[str, int] = field(default_factory=dict)
    is_newest: bool = True


class History(Protocol):
    """History of what was committed, for those who may see it. Only reads."""

    async def rooms(self, channel: str, account: str, owner: Identity) -> list[Room]:
        """Rooms in which `owner` spoke, newest first, at most 200."""

    async def own_rooms(self, channel: str, account: str, owner: Identity) -> frozenset[Address]:
        """All rooms whose `room_owner` this is."""

    async def room_owner(self, address: Address) -> Identity | None:
        """Person who began this room by speaking there; None where nobody did, or where something was posted before."""

    async def is_untouched(self, address: Address) -> bool:
        """True if nothing was ever said or posted in this room."""

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        """The room as it is at one moment: the last `limit` entries older than `before`, oldest first.

        `after`: those that come next after an instant, with some before it. `around`: those about an entry; none where the
        room has no such entry.
        """

    async def work_behind(self, address: Address, entry_id: str) -> WorkBehind:
        """All that led to an answer in this room; nothing for any other entry."""


@dataclass(frozen=True, slots=True)
class RoomMark:
    """A change to how one person has a conversation in their list; None leaves a thing as it is.

    An empty `title` is the conversation's first words. `read_at`: until when they have read it.
    """

    title: str | None = None
    is_pinned: bool | None = None
    is_archived: bool | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A message that holds the words somebody looked for. `id` is that of its `Entry`; `text` is all of it, as written."""

    address: Address
    id: str
    author: Author
    name: str
    at: datetime
    text: str


class Links(Protocol):
    """Owners of web links and session cookies."""

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        """The person who is signed in where `token` is held, and the web identity under which they speak; or None.

        It may be a second old, unless it must be `fresh`.
        """

    async def linked(self, token: str) -> Person | None:
        """The person whose current link carries `token`, which no browser holds."""

    async def invited(self, token: str) -> Person | None:
        """The person for whom `token` is a link for one use; None once it was used, replaced or is too old."""

    async def redeem(self, token: str, browser: str = "") -> str | None:
        """Sign a browser in by a link of either kind: what it holds from now on. Of two at once one uses up a link for one use."""

    async def leave(self, token: str) -> None:
        """Sign the browser out that holds `token`."""


class Workspaces(Protocol):
    """The folder of files that belongs to the session of an address."""

    def folder(self, address: Address) -> Path:
        """Folder of a session; it exists, and no link in its path leads elsewhere."""

    def open(self, address: Address, path: str) -> AbstractContextManager[BinaryIO]:
        """The file `path` of that folder, for reading: never through a link, whatever tools made of its names since.

        Errors: OSError where it is not there or no plain file; ValueError for a path that leads out.
        """

    def admit(self, made: int) -> None:
        """Give what was just made in a workspace, an open descriptor, to the user as whom tools run.

        Never by its path: a tool may have made a link of a folder in it since.
        """


@dataclass(frozen=True, slots=True)
class Shortage:
    """The reason nothing more may be written, as a sentence. `everywhere`: the disk itself is short."""

    words: str
    everywhere: bool = False


class Space(Protocol):
    """Bounds of disk. `folder` is a workspace, `person` the id of who sends a file there, empty where nobody known does."""

    async def shortage(self, folder: Path, person: str = "") -> Shortage | None:
        """Tell why nothing may be written now; counted anew before it refuses."""

    async def recount(self, folder: Path) -> Shortage | None:
        """Count the folder anew, after something nobody watched wrote there."""

    def add(self, folder: Path, size: int, person: str = "") -> Shortage | None:
        """Count `size` more bytes; why no more may come. Fewer than none are those of a person that never arrived."""

    def left(self, folder: Path) -> int:
        """Bytes that may still be written there, as last counted."""

    async def keep(self, file: Path, size: int, person: str) -> None:
        """Note that a person's file, whose `size` bytes were added, is at `file`."""


class Boundless:
    """A Space without bounds."""

    async def shortage(self, folder: Path, person: str = "") -> Shortage | None:
        return None

    async def recount(self, folder: Path) -> Shortage | None:
        return None

    def add(self, folder: Path, size: int, person: str = "") -> Shortage | None:
        return None

    def left(self, folder: Path) -> int:
        return 1 << 62

    async def keep(self, file: Path, size: int, person: str) -> None:
        return None


BOUNDLESS: Final[Space] = Boundless()


class Notifier(Protocol):
    """Wake-ups inside the process; never a source of truth."""

    def notify(self, topic: str) -> None:
        """Wake whoever waits for `topic`."""

    def listen(self, *topics: str) -> AsyncIterator[str]:
        """Topics as they are notified; several of one topic between two looks come as one."""

    def calling(self, told: Callable[[str], None], *topics: str) -> AbstractContextManager[None]:
        """In the block `told` is called with each topic, at the moment at which it is notified."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest message of a room that was taken in: its wire id, and when it was received."""

    address: Address
    message_id: str
    at: datetime


class Places(Protocol):
    """Stored facts about an account's rooms, for its adapter."""

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        """Rooms and threads in which something was taken in after `since`, each with its newest message."""

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        """Time anything was last taken in for the account, in UTC; None for never. Errors: StoreError."""

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        """Rooms that have another id at the platform now: the room of the rows, to the newest id."""

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        """Message ids of the parts shown in the room of `address`, in any thread of it, after `since`; at most 1,000."""

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        """Address of each part that may be on screen unknown and is still to be looked for."""


async def alone(within: timedelta) -> bool:
    """Answer where nobody shares the store."""
    return False


MayInvite = Callable[[Identity, Address, bool], Awaitable[bool]]
"""True if somebody may bring the agent into a room; the flag tells that they are alone with it there. Errors: StoreError."""


async def invited_by_all(who: Identity, room: Address, alone: bool) -> bool:
    """Answer where nobody is kept out."""
    return True


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """Context of an adapter, besides its own settings, from the composition root.

    `siblings`: whether another process of ours was at work on this store within so long. `forms` makes the form behind a
    button. `inbox` reads the questions that wait for somebody, `closed` what became of them. `rated` notes what people think of a message, and
    `own_marks` tells somebody's own. `may_invite` is asked where people invite the agent into rooms.
    """

    history: History
    links: Links
    workspaces: Workspaces
    places: Places
    notifier: Notifier
    now: Now
    new_id: NewId
    siblings: Callable[[timedelta], Awaitable[bool]] = alone
    forms: OpenForm = no_form
    inbox: ReadInbox = empty_inbox
    closed: ReadClosed = none_closed
    rated: Rated = unrated
    own_marks: OwnMarks = no_marks
    may_invite: MayInvite = invited_by_all
