"""Wake-ups. They may be lost without harm: the pulse rings again, and whoever listens looks now and then by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from weakref import WeakSet

REST: Final = timedelta(seconds=15)
"""How long whoever listens waits at most: against a fault of whatever should have rung."""


class Listener:
    """One listener: topics that rang since it last looked, each once, in the order of their first ring."""

    def __init__(self) -> None:
        self._heard: dict[str, None] = {}
        self._event = asyncio.Event()

    def hear(self, topic: str) -> None:
        self._heard[topic] = None
        self._event.set()

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> str:
        await self._event.wait()
        topic = next(iter(self._heard))
        del self._heard[topic]
        if not self._heard:
            self._event.clear()
        return topic

    async def within(self, seconds: float) -> bool:
        """Wait for a ring, at most `seconds`; all that rang counts as heard. Whether anything did."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._event.wait()
        except TimeoutError:
            return False
        self._heard.clear()
        self._event.clear()
        return True


class LocalNotifier:
    """Implements `contract.Bell` inside one process. A listener is forgotten when nobody holds it any more."""

    def __init__(self) -> None:
        self._ears: dict[str, WeakSet[Listener]] = {}

    def ring(self, topic: str) -> None:
        ears = self._ears.get(topic)
        if ears is None:
            return
        for ear in list(ears):
            ear.hear(topic)
        if not ears:
            del self._ears[topic]

    def listen(self, *topics: str) -> Listener:
        ear = Listener()
        for topic in topics:
            self._ears.setdefault(topic, WeakSet()).add(ear)
        return ear

    def topics(self) -> list[str]:
        """What somebody may be listening for."""
        return list(self._ears)

    def ring_here(self, topic: str) -> None:
        """Ring in this process alone."""
        LocalNotifier.ring(self, topic)

    def tell(self, topic: str) -> None:
        """Have the other nodes hear `topic`, and nobody here. There are none."""


class SharedNotifier(LocalNotifier):
    """Rings here at once, and by `tell` in the other nodes soon."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def ring(self, topic: str) -> None:
        super().ring(topic)
        self._tell(topic)

    def tell(self, topic: str) -> None:
        self._tell(topic)
