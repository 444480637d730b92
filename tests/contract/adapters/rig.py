"""A rig: an adapter, its real SDK and a fake server of its platform, in words that mean the same on every channel.

What people do and see goes to the fake over HTTP (`/inject`, `/visible`, `/faults`), so one rig serves a fake inside the
test and a fake in a process of its own. What a rig cannot do it names in `lacks`, with the reason that a skip prints.

`rigs/<channel>.py` offers a maker for each way of connecting, under the name that tests print:

    @asynccontextmanager
    async def polling(folder: Path, *, process: bool = False) -> AsyncIterator[Rig]: ...

    RIGS = {"telegram": polling, "telegram-webhook": webhook}
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NewType, Protocol, runtime_checkable

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.testing.serve import serving
from runtime.contract import AdapterContext, Address, ChannelAdapter, Identity
from tests.fakes.serve import spawned

Event = NewType("Event", str)
"""The fake's own name of one thing that a person did."""


class Trouble(StrEnum):
    """What can go wrong at the platform. The first seven meet the next `count` sends (or edits) and no other call.

    A send repeated with a key under which the platform shows a message already is none of those.
    """

    RATE = "rate"  # 429 with a wait of `seconds`; nothing was applied
    ERROR = "error"  # 500; nothing was applied
    CUT_BEFORE = "cut before"  # the connection is cut, nothing was applied
    CUT_AFTER = "cut after"  # applied, then the connection is cut
    CUT_LATE = "cut late"  # the connection is cut, applied `seconds` later
    CLOSED = "closed"  # the room is closed for us: kicked, blocked, archived
    FORM = "form"  # rich text is refused; plain text passes and does not use the fault up
    DROPPED = "dropped"  # every connection on which events come is cut, now; it may be opened again
    DEAF = "deaf"  # those connections stay open, and nothing comes on them until they are opened again
    TOKEN = "token"  # the platform refuses our token, on every call, until lifted
    AWAY = "away"  # every call is answered 503, and connections for events end, until lifted


class Barrier(StrEnum):
    """Why nothing can be posted in a room."""

    GONE = "there is no such room"
    OUT = "we are not in it"
    MUTE = "we may not write there"
    SHUT = "it is archived or locked"


class Skill(StrEnum):
    """What a rig may lack."""

    AGAIN = "the platform delivers an event twice"
    ACKNOWLEDGED = "the platform is told that a message was taken in"
    SIGNED = "requests reach us over HTTP, and carry a proof"
    SHARED = "rooms of several people"
    THREADS = "threads in rooms"
    BOTS = "other programs speak in rooms"
    OWN = "our own messages come back as events"
    EDITED = "people change what they wrote"
    FILES = "people send files"
    EDITS = "our messages are changed"
    MENTIONS = "a message may call everybody"
    SPLITS = "long text takes several messages"
    PLAIN = "rich text may be refused"
    RATES = "the platform bounds how much is sent"
    CLOSES = "a room may be closed for us"
    CUTS = "a send may be cut"
    SETTLES = "an uncertain send can be looked for"
    SOCKET = "events come on a connection of ours"
    DEAF = "a connection may be open and deaf"
    TOKEN = "the platform may refuse our token"
    AWAY = "the platform may be away"
    GAP = "what people do while we are away comes later"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test's people speak. `user` is who does, and is alone with the agent where `direct`.

    What is said here may get an address with a thread that the message itself began.
    """

    address: Address
    user: Identity
    direct: bool = True

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, slots=True)
class Rooms:
    """One of each kind; None where the platform has none. In `apart` the rig's `stranger` is alone with the agent."""

    direct: Place
    shared: Place | None = None
    thread: Place | None = None
    apart: Place | None = None


@dataclass(frozen=True, slots=True)
class Press:
    """A button on screen: what people read, and what the platform sends when they press it."""

    label: str
    payload: str


@dataclass(frozen=True, slots=True)
class OnScreen:
    """One message of ours as it is on screen now.

    `text`: what a person reads, without markup where the platform draws it and with the repeat's mark, which `marked`
    tells. `plain`: it has no formatting. `calls_all`: by the platform's rules it notifies everybody. `first` and
    `first_buttons`: what it said when it came. `version` counts its edits. `under`: the message that it stands under, in
    a thread of it or as an answer to it.
    """

    id: str
    text: str
    buttons: tuple[Press, ...] = ()
    files: tuple[str, ...] = ()
    plain: bool = False
    calls_all: bool = False
    version: int = 0
    first: str = ""
    first_buttons: tuple[Press, ...] = ()
    marked: bool = False
    reply_to: str = ""
    under: str = ""

    def button(self, label: str) -> Press:
        return next(press for press in self.buttons if press.label == label)


@dataclass(frozen=True, slots=True)
class Limit:
    """The longest text of one message: `measure(text)` is at most `most`. `unit` is for people."""

    most: int
    measure: Callable[[str], int]
    unit: str


class Rig(Protocol):
    """One account on one fake platform, and the people there.

    `lacks` names what it cannot do, with the reason. `owner` is the identity of its `ada`, `stranger` of somebody who is
    in every shared room too and speaks in no place by default. `limit` is None where the channel has none. `fixes`: what
    may keep us out of a room here, and a word of what mends it.
    """

    name: str
    channel: str
    lacks: Mapping[Skill, str]
    owner: Identity
    stranger: Identity
    limit: Limit | None
    fixes: Mapping[Barrier, str]

    # ------------------------------------------------------------------------------------------------- our side

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        """A new life of the account, with waits so short that a test need not sleep. `changes` are its settings."""

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]:
        """Inside the block the platform can reach `adapter`, where it speaks to us over HTTP; else nothing."""

    def settings(self) -> Mapping[str, Any]:
        """The `[[accounts]]` table under which the real program has this account: tokens, `api_base_url`, mode."""

    # --------------------------------------------------------------------------------------------------- places

    def rooms(self) -> Rooms: ...

    def places(self, count: int) -> Sequence[Place]:
        """So many different places, of all kinds there are in turn; as many as asked for.

        Each is one conversation: what is said there has exactly this address (so no room in which a message begins a
        thread of its own). A longer list begins with the shorter one. Each `user` is somebody the platform knows.
        """

    # -------------------------------------------------------------------------------------------- what people do

    async def say(
        self,
        place: Place,
        text: str,
        *,
        user: Identity | None = None,
        mention: bool | None = None,
        files: Mapping[str, bytes] | None = None,
        bot: bool = False,
    ) -> Event:
        """Somebody (`place.user`) writes. `mention` None: as one must to be heard there. `bot`: a program writes."""

    async def again(self, event: Event) -> None:
        """The platform delivers this very event once more."""

    async def echo(self, place: Place, text: str) -> Event:
        """The platform tells us of a message that we ourselves are the author of."""

    async def edit(self, event: Event, text: str) -> Event:
        """Who wrote this message changes it."""

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        """Somebody gives a command in the form that the platform has for it there; as text (`/name`) where it has none."""

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        """Somebody presses the button of that label."""

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        """Somebody's client sends a button press with a payload of its own, on a message that may have no buttons."""

    async def unsigned(self, place: Place, text: str) -> int:
        """A request that anybody could have made reaches our HTTP route; the status we answer."""

    async def remove(self, place: Place, message: OnScreen) -> None:
        """Somebody deletes this message of ours."""

    # -------------------------------------------------------------------------------------------- what people see

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        """Our messages in this room, oldest first: those in a thread only when `place` is one, or the message began it."""

    async def acknowledged(self, event: Event) -> bool:
        """Whether the platform was told that the event arrived."""

    async def notices(self, event: Event) -> Sequence[str]:
        """What was said privately to whoever caused the event."""

    # --------------------------------------------------------------------------------------------- what goes wrong

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        """Trouble for the next `count` calls of that kind (`on`: "send" or "edit"); or from now on, see `Trouble`."""

    async def bar(self, barrier: Barrier) -> Address:
        """A room to which we cannot post for this reason from now on, one of `fixes`."""

    async def lift(self) -> None:
        """All trouble ends."""


@runtime_checkable
class KeepsShown(Protocol):
    """A rig whose channel is shown by our own checkpoint, and whose rooms are there once somebody spoke."""

    async def begin(self, place: Place) -> None: ...

    async def checkpoint(self, place: Place, message_id: str, body: str) -> None: ...


class RigMaker(Protocol):
    """What makes a rig: its fake is inside this process, or a process of its own with a journal in `folder`."""

    def __call__(self, folder: Path, *, process: bool = False) -> AbstractAsyncContextManager[Rig]: ...


WATCHING: Final = ContextVar[Sequence[Middleware]]("WATCHING", default=())
"""What sees each request to a fake inside this process, for those who measure."""


@asynccontextmanager
async def platform(
    module: str, app: Callable[[Path], web.Application], folder: Path, *arguments: str, process: bool
) -> AsyncIterator[str]:
    """A fake platform's URL: `app(journal)` served inside this process, or `python -m module` as one of its own."""
    journal = folder / f"{module.rpartition('.')[2]}.journal"
    if process:
        async with spawned(module, *arguments, "--journal", str(journal)) as (_, url):
            yield url
    else:
        made = app(journal)
        made.middlewares.extend(WATCHING.get())
        async with serving(made) as url:
            yield url
