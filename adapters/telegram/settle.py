"""Finding a message whose answer was lost: Telegram has no key, no marker and no history, but ids that grow.

An id above the floor, which the marker stored, that is no receipt of ours and no message of others may be it. It is
probed with `editMessageReplyMarkup` carrying the part's own buttons, or none where it has none. That changes nothing:

    "message is not modified"                       it is there, it is ours, and has these buttons: found
    "message to edit not found", "can't be edited"  not this one

Never with text: that would overwrite a message of ours whose id is not the right one. A message without buttons answers
to empty ones as one with buttons to its own ("not modified": reported for messages without any in, for one,
eternnoir/pyTelegramBotAPI#1830; the server compares what it is given with what is there). So a probe tells that a
message of ours is there, not which, and `line.py` sees to it that only one can be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from itertools import islice
from time import monotonic
from typing import Final

from adapters.telegram.known import BEYOND, Known, candidates, space_of
from adapters.telegram.line import Lines, Mark
from adapters.telegram.memory import Memory
from adapters.telegram.pacer import Pacer
from adapters.telegram.rooms import is_group, message_name
from adapters.telegram.settings import Waits
from runtime.contract import Attempt, Look, Now, Part, Receipt, Settled, Shown
from runtime.errors import Rejected, Retryable, Uncertain

BUDGET: Final = 60
BUDGET_IN_A_GROUP: Final = 12
SLACK: Final = 3
"""Ids above the highest known one that may be taken by nothing we know of, while several messages are looked for."""
SHORTLY: Final = timedelta(seconds=1)
LATER: Final = timedelta(seconds=2)
PATIENCE: Final = timedelta(seconds=75)
"""How long after its marker a message waits for those of other chats to be found."""
KEPT: Final = 1_000
"""Searches in mind: more are never under way, the rest were given up by the courier."""


class Found(Enum):
    """What a probe met under an id."""

    OURS = "ours"  # a message of ours with these buttons
    OTHERS = "others"  # a message of somebody else, or one that cannot be edited any more
    NOTHING = "nothing"  # no message of this chat


Probe = Callable[[Part, int, int], Awaitable[Found]]
"""Part, chat and id. Errors: as `show`."""


@dataclass(slots=True)
class Search:
    """What is known of one attempt's message: ids that are surely not its, and what this look has tried.

    An id that was below the highest known one when it was probed was given by then, or never will be. One above it may
    be given to a late message after the probe.
    """

    floor: int
    upto: int = 0  # the last id that this look may try; 0 between two looks
    ruled_out: set[int] = field(default_factory=set)
    tried: set[int] = field(default_factory=set)

    def end(self) -> None:
        """A look is over."""
        self.upto = 0
        self.tried.clear()

    def note(self, number: int, top: int) -> None:
        """It was none, and `top` was the highest known id before it was probed."""
        self.tried.add(number)
        if number < top:
            self.ruled_out.add(number)


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

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Look once. Errors: Retryable while it cannot be told yet, or goes on."""
        mark = Mark.parse(attempt.floor)
        if mark is None:
            return Look.UNKNOWN
        async with self._lines.look(part.id, mark):
            await self._memory.drained()
            await self._lines.landed(self._neighbours(mark.chat))
            await self._memory.recall(mark.chat, part.address, attempt.marked_at)
            search = self._search(part, attempt, mark)
            return await self._look(part, attempt, mark.chat, search) if search else Look.UNKNOWN

    def _neighbours(self, chat: int) -> list[int]:
        """Chats that share the counter, in which something goes on."""
        return [other for other in self._lines.chats() if space_of(other) == space_of(chat)]

    def _search(self, part: Part, attempt: Attempt, mark: Mark) -> Search | None:
        """Where nothing was known at the marker, what the store knows of the time before it counts."""
        key = part.id, attempt.number
        if key not in self._searches:
            floor = mark.top or self._memory.floor(mark.chat, attempt.marked_at)
            if not floor:
                return None
            while len(self._searches) >= KEPT:
                del self._searches[next(iter(self._searches))]
            self._searches[key] = Search(floor)
        return self._searches[key]

    async def _look(self, part: Part, attempt: Attempt, chat: int, search: Search) -> Settled:
        space, end = self._known.space(chat), monotonic() + self._waits.look.total_seconds()
        budget = BUDGET_IN_A_GROUP if is_group(chat) else BUDGET
        if not search.upto:
            search.upto = max(search.floor, space.top) + self._beyond(chat)
            self._leave_to_others(search, chat, budget, attempt)
        while (number := next(self._left(search, chat), None)) is not None:
            if len(search.tried) >= budget:
                return self._over(part, attempt, Look.UNKNOWN)
            if monotonic() > end:
                raise Retryable(f"looking for it: {len(search.tried)} ids tried", retry_after=SHORTLY)
            top = space.top
            match await self._probed(part, chat, number):
                case Found.OURS:
                    space.note(number)
                    return self._over(part, attempt, Shown(Receipt(message_name(chat, number))))
                case Found.OTHERS:
                    space.note(number)
                    search.upto = max(search.upto, number + BEYOND)  # what we are not told of goes on
                case Found.NOTHING:
                    pass
                case None:
                    return self._over(part, attempt, Look.UNKNOWN)
            search.note(number, top)
        search.end()
        return Look.ABSENT

    def _leave_to_others(self, search: Search, chat: int, budget: int, attempt: Attempt) -> None:
        """More ids than may be tried here: what is found in other chats leaves fewer. Errors: Retryable meanwhile."""
        more = len(list(islice(self._left(search, chat), budget + 1))) > budget
        recent = self._now() - attempt.marked_at < PATIENCE
        if more and recent and self._lines.doubts(self._neighbours(chat)) > 1:
            search.end()
            raise Retryable("messages to other chats are looked for first", retry_after=LATER)

    def _beyond(self, chat: int) -> int:
        """How far above the highest known id: each lost message of this space may have one there."""
        return max(BEYOND, self._lines.doubts(self._neighbours(chat)) + SLACK)

    def _left(self, search: Search, chat: int) -> Iterator[int]:
        known = self._known.space(chat).above(search.floor)
        return candidates(search.floor, search.upto, known, search.ruled_out | search.tried)

    async def _probed(self, part: Part, chat: int, number: int) -> Found | None:
        """None when this chat does not let us look."""
        await self._pacer.turn(chat)
        try:
            return await self._probe(part, chat, number)
        except Uncertain as error:
            raise Retryable(f"cut while looking: {error}", retry_after=SHORTLY) from error
        except Rejected:
            return None

    def _over(self, part: Part, attempt: Attempt, settled: Settled) -> Settled:
        self._searches.pop((part.id, attempt.number), None)
        return settled
