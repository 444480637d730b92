"""Servers that one address of PostgreSQL names: of several, the one that takes writes.

asyncpg knows such addresses too, but has one patience for all of them: where the first machine is gone without a word, it
never comes to the second.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import asyncpg

HOST_TIMEOUT_SECONDS: Final = 2.0
"""For one of several servers to be connected to: some milliseconds, and two times a lost packet that is sent again."""
ADDRESS: Final = re.compile(r"(postgres(?:ql)?://(?:[^/?#]*@)?)([^/?#]*)(.*)", re.DOTALL)
ATTRIBUTE: Final = "target_session_attrs="
FAILED: Final = (OSError, asyncpg.PostgresError, asyncpg.InternalClientError)


def each_of(url: str) -> Sequence[str]:
    """An address for each server. Of several only one that takes writes is of use, unless the address says something else.

    >>> each_of("postgresql://me:word@one,two:5433/x")
    ['postgresql://me:word@one/x?target_session_attrs=read-write', 'postgresql://me:word@two:5433/x?target_session_attrs=read-write']
    """
    found = ADDRESS.fullmatch(url)
    hosts = found[2].split(",") if found else []
    if not found or len(hosts) == 1:
        return [url]
    before, rest = found[1], found[3]
    if ATTRIBUTE not in rest:
        rest += f"{'&' if '?' in rest else '?'}{ATTRIBUTE}read-write"
    return [f"{before}{host}{rest}" for host in hosts]


class Servers:
    """Servers of one address. The next connection is tried first where the last one was made."""

    def __init__(self, url: str) -> None:
        self._urls = deque(each_of(url))

    async def connect(self, **given: Any) -> Any:
        """A connection by asyncpg, which is `given` the rest. Errors: asyncpg's; of several the one that tells most."""
        if len(self._urls) == 1:
            return await asyncpg.connect(self._urls[0], **given)
        errors: list[Exception] = []
        for url in list(self._urls):
            try:
                async with asyncio.timeout(HOST_TIMEOUT_SECONDS):
                    return await asyncpg.connect(url, **given)
            except FAILED as error:
                errors.append(error)
                self._put_last(url)
            except BaseException:
                self._put_last(url)  # whoever waited for it has no time left: the next one begins elsewhere
                raise
        raise next((one for one in errors if isinstance(one, asyncpg.TargetServerAttributeNotMatched)), errors[-1])

    def connected(self, _: str, **given: Any) -> Any:
        """`connect` as asyncpg's pool calls it, which has the whole address."""
        return self.connect(**given)

    def _put_last(self, url: str) -> None:
        if self._urls[0] == url:
            self._urls.rotate(-1)
