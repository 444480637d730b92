"""A process that loads LiteLLM as Signalbox does and tells whom that would have reached: `python -m tests.security.supply.offline`.

Nobody is reached: whatever asks for a name or for a connection is told here and refused.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from typing import Final

ASKED: Final[list[str]] = []
EVENTS: Final = frozenset(
    {
        *("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"),
        *("socket.gethostbyaddr", "urllib.Request", "http.client.connect"),
    }
)


THREAD_ENDS_WITHIN: Final = 10.0
"""Seconds for a thread that has nothing more to do."""


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in EVENTS:
        ASKED.append(f"{event} {arguments[1:] if event in ('socket.connect', 'socket.sendto') else arguments}")
        raise OSError(f"{event} is refused here")


async def load() -> bool:
    """True if it is there and was rehearsed. The variables are those that Signalbox sets before it asks."""
    from bot.settings.settings import environment
    from runtime.models.lean import parts
    from runtime.models.litellm_loading import LIBRARY

    environment()
    await LIBRARY.get("openai/gpt-5")
    return LIBRARY.is_loaded and parts.is_lean()


def others() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one is not threading.main_thread()]


def ended(thread: threading.Thread) -> bool:
    """True once it has: the one that loads LiteLLM may be a moment behind."""
    thread.join(THREAD_ENDS_WITHIN)
    return not thread.is_alive()


def main() -> None:
    sys.addaudithook(refuse)
    loaded = asyncio.run(load())
    alive = [one.name for one in others() if not ended(one)]
    asked = list(ASKED)
    try:
        socket.getaddrinfo("example.org", 443)
    except OSError:
        seen = ASKED[len(asked) :]
    sys.stdout.write(json.dumps({"loaded": loaded, "asked": asked, "alive": alive, "seen": seen}))


if __name__ == "__main__":
    main()
