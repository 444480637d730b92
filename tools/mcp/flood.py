"""Bound of what a server may say in a second: one that floods waits for itself, and nobody else does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from tools.mcp.progress import PROGRESS, is_progress

MOST_MESSAGES: Final = 1_000  # in a second: each costs the process some 50 µs of its time
MOST_UNASKED: Final = 20  # of these, such as the server thought of itself: notifications and requests to us
WINDOW: Final = 1.0  # seconds
CHANGED: Final = "notifications/tools/list_changed"
# Others, such as its log, would only be checked and dropped; and one in a wrong form is a line in our log.
HEARD: Final = (CHANGED, "notifications/cancelled", "notifications/subscriptions/acknowledged")

Item = SessionMessage | Exception


class Gauge:
    """Counts by the second. Pure but for `ticks`, which counts seconds from anywhere."""

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._since = ticks()
        self._messages = 0
        self._unasked = 0

    def passes(self, *, unasked: bool) -> bool:
        """Count a message: whether it is to be looked at."""
        self._messages += 1
        self._unasked += unasked
        return not unasked or self._unasked <= MOST_UNASKED

    def wait(self) -> float:
        """Seconds until the next message may be read."""
        now = self._ticks()
        if now - self._since >= WINDOW:
            self._since, self._messages, self._unasked = now, 0, 0
        return self._since + WINDOW - now if self._messages >= MOST_MESSAGES else 0


class Tamed:
    """Implements the SDK's ReadStream around another: with a bound, and with an eye on what concerns us.

    `changed` is called when the server says that its tools are others now, `ended` when nothing more comes.
    """

    def __init__(
        self,
        inner: ReadStream[Item],
        *,
        changed: Callable[[], None],
        ended: Callable[[], None],
        gauge: Gauge | None = None,
    ) -> None:
        self._inner = inner
        self._changed = changed
        self._ended = ended
        self._gauge = gauge or Gauge()

    async def receive(self) -> Item:
        while True:
            item = await self._next()
            is_heard = self._is_heard(item)  # asked first: that the tools changed counts in any flood
            if self._gauge.passes(unasked=self._is_unasked(item)) and is_heard:
                return _complete(item)

    async def _next(self) -> Item:
        if wait := self._gauge.wait():
            await asyncio.sleep(wait)
        try:
            return await self._inner.__anext__()
        except BaseException:
            self._ended()
            raise

    def _is_unasked(self, item: Item) -> bool:
        return isinstance(item, Exception) or isinstance(item.message, JSONRPCNotification | JSONRPCRequest)

    def _is_heard(self, item: Item) -> bool:
        if isinstance(item, Exception):  # what could not be read
            return False
        message = item.message
        if not isinstance(message, JSONRPCNotification):
            return True
        if message.method == CHANGED:
            self._changed()
        return message.method in HEARD or (message.method == PROGRESS and is_progress(message.params))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self.receive()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _complete(item: Item) -> Item:
    """A result that doesn't say its kind is a whole one: the specification has clients take it so, and the SDK refuses it."""
    if not isinstance(item, Exception) and isinstance(item.message, JSONRPCResponse):
        item.message.result.setdefault("resultType", "complete")
    return item
