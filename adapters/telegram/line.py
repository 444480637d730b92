"""Who sends in a chat: one message at a time, in the order of their markers, and nobody while one is looked for.

A probe tells that a message of ours is there, not which. So of the messages that a chat may hold without our knowing, at
most one may exist: the topics of a forum, which the courier serves side by side, stand in one line here. Their tickets
are stored with their markers, so that after a kill it is known who was first: only that one can have been sent.
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
PATIENCE: Final = 30.0  # seconds for an earlier one of a former life to be looked for first
AGAIN: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Mark:
    """What is stored with a marker: the chat, the highest id known in its space (0: none), and the place in its line.

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
class Chat:
    """`waiting`: who has a ticket; `doubts`: parts that may be on screen unknown; `looking`: those looked for. Each with
    the time since when.
    """

    waiting: dict[Address, tuple[int, float]] = field(default_factory=dict)
    doubts: dict[str, float] = field(default_factory=dict)
    looking: dict[str, tuple[int, float]] = field(default_factory=dict)
    sending: asyncio.Future[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def live(self) -> dict[Address, int]:
        """The tickets of those whose send is still to be expected."""
        return {address: ticket for address, (ticket, since) in self.waiting.items() if monotonic() - since < STALE}

    def is_next(self, address: Address) -> bool:
        live = self.live()
        return self.sending is None and min(live, key=lambda a: live[a], default=address) == address

    def doubted(self, part: str) -> bool:
        """Whether any part but this one may be on screen unknown."""
        return any(other != part and monotonic() - since < FORGOTTEN for other, since in self.doubts.items())

    def ahead_of(self, part: str, ticket: int) -> bool:
        """Whether one that stood before `part` is looked for."""
        others = (found for name, found in self.looking.items() if name != part)
        return any(other < ticket and monotonic() - since < FORGOTTEN for other, since in others)

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        return not (self.waiting or self.doubts or self.looking or self.sending)


class Lines:
    """The line of each chat. `born`: tickets below are of former lives."""

    def __init__(self, born: int) -> None:
        self._born = self._ticket = born
        self._chats: dict[int, Chat] = {}
        self._looked: Counter[int] = Counter()

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
            self._chats[chat].tell()
            self._tidy(chat)

    @asynccontextmanager
    async def turn(self, chat: int, address: Address, part: str) -> AsyncIterator[None]:
        """The block sends `part`. Unless `surely` is called in it, the part is in doubt after it.

        Errors: Retryable while another part of this chat is looked for.
        """
        line = self._of(chat)
        try:
            await self._wait(line, address)
            if line.doubted(part):
                raise Retryable("another message to this chat is looked for first", retry_after=AGAIN)
            line.doubts[part] = monotonic()
            line.sending = asyncio.get_running_loop().create_future()
            try:
                yield
            finally:
                line.sending.set_result(None)
                line.sending = None
        finally:
            self.leave(chat, address)

    async def _wait(self, line: Chat, address: Address) -> None:
        while not line.is_next(address):
            changed = line.changed
            try:
                async with asyncio.timeout(STALE / 10):
                    await changed.wait()
            except TimeoutError:
                continue

    def surely(self, chat: int, part: str) -> None:
        """What became of `part` is known."""
        if chat in self._chats:
            self._chats[chat].doubts.pop(part, None)
            self._chats[chat].looking.pop(part, None)
            self._tidy(chat)

    async def landed(self, chats: Iterable[int]) -> None:
        """Wait for the sends to these chats that are under way now."""
        under_way = [line.sending for chat in chats if (line := self._chats.get(chat)) and line.sending]
        if under_way:
            await asyncio.wait(under_way)

    def chats(self) -> list[int]:
        """Chats in which anything goes on."""
        return list(self._chats)

    def doubts(self, chats: Iterable[int]) -> int:
        """How many parts may be on screen unknown in these chats."""
        return sum(len(line.doubts) for chat in chats if (line := self._chats.get(chat)))

    @asynccontextmanager
    async def look(self, part: str, mark: Mark) -> AsyncIterator[None]:
        """The block looks for `part`; when it ends without an error, the look is over.

        Errors: Retryable while one that stood before it is looked for: what is found may be that one's.
        """
        line = self._of(mark.chat)
        line.doubts.setdefault(part, monotonic())
        _, since = line.looking.setdefault(part, (mark.ticket, monotonic()))
        if line.ahead_of(part, mark.ticket) or self._others_first(mark, since):
            raise Retryable("an earlier message to this chat is looked for first", retry_after=AGAIN)
        yield
        self._looked[mark.chat] += 1
        self.surely(mark.chat, part)

    def _others_first(self, mark: Mark, since: float) -> bool:
        """A former life ended with several in line: the first of them may not have been heard of yet."""
        former = mark.ahead > 0 and mark.ticket <= self._born
        return former and not self._looked[mark.chat] and monotonic() - since < PATIENCE

    def _of(self, chat: int) -> Chat:
        return self._chats.setdefault(chat, Chat())

    def _tidy(self, chat: int) -> None:
        if chat in self._chats and self._chats[chat].is_idle:
            del self._chats[chat]
