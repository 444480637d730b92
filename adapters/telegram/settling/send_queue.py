"""Order of sending in a chat: one message at a time by marker, and none while one is searched for.

A probe tells that a message of ours is there, not which. The topics of a forum, which the courier serves side by side,
share a chat. So they stand in one line here, and their tickets are stored with their markers: of the messages whose end
nobody knows, after a kill too, those that are there are the first in line, and their ids are in its order. Whoever looks
lets those before it look first, and then the lowest id that is left is its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Final

from runtime.contract import Address
from runtime.errors import Retryable

STALE: Final = 5.0  # seconds from a marker to its send: after that it does not come
FORGOTTEN: Final = 180.0  # seconds after which nobody looks for a lost message any more
UNHEARD: Final = 30.0  # seconds for an earlier one of a former life to be looked for first
AT_MOST: Final = 7.0  # seconds that one look waits for another
GLANCE: Final = 0.5  # seconds
LINE_RETRY_DELAY: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Mark:
    """Facts stored with a marker: the chat, the highest id known in its space (0: none), and the place in its line.

    `ahead`: how many stood before it.
    """

    chat: int
    top: int
    ticket: int
    ahead: int

    def __str__(self) -> str:
        return f"{self.chat}:{self.top}:{self.ticket}:{self.ahead}"

    @classmethod
    def parse(cls, text: str) -> Mark | None:
        """None for what is no mark: nothing was known then."""
        try:
            chat, top, ticket, ahead = map(int, text.split(":"))
        except ValueError:
            return None
        return cls(chat, top, ticket, ahead)


@dataclass(slots=True)
class Doubt:
    """A part that may be on screen unknown, since when; `looked`: a look has not found it.

    `begun` is when its send began; 0 for a former life.
    """

    ticket: int
    since: float
    looked: bool = False
    begun: float = 0.0

    @property
    def is_live(self) -> bool:
        return monotonic() - self.since < FORGOTTEN

    @property
    def is_open(self) -> bool:
        """True if it is still to be looked for."""
        return not self.looked and self.is_live


@dataclass(slots=True)
class Chat:
    """`waiting`: who has a ticket, and since when."""

    waiting: dict[Address, tuple[int, float]] = field(default_factory=dict)
    doubts: dict[str, Doubt] = field(default_factory=dict)
    sending: asyncio.Future[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def live(self) -> dict[Address, int]:
        """The tickets of those whose send is still to be expected."""
        return {address: ticket for address, (ticket, since) in self.waiting.items() if monotonic() - since < STALE}

    def is_next(self, address: Address) -> bool:
        live = self.live()
        return self.sending is None and min(live, key=lambda a: live[a], default=address) == address

    def bars(self, part: str, ticket: int) -> bool:
        """True if `part` must not be sent: another may be on screen unknown, or comes before it."""
        own = self.doubts.get(part)
        place = own.ticket if own else ticket
        others = (doubt for name, doubt in self.doubts.items() if name != part and doubt.is_live)
        return any(not doubt.looked or doubt.ticket < place for doubt in others)

    def earlier(self, part: str, ticket: int) -> bool:
        """True if one before `part` is still to be looked for."""
        others = (doubt for name, doubt in self.doubts.items() if name != part)
        return any(doubt.is_open and doubt.ticket < ticket for doubt in others)

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(self) -> None:
        """Wait until something changed, or for a moment."""
        try:
            async with asyncio.timeout(GLANCE):
                await self.changed.wait()
        except TimeoutError:
            return

    @property
    def is_idle(self) -> bool:
        return not (self.waiting or self.sending or any(doubt.is_live for doubt in self.doubts.values()))


class SendQueues:
    """The line of each chat. `born`: tickets up to it are of former lives."""

    def __init__(self, born: int) -> None:
        self._born = self._ticket = born
        self._chats: dict[int, Chat] = {}
        self._looked: Counter[int] = Counter()

    def begin_anew(self, born: int) -> None:
        """Another process had the lines since. It saw to what was in doubt here, and what it left in doubt has tickets below
        `born`; a doubt that stayed would bar its chat, and nobody would look."""
        self._born = self._ticket = max(self._ticket, born)
        self._chats.clear()
        self._looked.clear()

    def stand(self, chat: int, address: Address, top: int) -> Mark:
        """A message to `address` is about to be marked and then sent; what to store with its marker."""
        line = self._of(chat)
        line.waiting.pop(address, None)
        ahead = len(line.live()) + len(line.doubts) + (line.sending is not None)
        self._ticket += 1
        line.waiting[address] = (self._ticket, monotonic())
        return Mark(chat, top, self._ticket, ahead)

    def leave(self, chat: int, address: Address) -> None:
        """It was no message, but an edit."""
        if chat in self._chats:
            self._chats[chat].waiting.pop(address, None)
            self._changed(chat)

    @asynccontextmanager
    async def turn(self, chat: int, address: Address, part: str) -> AsyncIterator[None]:
        """The block sends `part`. Unless `surely` is called in it, the part is in doubt after it.

        Errors: Retryable while another part of this chat is looked for.
        """
        line = self._of(chat)
        try:
            while not line.is_next(address):
                await line.change()
            ticket, _ = line.waiting.get(address, (self._ticket, 0.0))
            if line.bars(part, ticket):
                raise Retryable("checking another message to this chat first", retry_after=LINE_RETRY_DELAY)
            line.doubts[part] = Doubt(ticket, monotonic(), begun=monotonic())
            line.sending = asyncio.get_running_loop().create_future()
            try:
                yield
            finally:
                line.sending.set_result(None)
                line.sending = None
        finally:
            self.leave(chat, address)

    def surely(self, chat: int, part: str) -> None:
        """Note that the fate of `part` is known."""
        if chat in self._chats:
            self._chats[chat].doubts.pop(part, None)
            self._changed(chat)

    async def landed(self, chats: Iterable[int]) -> None:
        """Wait for the sends to these chats that are under way now."""
        under_way = [line.sending for chat in chats if (line := self._chats.get(chat)) and line.sending]
        if under_way:
            await asyncio.wait(under_way)

    def chats(self) -> list[int]:
        """Chats in which anything goes on."""
        return list(self._chats)

    def lost(self, chats: Iterable[int], before: float) -> list[tuple[int, str, int]]:
        """The parts in these chats that may be on screen unknown, sent before then: chat, part and ticket."""
        lines = [(chat, line) for chat in chats if (line := self._chats.get(chat))]
        return [
            (chat, part, doubt.ticket)
            for chat, line in lines
            for part, doubt in line.doubts.items()
            if doubt.is_live and doubt.begun < before
        ]

    def count(self) -> Counter[int]:
        """Number of parts in doubt, by chat."""
        return Counter({chat: len(line.doubts) for chat, line in self._chats.items()})

    def is_alone(self, chat: int) -> bool:
        """True if an unknown message of ours can only belong to one part."""
        return chat in self._chats and len(self._chats[chat].doubts) == 1

    @asynccontextmanager
    async def look(self, part: str, mark: Mark) -> AsyncIterator[None]:
        """The block looks for `part`; when it ends without an error, the look is over.

        Errors: Retryable when one before it is looked for first and takes long: what is found may be that one's.
        """
        line = self._of(mark.chat)
        doubt = line.doubts.setdefault(part, Doubt(mark.ticket, monotonic()))
        doubt.looked = False
        end = monotonic() + AT_MOST
        while line.earlier(part, mark.ticket) or self._unheard(mark, doubt.since):
            if monotonic() > end:
                raise Retryable("checking an earlier message to this chat first", retry_after=LINE_RETRY_DELAY)
            await line.change()
        yield
        doubt.looked, doubt.since = True, monotonic()
        self._looked[mark.chat] += 1
        self._changed(mark.chat)

    def _unheard(self, mark: Mark, since: float) -> bool:
        """A former life ended with several in line, and the first of them may not have been heard of yet."""
        former = mark.ahead > 0 and mark.ticket <= self._born
        return former and not self._looked[mark.chat] and monotonic() - since < UNHEARD

    def _of(self, chat: int) -> Chat:
        return self._chats.setdefault(chat, Chat())

    def _changed(self, chat: int) -> None:
        self._chats[chat].tell()
        if self._chats[chat].is_idle:
            del self._chats[chat]
