"""Addresses of a name: the one question that is asked of the network before a request is judged."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

LookUp = Callable[[str], Awaitable[Sequence[str]]]
"""What a host's addresses are, as texts. Errors: OSError when it has none."""

LOOKUPS_AT_ONCE: Final = 4


def system_addresses(host: str) -> Sequence[str]:
    """Addresses by the machine's own resolver, of both families; it may take half a minute to say nothing."""
    return [str(where[0]) for *_, where in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class SystemLookUp:
    """LookUp in separate threads.

    A resolver that hangs would otherwise fill the threads that everything else in the process uses, and hold up its end:
    these are few, and nobody waits for them. One that was given up keeps its turn until it is really over.
    """

    def __init__(self, ask: Callable[[str], Sequence[str]] = system_addresses) -> None:
        self._ask = ask
        self._turn = asyncio.Semaphore(LOOKUPS_AT_ONCE)

    async def __call__(self, host: str) -> Sequence[str]:
        await self._turn.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()

        def settle(found: Sequence[str] | Exception) -> None:
            self._turn.release()
            if answer.done():  # nobody waits any more
                return
            if isinstance(found, Exception):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        threading.Thread(target=self._run, args=(host, loop, settle), name="look-up", daemon=True).start()
        return await answer

    def _run(
        self, host: str, loop: asyncio.AbstractEventLoop, settle: Callable[[Sequence[str] | Exception], None]
    ) -> None:
        found: Sequence[str] | Exception
        try:
            found = self._ask(host)
        except (OSError, UnicodeError) as error:
            found = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, found)
