"""Rate limits of one account: token buckets shared by posts, edits, looks and typing, and the order of turns.

A bucket holds at most `burst` tokens and gains one each `every`. Who finds too few waits in line at that bucket: more
urgent ones first, then who came first, so rooms take turns. Nobody waits in line at a bucket that is not what keeps
him, so a slow room holds up no other one.

Nothing is stored. All buckets start empty, since another process may have emptied them a moment ago.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final

from runtime.contract import Address, Bucket, Kind

NO_WAIT: Final = timedelta()
BUCKETS_REMEMBERED: Final = 1000
"""Buckets and pauses that are remembered before it is worth looking for those that are over."""

Place = tuple[int, int]
"""Where someone stands in a line: how urgent, and when they came."""


def ticking() -> timedelta:
    """Time that no clock setting moves."""
    return timedelta(microseconds=time.monotonic_ns() // 1000)


@dataclass(slots=True)
class Line:
    """One bucket: when it is full again, and who waits for its next token."""

    full_at: timedelta
    waiting: dict[Address, Place] = field(default_factory=dict)

    def ahead(self, of: Address, place: Place) -> int:
        return sum(other < place for room, other in self.waiting.items() if room != of)


class Rates:
    """The buckets of one account. Rooms are told how long to wait, and come back by themselves."""

    def __init__(
        self,
        buckets: Callable[[Address], Sequence[Bucket]] | None = None,
        ticks: Callable[[], timedelta] = ticking,
    ) -> None:
        self._buckets = buckets
        self._ticks = ticks
        self.start()

    @property
    def bound(self) -> bool:
        """True if there is anything to wait for."""
        return self._buckets is not None

    def start(self) -> None:
        """From here on this process sends for the account: nobody waits, and every bucket is empty."""
        self._began = self._ticks()
        self._lines: dict[str, Line] = {}
        self._kept: dict[Address, tuple[str, int]] = {}
        self._shut: dict[str, timedelta] = {}
        self._numbers = count()
        self._tidy_at = BUCKETS_REMEMBERED

    def take(self, address: Address, rank: int) -> timedelta:
        """A token of each bucket of `address` and nothing to wait for; or how long to wait before asking again.

        Who waits keeps a place in line until it takes its token or leaves.
        """
        if self._buckets is None:
            return NO_WAIT
        buckets, place = self._buckets(address), (rank, self._number(address))
        need = 2 if rank >= Kind.PROGRESS.rank else 1  # so that progress never takes what a reply would need next
        waits = [(self._wait(bucket, address, place, min(need, bucket.burst)), bucket.key) for bucket in buckets]
        wait, key = max([(self._shut_for(address), ""), *waits])
        self.leave(address)
        if wait > NO_WAIT:
            self._stand(address, key, place)
            return wait
        self._spend(buckets)
        return NO_WAIT

    def take_now(self, address: Address, rank: int) -> bool:
        """True if a token of each bucket was there and nobody was ahead; else nothing changed."""
        place = (rank, next(self._numbers))
        return self._took(address, lambda bucket: self._wait(bucket, address, place, 1))

    def give_back(self, address: Address) -> None:
        """The token that was taken last is not needed."""
        for bucket in self._buckets(address) if self._buckets else ():
            self._line(bucket).full_at -= bucket.every

    def spare(self, address: Address) -> bool:
        """As `take_now`, for what may as well not be sent: only if nobody waits, and half a burst is left for a reply."""
        return self._took(address, self._idle)

    def is_open(self, address: Address) -> bool:
        """True if the platform has not said to wait, for what takes no token."""
        return self._shut_for(address) <= NO_WAIT

    def leave(self, address: Address) -> None:
        """Nothing of this room waits for a token any more."""
        if kept := self._kept.pop(address, None):
            line = self._lines.get(kept[0])
            if line:
                line.waiting.pop(address, None)

    def shut(self, room: str, wait: timedelta) -> None:
        """The platform said to wait: nothing goes to this room meanwhile, or with "" nothing of the account."""
        if self._buckets is not None:
            self._shut[room] = max(self._shut.get(room, NO_WAIT), self._ticks() + wait)
            self._tidy()

    # ------------------------------------------------------------------------------------------------------ buckets

    def _took(self, address: Address, wait: Callable[[Bucket], timedelta]) -> bool:
        if self._buckets is None:
            return True
        buckets = self._buckets(address)
        if self._shut_for(address) > NO_WAIT or any(wait(bucket) > NO_WAIT for bucket in buckets):
            return False
        self._spend(buckets)
        return True

    def _line(self, bucket: Bucket) -> Line:
        line = self._lines.get(bucket.key)
        if line is None:
            self._tidy()
            line = self._lines[bucket.key] = Line(self._began + bucket.every * bucket.burst)
        return line

    def _wait(self, bucket: Bucket, address: Address, place: Place, need: int) -> timedelta:
        """Until there are tokens for everyone ahead in line, and `need` more."""
        line = self._line(bucket)
        return self._until(bucket, line, line.ahead(address, place) + need)

    def _idle(self, bucket: Bucket) -> timedelta:
        line, kept = self._line(bucket), (bucket.burst + 1) // 2
        if line.waiting or bucket.burst <= kept:
            return bucket.every
        return self._until(bucket, line, kept + 1)

    def _until(self, bucket: Bucket, line: Line, tokens: int) -> timedelta:
        ready: timedelta = line.full_at - bucket.every * (bucket.burst - tokens)
        return ready - self._ticks()

    def _spend(self, buckets: Sequence[Bucket]) -> None:
        now = self._ticks()
        for bucket in buckets:
            line = self._line(bucket)
            line.full_at = max(line.full_at, now) + bucket.every

    # -------------------------------------------------------------------------------------------------------- lines

    def _number(self, address: Address) -> int:
        """Place in the line; who waits already keeps theirs."""
        kept = self._kept.get(address)
        return kept[1] if kept else next(self._numbers)

    def _stand(self, address: Address, key: str, place: Place) -> None:
        self._kept[address] = (key, place[1])
        if key:
            self._lines[key].waiting[address] = place

    # ------------------------------------------------------------------------------------------------------- pauses

    def _shut_for(self, address: Address) -> timedelta:
        if not self._shut:
            return NO_WAIT
        until = max(self._shut.get("", NO_WAIT), self._shut.get(address.room, NO_WAIT))
        return max(until - self._ticks(), NO_WAIT) if until else NO_WAIT

    def _tidy(self) -> None:
        """Throw out what is over, so that a million rooms leave nothing behind. A full bucket is as good as a new one."""
        if len(self._lines) + len(self._shut) < self._tidy_at:
            return
        now = self._ticks()
        self._lines = {key: line for key, line in self._lines.items() if line.waiting or line.full_at > now}
        self._shut = {room: until for room, until in self._shut.items() if until > now}
        self._tidy_at = max(BUCKETS_REMEMBERED, 2 * (len(self._lines) + len(self._shut)))
