"""All browsers of a process: made when one is first wanted, one a conversation, and ended when nobody uses them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from runtime.errors import ToolFailed
from tools.browser.session import Session, Target
from tools.browser.terms import BrowserTerms, walls_of

if TYPE_CHECKING:
    from playwright.async_api import Playwright

    from runtime.egress import Egress
    from tools.browser.certificates import Certificates
    from tools.browser.walls import Walls

log = structlog.get_logger("browser")

LOOK_INTERVAL: Final = timedelta(seconds=2)
"""Between two looks at what browsers take, while there are any."""
ENDED_KEPT: Final = 200
"""Sessions of which we know why they ended."""
LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
START_LETTERS: Final = 4
PAGE_BYTES: Final = 4096
GONE: Final = "The browser of this conversation ended with its node; open the page again."
NOTHING_OPEN: Final = (
    "No page is open in this conversation; a browser ends with its node, and when nobody uses it. Call browser_open."
)


class Browsers:
    """`run` is the duty that owns them. A session's name begins with letters of this start, so nothing needs to be stored:
    one that begins otherwise ended with its process."""

    def __init__(
        self,
        egress: Egress,
        terms: BrowserTerms,
        *,
        walls: Callable[[BrowserTerms], Awaitable[Walls]] = walls_of,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._egress = egress
        self._terms = terms
        self._walls = walls
        self._now = now
        self._start = "".join(secrets.choice(LETTERS) for _ in range(START_LETTERS))
        self._made = 0
        self._sessions: dict[str, Session] = {}
        self._pids: dict[str, int] = {}
        self._ended: dict[str, str] = {}
        self._group: asyncio.TaskGroup | None = None
        self._wanted = asyncio.Event()
        self._opening = asyncio.Lock()
        self._driver = _Driver()
        self._certificates: Certificates | None = None

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            while True:
                await self._wanted.wait()
                await asyncio.sleep(LOOK_INTERVAL.total_seconds())
                await self._look()

    async def opened(self, owner: str) -> Session:
        """The browser of `owner`, made where there is none. Errors: ToolFailed."""
        async with self._opening:
            if found := self._sessions.get(owner):
                return found
            if self._group is None:
                raise ToolFailed("This process has no browsers.")
            await self._make_room()
            self._made += 1
            ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
            self._group.create_task(self._live(owner, f"{self._start}{self._made}", ready))
            return await ready

    async def of(self, owner: str, target: str = "") -> Session:
        """The browser of `owner`, once none is being opened: a model may ask for both at once. Errors: ToolFailed says that it is gone, and why if that is known."""
        async with self._opening:
            found = self._sessions.get(owner)
        name = target.rpartition("-")[0]
        if name and (found is None or found.name != name):
            raise ToolFailed(self.gone(name))
        if found is None:
            raise ToolFailed(f"{self._ended[owner]} {NOTHING_OPEN}" if owner in self._ended else NOTHING_OPEN)
        return found

    def gone(self, name: str) -> str:
        """The reason for which there is no session of that name in this conversation."""
        if not name.startswith(self._start):
            return GONE
        return self._ended.get(
            name, "That target is of another conversation's browser. Call browser_read for your own."
        )

    def target(self, name: str) -> Target | None:
        """An element that was read in any conversation of this process: for cards, which people of its room see."""
        session = next((one for one in self._sessions.values() if one.name == name.rpartition("-")[0]), None)
        return session.target(name) if session else None

    def has(self, owner: str | None, target: str) -> bool:
        """True for an element that was read in the conversation of `owner`."""
        session = self._sessions.get(owner) if owner else None
        return session is not None and session.target(target) is not None

    def pid(self, owner: str) -> int:
        """The process above all of a conversation's browser."""
        return self._pids[self._sessions[owner].name]

    async def close(self, owner: str) -> None:
        session = await self.of(owner)
        session.end("it was closed")
        await session.gone.wait()

    async def close_all(self) -> None:
        for session in [*self._sessions.values()]:
            session.end("its node ended")
            await session.gone.wait()

    # --------------------------------------------------------------------------------------------------- their lives

    async def _live(self, owner: str, name: str, ready: asyncio.Future[Session]) -> None:
        try:
            async with self._begun(owner, name) as session:
                ready.set_result(session)
                await session.over.wait()
        except Exception as error:  # noqa: BLE001 - the top of a worker: whoever waits is told, and others live on
            fault = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error
            if not ready.done():
                ready.set_exception(fault if isinstance(fault, ToolFailed) else ToolFailed(f"No browser: {fault}"))
            else:
                log.warning("a browser failed", reason=str(fault))
        finally:
            if not ready.done():
                ready.cancel()

    @asynccontextmanager
    async def _begun(self, owner: str, name: str) -> AsyncIterator[Session]:
        from tools.browser.certificates import Certificates
        from tools.browser.gateway import Gateway, Traffic
        from tools.browser.session import OPENING
        from tools.browser.starting import started

        walls = await self._walls(self._terms)
        if self._certificates is None:
            self._certificates = await asyncio.to_thread(Certificates)
        certificates = self._certificates
        traffic = Traffic(OPENING)
        session = Session(name, self._egress, traffic, load=self._terms.load, now=self._now)
        gateway = Gateway(self._egress, certificates, traffic)
        async with (
            self._driver.used() as playwright,
            started(playwright, walls, certificates.pin) as up,
            asyncio.TaskGroup() as group,
        ):
            serving = group.create_task(gateway.run(up.listening))
            await session.begin(up.browser)
            self._sessions[owner], self._pids[name] = session, up.pid
            self._wanted.set()
            try:
                yield session
            finally:
                self._forget(owner, session)
                serving.cancel()

    def _forget(self, owner: str, session: Session) -> None:
        session.end("its process ended")
        session.gone.set()
        self._sessions.pop(owner, None)
        self._pids.pop(session.name, None)
        if not self._sessions:
            self._wanted.clear()
        words = f"The browser of this conversation was closed: {session.why_over}."
        for key in (owner, session.name):
            self._ended.pop(key, None)
            self._ended[key] = words
        while len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]

    async def _make_room(self) -> None:
        if len(self._sessions) < self._terms.sessions:
            return
        idle = [(session.used_at, owner) for owner, session in self._sessions.items() if not session.at_work]
        if not idle:
            raise ToolFailed(f"All {self._terms.sessions} browsers of this process are at work. Try again in a minute.")
        _, owner = min(idle)
        session = self._sessions[owner]
        session.end("another conversation needed one, and this was unused for longest")
        await session.gone.wait()

    async def _look(self) -> None:
        for session in [*self._sessions.values()]:
            if session.gone.is_set():
                continue  # it ended while another one was looked at
            if not session.at_work and self._now() - session.used_at >= self._terms.idle.total_seconds():
                session.end("nobody used it for a while")
            elif (taken := await asyncio.to_thread(memory_mib, self._pids[session.name])) > self._terms.memory_mib:
                session.end(f"its pages took {taken:,} MiB of memory, and {self._terms.memory_mib:,} is the most")


class _Driver:
    """Playwright's own process, which is there while a browser is."""

    def __init__(self) -> None:
        self._users = 0
        self._turn = asyncio.Lock()
        self._playwright: Playwright | None = None

    @asynccontextmanager
    async def used(self) -> AsyncIterator[Playwright]:
        async with self._turn:
            if self._playwright is None:
                from playwright.async_api import async_playwright

                self._playwright = await async_playwright().start()
            self._users += 1
            playwright = self._playwright
        try:
            yield playwright
        finally:
            self._users -= 1
            if not self._users:
                self._playwright = None
                await playwright.stop()


def memory_mib(pid: int) -> int:
    """Memory that a process and all below it hold for themselves, in MiB. One that ended meanwhile holds none."""
    total, waiting = 0, [pid]
    while waiting:
        folder = Path("/proc", str(waiting.pop()))
        try:
            resident, shared = map(int, (folder / "statm").read_text().split()[1:3])
            waiting += [int(one) for file in folder.glob("task/*/children") for one in file.read_text().split()]
        except (OSError, ValueError):
            continue
        total += max(0, resident - shared) * PAGE_BYTES
    return total >> 20
