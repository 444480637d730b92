"""Finding a message whose answer was lost: Telegram has no key, no marker and no history, but ids that grow.

An id above the floor, which the marker stored, that is no receipt of ours and no message of others may be it. It is
probed with `editMessageReplyMarkup` carrying the part's own buttons, or none where it has none. That changes nothing:

    "message is not modified"                       it is there, it is ours, and has these buttons: found
    "message to edit not found", "can't be edited"  not this one

Never with text: that would overwrite a message of ours whose id is not the right one. A message without buttons answers
to empty ones as one with buttons to its own ("not modified": reported for messages without any in, for one,
eternnoir/pyTelegramBotAPI#1830; the server compares what it is given with what is there). So a probe tells that a
message of ours is there, not which; `line.py` sees to it that this is enough.

Looks go on side by side, and each makes the probe that is worth most to all: the message that was tried least and marked
first, under the lowest id that it may have. Sent in the order of their markers, each is found by its first probe.
`search.py` tells when a message is nowhere.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import islice
from time import monotonic
from typing import Final

from adapters.telegram.rooms import is_group, message_name
from adapters.telegram.settings import Waits
from adapters.telegram.settling.known_ids import BEYOND, BOX, KnownIds, space_of
from adapters.telegram.settling.pacer import Pacer
from adapters.telegram.settling.search import Search, Searches, reach, strangers
from adapters.telegram.settling.send_queue import Mark, SendQueues
from adapters.telegram.settling.stored_ids import StoredIds
from runtime.contract import Attempt, Now, Part, Receipt, Settled, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain

BUDGET: Final = 60
BUDGET_IN_A_GROUP: Final = 12
EMPTY_AT_FIRST: Final = 3
"""Ids of a supergroup without a message, after which a first look is over: nobody there is looked for in vain for long."""
BRIEF: Final = 5.0  # seconds of the first look where others are looked for too: the second begins 25 s after the marker
SHORTLY: Final = timedelta(seconds=1)
LATER: Final = timedelta(seconds=2)
SENT_REMEMBERED: Final = 1_024  # sends: at 30 a second half a minute, longer than a lease
GLANCE: Final = 0.05  # seconds
OTHER_CHATS_WAIT: Final = timedelta(seconds=100)
"""How long after its marker a message waits for those of other chats to be found, and leave fewer ids."""
PROBES_AT_ONCE: Final = 3
"""Probes under way at once: each is chosen by what the others told."""
AHEAD: Final = 4
"""So many places in the order of the markers one probe more is worth: ids are in about that order, not quite."""
STEP_MAX_IDS: Final = 200
"""Ids that one step thinks of: more than any look may try."""


class Found(Enum):
    """Result of a probe under an id."""

    OURS = "ours"  # a message of ours with these buttons
    OTHERS = "others"  # a message of somebody else, or one that cannot be edited any more
    NOTHING = "nothing"  # no message of this chat


Probe = Callable[[Part, int, int], Awaitable[Found]]
"""Part, chat and id. Errors: as `show`."""


@dataclass(frozen=True, slots=True)
class Scene:
    """State that one look sees now. `left`: ids that its message may have. `near`: ids that all probe first."""

    left: Sequence[int]
    near: Sequence[int]
    others: Sequence[tuple[int, str]]
    helped: Sequence[Search]


class Settling:
    """Looks for the lost messages of one account."""

    def __init__(
        self, *, probe: Probe, known: KnownIds, lines: SendQueues, memory: StoredIds, waits: Waits, now: Now
    ) -> None:
        self._probe = probe
        self._known = known
        self._lines = lines
        self._memory = memory
        self._waits = waits
        self._now = now
        self._pacer = Pacer(waits)
        self._searches = Searches()
        self._hands = asyncio.Semaphore(PROBES_AT_ONCE)
        self._busy: dict[int, int] = {}  # chat to the id that is probed there now
        self._sent: OrderedDict[str, Receipt] = OrderedDict()

    def begin_anew(self) -> None:
        """Another process looked since. What was sent here and could not be recorded stays known."""
        self._searches = Searches()

    def sent(self, part: Part, receipt: Receipt) -> None:
        """Note what became of a send. Should it not be recorded, since the duty was lost meanwhile, it need not be looked for."""
        self._sent[part.id] = receipt
        if len(self._sent) > SENT_REMEMBERED:
            self._sent.popitem(last=False)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Look once. Errors: Retryable while it cannot be told yet, or goes on."""
        if receipt := self._sent.get(part.id):
            return Shown(receipt)
        mark = Mark.parse(attempt.floor)
        if mark is None:
            return SettleResult.UNKNOWN
        search = self._searches.of(part, mark, attempt, self._now())
        search.resting = False
        async with self._lines.look(part.id, mark):
            await self._memory.drained(search.ticks)
            await self._lines.landed(self._neighbours(mark.chat))
            await self._memory.recall(mark.chat, part.address, attempt.marked_at)
            # Where nothing was known at the marker, what the store knows of the time before it counts.
            search.floor = search.floor or mark.top or self._memory.floor(mark.chat, attempt.marked_at)
            settled = await self._look(search) if search.floor else SettleResult.UNKNOWN
        search.end(absent=settled is SettleResult.ABSENT and attempt.looks > 0)
        if settled is not SettleResult.ABSENT:
            self._searches.forget(part.id)
            self._lines.surely(mark.chat, part.id)
        return settled

    def _neighbours(self, chat: int) -> list[int]:
        """Chats that share the counter, in which something goes on."""
        return [other for other in self._lines.chats() if space_of(other) == space_of(chat)]

    async def _look(self, search: Search) -> Settled:
        end = monotonic() + self._waits.look.total_seconds()
        self._limit(search)
        while not search.met:
            scene = self._scene(search, await self._unheard(search.chat))
            if not scene.left:
                return SettleResult.ABSENT
            if search.closed or search.probes >= budget(search.chat):
                return SettleResult.UNKNOWN
            if self._is_brief(search, scene):
                return SettleResult.ABSENT  # so far; the second look tells
            if monotonic() > end:
                raise Retryable(f"checking: {len(search.tried)} ids tried", retry_after=SHORTLY)
            await self._step(search, scene)
        return Shown(Receipt(message_name(search.chat, search.met)))

    def _is_brief(self, search: Search, scene: Scene) -> bool:
        """True if a first look has done what it may: in a supergroup each probe that it spares is one for the second."""
        if search.attempt.looks:
            return False
        if search.upto and search.empty >= EMPTY_AT_FIRST:
            return True
        return bool(scene.others) and monotonic() - search.ticks > BRIEF

    def _limit(self, search: Search) -> None:
        """In a supergroup a look ends where it began, since nobody tells how many ids others take meanwhile."""
        if not search.upto and space_of(search.chat) != BOX:
            search.upto = max(search.floor, self._known.space(search.chat).top) + BEYOND

    # ------------------------------------------------------------------------------------------------------ the scene

    def _scene(self, search: Search, unheard: int) -> Scene:
        space = self._known.space(search.chat)
        others = self._others(search)
        base = search.base_in(space)
        last = search.upto or self._reach(search, base, others, unheard)
        edge = search.upto or base + strangers(len(others) + unheard) + 1
        end = space.after(search.since) or sys.maxsize
        unknown = range(search.floor + 1, min(last, end - 1) + 1)
        left = self._searches.left(search, islice(space.unknown(unknown), STEP_MAX_IDS), search.since)
        near = list(islice(space.unknown(range(search.floor + 1, min(edge, end - 1) + 1)), STEP_MAX_IDS))
        return Scene(left, near, others, [] if search.upto else self._helped(others))

    def _others(self, search: Search) -> list[tuple[int, str]]:
        """Other lost messages of its space that may have been applied before this look began: chat and part."""
        lost = self._lines.lost(self._neighbours(search.chat), search.ticks)
        return [
            (chat, part) for chat, part, ticket in lost if part != search.part.id and not self._is_told(part, ticket)
        ]

    def _is_told(self, part: str, ticket: int) -> bool:
        found = self._searches.get(part)
        return found is not None and found.mark.ticket == ticket and bool(found.met or found.absent)

    def _reach(self, search: Search, base: int, others: Sequence[tuple[int, str]], unheard: int) -> int:
        known = self._known.space(search.chat)

        def is_dead(number: int) -> bool:
            if unheard:
                return number in known
            return number in known or all(
                self._searches.cannot_be(number, chat, part, search.since) for chat, part in others
            )

        return reach(base, len(others) + unheard, is_dead)

    async def _unheard(self, chat: int) -> int:
        """Number of lost messages, stored by earlier processes, that nobody has looked for yet."""
        if space_of(chat) != BOX:
            return 0
        stored = Counter(other for other in await self._memory.unsettled() if space_of(other) == BOX)
        here = self._lines.count()
        return sum(max(0, number - here[other]) for other, number in stored.items())

    def _helped(self, others: Iterable[tuple[int, str]]) -> list[Search]:
        """Lost messages of others that any look may probe for: known well enough, and alone in their chats."""
        found = (self._searches.get(part) for chat, part in others if self._lines.is_alone(chat))
        return [each for each in found if each and each.floor and not (each.closed or each.resting)]

    # ------------------------------------------------------------------------------------------------------ the steps

    async def _step(self, search: Search, scene: Scene) -> None:
        """Make the probe that is worth most, or wait for those under way.

        Errors: Retryable where others must be looked for first, and as `_probed`.
        """
        if not self._wanted(search, scene):
            if self._now() - search.attempt.marked_at < OTHER_CHATS_WAIT and not self._may_go_alone(search, scene):
                raise Retryable("checking messages to other chats first", retry_after=LATER)
            await self._alone(search, scene)
            return
        if self._pick(search, scene) is None:
            await asyncio.sleep(GLANCE)
            return
        async with self._hands:
            await self._pacer.turn()
            if picked := self._pick(search, self._scene(search, 0)):
                await self._probed(*picked, search)

    def _may_go_alone(self, search: Search, scene: Scene) -> bool:
        """True if there is nobody to wait for."""
        return not scene.others or bool(search.upto)

    async def _alone(self, search: Search, scene: Scene) -> None:
        """Probe for this one alone, whose turn it may not be yet."""
        if search.chat in self._busy or not self._pacer.ready(search.chat):
            await asyncio.sleep(GLANCE)
            return
        async with self._hands:
            await self._pacer.turn()
            await self._probed(search, scene.left[0], search)

    def _wanted(self, search: Search, scene: Scene) -> list[tuple[Search, list[int]]]:
        """Messages worth probing for, with the ids to probe."""
        sought = ((each, self._searches.left(each, scene.near, search.since)) for each in [search, *scene.helped])
        wanted = [(each, ids) for each, ids in sought if ids and not each.met]
        private = any(not is_group(each.chat) for each, _ in wanted)
        # A group may try few ids: what private chats find it need not try.
        return [(each, ids) for each, ids in wanted if not (private and len(ids) > self._spare(each))]

    def _spare(self, search: Search) -> int:
        """Number of probes this look has left."""
        return budget(search.chat) - search.probes

    def _pick(self, search: Search, scene: Scene) -> tuple[Search, int] | None:
        """The next probe; None when each chat must rest."""
        wanted = self._wanted(search, scene)
        free = [w for w in wanted if w[0].chat not in self._busy and self._pacer.ready(w[0].chat) and self._spare(w[0])]
        if not free:
            return None
        places = {ticket: place for place, ticket in enumerate(sorted(each.mark.ticket for each, _ in wanted))}
        each, ids = min(free, key=lambda w: places[w[0].mark.ticket] + AHEAD * len(w[0].tried))
        return each, self._likeliest(each, ids)

    def _likeliest(self, search: Search, ids: Sequence[int]) -> int:
        """The lowest id above those of earlier ones, but for ids at which an earlier one is tried now."""
        after, taken = self._searches.after(search.mark.ticket), set(self._busy.values())
        return min(ids, key=lambda number: (number <= after, number in taken, number))

    async def _probed(self, search: Search, number: int, asking: Search) -> None:
        """Probe, and note what it told. Errors: Retryable, where it was its own message that was asked for."""
        space, at = self._known.space(search.chat), self._now()
        top = space.top
        self._busy[search.chat] = number
        self._pacer.take(search.chat)
        try:
            found = await self._probe(search.part, search.chat, number)
        except Uncertain as error:
            if search is asking:
                raise Retryable(f"interrupted while checking: {error}", retry_after=SHORTLY) from error
        except Retryable as error:
            if search is asking:
                search.resting = True
                raise
            self._pacer.pause(search.chat, error.retry_after or SHORTLY)
        except Rejected:
            search.closed = True
        else:
            search.probes += 1
            search.tried.add(number)
            self._note(search, number, found, top, at)
        finally:
            self._busy.pop(search.chat, None)

    def _note(self, search: Search, number: int, found: Found, top: int, at: datetime) -> None:
        is_box = space_of(search.chat) == BOX
        if found is Found.NOTHING:
            search.empty += 1
            self._searches.nothing(search.chat).note(number, top, at)
            return
        self._known.space(search.chat).note(number)
        self._searches.meet(number, search if found is Found.OURS else None, is_box=is_box)
        if search.upto:
            search.upto = max(search.upto, number + BEYOND)  # what we are not told of goes on


def budget(chat: int) -> int:
    return BUDGET_IN_A_GROUP if is_group(chat) else BUDGET
