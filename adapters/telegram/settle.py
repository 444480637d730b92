"""Finding a message whose answer was lost: Telegram has no key, no marker and no history, but ids that grow.

An id above the floor, which the marker stored, that is no receipt of ours and no message of others may be it. It is
probed with `editMessageReplyMarkup` carrying the part's own buttons, or none where it has none. That changes nothing:

    "message is not modified"                       it is there, it is ours, and has these buttons: found
    "message to edit not found", "can't be edited"  not this one

Never with text: that would overwrite a message of ours whose id is not the right one. A message without buttons answers
to empty ones as one with buttons to its own ("not modified": reported for messages without any in, for one,
eternnoir/pyTelegramBotAPI#1830; the server compares what it is given with what is there). So a probe tells that a
message of ours is there, not which; `line.py` sees to it that this is enough.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from itertools import islice
from time import monotonic
from typing import Final

from adapters.telegram.known import BEYOND, BOX, Known, beyond, candidates, likeliest, space_of
from adapters.telegram.line import Lines, Mark
from adapters.telegram.memory import Memory
from adapters.telegram.pacer import Pacer
from adapters.telegram.rooms import is_group, message_name
from adapters.telegram.settings import Waits
from runtime.contract import Attempt, Look, Now, Part, Receipt, Settled, Shown
from runtime.errors import Rejected, Retryable, Uncertain

BUDGET: Final = 60
BUDGET_IN_A_GROUP: Final = 12
LATE: Final = timedelta(seconds=25)
"""After the marker a request is not applied any more. Source: the second look, which is the last."""
SHORTLY: Final = timedelta(seconds=1)
LATER: Final = timedelta(seconds=2)
PATIENCE: Final = timedelta(seconds=100)
"""How long after its marker a message waits for those of other chats to be found, and leave fewer ids."""
KEPT: Final = 1_000
"""Searches in mind, and chats, and ids of each: more are never under way."""


class Found(Enum):
    """What a probe met under an id."""

    OURS = "ours"  # a message of ours with these buttons
    OTHERS = "others"  # a message of somebody else, or one that cannot be edited any more
    NOTHING = "nothing"  # no message of this chat


Probe = Callable[[Part, int, int], Awaitable[Found]]
"""Part, chat and id. Errors: as `show`."""


@dataclass(slots=True)
class Search:
    """One look for one attempt's message.

    An id that was below the highest known one when it was probed was given by then, or never will be. One above it may
    be given to a late message after the probe, so it counts for looks that began before.
    """

    began: datetime
    floor: int = 0
    upto: int = 0  # the last id that this look may try; 0 between two looks
    tried: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Nothing:
    """Ids under which a chat has no message: for good, or when it was probed last."""

    for_good: set[int] = field(default_factory=set)
    lately: dict[int, datetime] = field(default_factory=dict)

    def note(self, number: int, top: int, at: datetime) -> None:
        """Nothing was there, and `top` was the highest known id before the probe."""
        if number < top:
            self.for_good.add(number)
        else:
            self.lately[number] = at
        while len(self.lately) + len(self.for_good) > KEPT:
            self.lately.clear()
            self.for_good.clear()

    def since(self, began: datetime) -> set[int]:
        return self.for_good | {number for number, at in self.lately.items() if at >= began}


class Settling:
    """Looks for the lost messages of one account."""

    def __init__(self, *, probe: Probe, known: Known, lines: Lines, memory: Memory, waits: Waits, now: Now) -> None:
        self._probe = probe
        self._known = known
        self._lines = lines
        self._memory = memory
        self._waits = waits
        self._now = now
        self._pacer = Pacer(waits)
        self._searches: dict[tuple[str, int], Search] = {}
        self._nothing: dict[int, Nothing] = {}

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Look once. Errors: Retryable while it cannot be told yet, or goes on."""
        mark = Mark.parse(attempt.floor)
        if mark is None:
            return Look.UNKNOWN
        search = self._search(part, attempt)
        async with self._lines.look(part.id, mark):
            await self._memory.drained()
            await self._lines.landed(self._neighbours(mark.chat))
            await self._memory.recall(mark.chat, part.address, attempt.marked_at)
            # Where nothing was known at the marker, what the store knows of the time before it counts.
            search.floor = search.floor or mark.top or self._memory.floor(mark.chat, attempt.marked_at)
            settled = await self._look(part, mark, search, attempt) if search.floor else Look.UNKNOWN
        self._searches.pop((part.id, attempt.number), None)
        if settled is not Look.ABSENT:
            self._lines.surely(mark.chat, part.id)
        return settled

    def _neighbours(self, chat: int) -> list[int]:
        """Chats that share the counter, in which something goes on."""
        return [other for other in self._lines.chats() if space_of(other) == space_of(chat)]

    def _search(self, part: Part, attempt: Attempt) -> Search:
        """The look that is under way for this attempt, or a new one."""
        while len(self._searches) >= KEPT:
            del self._searches[next(iter(self._searches))]
        return self._searches.setdefault((part.id, attempt.number), Search(self._now()))

    async def _look(self, part: Part, mark: Mark, search: Search, attempt: Attempt) -> Settled:
        chat = mark.chat
        space, end = self._known.space(chat), monotonic() + self._waits.look.total_seconds()
        budget = BUDGET_IN_A_GROUP if is_group(chat) else BUDGET
        nothing = self._nothing_in(chat)
        if not search.upto:
            self._begin(search, chat, budget, attempt)
        while (number := self._next(search, mark)) is not None:
            if len(search.tried) >= budget:
                self._wait_for([other for other in self._neighbours(chat) if other != chat], attempt)
                return Look.UNKNOWN
            if monotonic() > end:
                raise Retryable(f"looking for it: {len(search.tried)} ids tried", retry_after=SHORTLY)
            top = space.top
            found = await self._probed(part, chat, number)
            search.tried.add(number)
            match found:
                case Found.OURS:
                    space.note(number)
                    return Shown(Receipt(message_name(chat, number)))
                case Found.OTHERS:
                    space.note(number)
                    search.upto = max(search.upto, number + BEYOND)  # what we are not told of goes on
                case Found.NOTHING:
                    nothing.note(number, top, self._now())
                case None:
                    return Look.UNKNOWN
        return Look.ABSENT

    def _begin(self, search: Search, chat: int, budget: int, attempt: Attempt) -> None:
        """Decide where this look ends.

        Errors: Retryable where a group has more ids than it may try, and private chats, which may try many, look still.
        """
        space, neighbours = self._known.space(chat), self._neighbours(chat)
        unknown = self._count(search, chat, space.top, BUDGET)
        above = beyond(unknown, self._lines.doubts(neighbours), is_box=space_of(chat) == BOX)
        later = space.after(attempt.marked_at + LATE) or sys.maxsize
        upto = min(max(search.floor, space.top) + above, later - 1)
        if is_group(chat) and self._count(search, chat, upto, budget) > budget:
            self._wait_for([other for other in neighbours if not is_group(other)], attempt)
        search.upto = upto

    def _count(self, search: Search, chat: int, upto: int, most: int) -> int:
        return sum(1 for _ in islice(self._between(search, chat, upto), most + 1))

    def _wait_for(self, chats: Sequence[int], attempt: Attempt) -> None:
        """Errors: Retryable while messages to these chats are looked for, and it is worth waiting for that."""
        if self._lines.doubts(chats) and self._now() - attempt.marked_at < PATIENCE:
            raise Retryable("messages to other chats are looked for first", retry_after=LATER)

    def _next(self, search: Search, mark: Mark) -> int | None:
        """The id that this look tries next; None when it has tried all."""
        left = list(self._between(search, mark.chat, search.upto))
        taken = list(candidates(search.floor, search.upto, self._known.space(mark.chat).above(search.floor), ()))
        return likeliest(left, taken, self._lines.rank(self._neighbours(mark.chat), mark)) if left else None

    def _between(self, search: Search, chat: int, upto: int) -> Iterator[int]:
        known = self._known.space(chat).above(search.floor)
        nothing = self._nothing_in(chat).since(search.began)
        return candidates(search.floor, upto, known, nothing | search.tried)

    def _nothing_in(self, chat: int) -> Nothing:
        while len(self._nothing) > KEPT:
            del self._nothing[next(iter(self._nothing))]
        return self._nothing.setdefault(chat, Nothing())

    async def _probed(self, part: Part, chat: int, number: int) -> Found | None:
        """None when this chat does not let us look."""
        await self._pacer.turn(chat)
        try:
            return await self._probe(part, chat, number)
        except Uncertain as error:
            raise Retryable(f"cut while looking: {error}", retry_after=SHORTLY) from error
        except Rejected:
            return None
