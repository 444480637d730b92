"""The other nodes: what they are told beside the rings of the notifier, and what is done here when they ring."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address, RunId

REMIND: Final = timedelta(seconds=15)
"""How often each listener here is woken for nothing, in case the ring from elsewhere was lost."""
STOP: Final = "stop:"
OUTBOX: Final = "outbox:"


def outbox_topic(address: Address) -> str:
    """Something waits for this room: for the node that has its courier."""
    return f"{OUTBOX}{address}"


def stop_topic(run_id: RunId) -> str:
    """A person ended this run: for the node that works on it."""
    return f"{STOP}{run_id}"


class Sends(Protocol):
    """Couriers, as far as they are needed here."""

    def called(self, address: Address) -> None:
        """Another node put something into the outbox for this room."""

    def look_around(self) -> None:
        """Other nodes may have put something into the outbox for any room."""


class PeerEvents:
    """Hears the rings of other nodes. `stop` ends a run if it is at work here, and says whether it is."""

    def __init__(self, *, notifier: LocalNotifier, couriers: Sends, stop: Callable[[RunId], bool]) -> None:
        self._notifier = notifier
        self._couriers = couriers
        self._stop = stop

    def stop(self, run_id: RunId) -> None:
        """End a run wherever it is at work. One that nobody hears of sees the mark with its next step."""
        if not self._stop(run_id):
            self._notifier.tell(stop_topic(run_id))

    def heard(self, topic: str) -> None:
        """Another node rang `topic`."""
        if topic.startswith(STOP):
            self._stop(RunId(topic.removeprefix(STOP)))
        elif topic.startswith(OUTBOX):
            self._couriers.called(Address.parse(topic.removeprefix(OUTBOX)))
        else:
            self._notifier.notify_here(topic)

    def look_around(self) -> None:
        """Rings may have been lost: everybody looks."""
        self._couriers.look_around()
        for topic in self._notifier.topics():
            self._notifier.notify_here(topic)

    async def remind(self) -> None:
        """Wake each listener now and then, one after another so that they do not all read at once; until cancelled."""
        while True:
            topics = self._notifier.topics()
            for topic in topics:
                self._notifier.notify_here(topic)
                await asyncio.sleep(REMIND.total_seconds() / len(topics))
            if not topics:
                await asyncio.sleep(REMIND.total_seconds())
