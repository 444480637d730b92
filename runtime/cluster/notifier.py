"""Wake-ups. A lost one does no harm: the poller repeats it, and listeners look now and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final
from weakref import WeakSet

from runtime.contract import Address, room_topic

REST: Final = timedelta(seconds=15)
"""How long whoever listens waits at most: against a fault of whatever should have notified."""

SWEEP_LEAST: Final = 100
"""Topics beyond twice those with listeners, from which on the others are dropped."""


class Listener:
    """One listener: topics notified since it last looked, each once, in the order of their first notification: `heard`."""

    def __init__(self) -> None:
        self.heard: dict[str, None] = {}
        self._event = asyncio.Event()

    def wake(self, topic: str) -> None:
        self.heard[topic] = None
        self._event.set()

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> str:
        await self._event.wait()
        topic = next(iter(self.heard))
        del self.heard[topic]
        if not self.heard:
            self._event.clear()
        return topic

    def forget(self) -> None:
        """All that rang counts as heard."""
        self.heard.clear()
        self._event.clear()

    async def within(self, seconds: float) -> bool:
        """Wait for a ring, at most `seconds`; all that rang counts as heard. Whether anything did."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._event.wait()
        except TimeoutError:
            return False
        self.forget()
        return True


class Caller:
    """One who is called with each topic, as it is notified."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self.wake: Final = told


async def rung(rings: AsyncIterator[str], seconds: float) -> None:
    """Wait until it rings, at most `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await anext(rings)


class LocalNotifier:
    """Implements `contract.Notifier` inside one process. A listener is forgotten when nobody holds it any more."""

    def __init__(self) -> None:
        self._listeners: dict[str, WeakSet[Listener | Caller]] = {}
        self._swept = 0

    def notify(self, topic: str) -> None:
        listeners = self._listeners.get(topic)
        if listeners is None:
            return
        for listener in list(listeners):
            listener.wake(topic)
        if not listeners:
            del self._listeners[topic]

    def notify_room(self, address: Address) -> None:
        """Tell those who look at this room."""
        self.notify(room_topic(address))

    def listen(self, *topics: str) -> Listener:
        self._add(listener := Listener(), topics)
        return listener

    @contextmanager
    def calling(self, told: Callable[[str], None], *topics: str) -> Iterator[None]:
        self._add(caller := Caller(told), topics)
        try:
            yield
        finally:
            for topic in topics:
                self._listeners.get(topic, WeakSet()).discard(caller)

    def _add(self, new: Listener | Caller, topics: Sequence[str]) -> None:
        if len(self._listeners) > 2 * self._swept + SWEEP_LEAST:  # a room that nobody rings again would stay
            self._listeners = {topic: listeners for topic, listeners in self._listeners.items() if listeners}
            self._swept = len(self._listeners)
        for topic in topics:
            self._listeners.setdefault(topic, WeakSet()).add(new)

    def topics(self) -> list[str]:
        """Topics that somebody may be listening for."""
        return list(self._listeners)

    def notify_here(self, topic: str) -> None:
        """Notify this process alone."""
        LocalNotifier.notify(self, topic)

    def tell(self, topic: str) -> None:
        """Have the other nodes hear `topic`, and nobody here. There are none."""


class SharedNotifier(LocalNotifier):
    """Notifies here at once, and by `tell` in the other nodes soon."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def notify(self, topic: str) -> None:
        super().notify(topic)
        self._tell(topic)

    def tell(self, topic: str) -> None:
        self._tell(topic)
