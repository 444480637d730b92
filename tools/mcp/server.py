"""Keeps one MCP server at work: connects, learns its tools, and begins anew, ever later, when it is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog

from runtime.cancellation import cancellable
from runtime.contract import Json, Tool, ToolContext
from runtime.errors import ToolFailed
from tools.mcp.asked.held import Forgetful, Held, Keep, Waiting
from tools.mcp.asked.tools import AskTool, GoOnTool
from tools.mcp.errors import NoLogin, NoServer
from tools.mcp.offers import Offer, recalled, remember, taken
from tools.mcp.terms import ServerTerms
from tools.mcp.tool import McpTool

if TYPE_CHECKING:
    from tools.mcp.connection import Connection

log = structlog.get_logger("mcp")

CHANGES_A_SECOND: Final = 1.0
"""Seconds between two looks at the tools of a server that says all the time that they changed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """`connect` bounds a start, a look at the tools, and how long a call waits for a server that is not up.

    After an end the next start comes after `first`, then twice as late each time up to `most`; a life of `healthy` begins
    that anew. `look` is how often tools are looked at unasked.
    """

    connect: timedelta = timedelta(seconds=15)
    first: timedelta = timedelta(seconds=1)
    most: timedelta = timedelta(seconds=60)
    healthy: timedelta = timedelta(seconds=60)
    look: timedelta = timedelta(minutes=5)


PATIENCE: Final = Patience()


class McpServer:
    """One server. `tools` are those that it has at this moment, or had when it was last at work.

    `on_change` is called when they are others.
    """

    def __init__(
        self,
        terms: ServerTerms,
        *,
        on_change: Callable[[], None],
        patience: Patience = PATIENCE,
        keep: Keep | None = None,
        on_login: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.name = terms.name
        self.tools: Sequence[McpTool] = ()
        self.trouble = "it is being started"
        self._terms = terms
        self._on_change = on_change
        self._patience = patience
        self._on_login = on_login
        self._asked_login = False
        self._live: Connection | None = None
        self._up = asyncio.Event()
        self._told: Sequence[str] = ()
        self.held = Held(terms.name, keep or Forgetful())
        self.asking: Sequence[Tool] = (AskTool(terms), GoOnTool(terms, self.held, self._go_on))

    async def _go_on(self, waiting: Waiting, answers: Mapping[str, Json], context: ToolContext) -> str:
        """Go on with a call that waited for a person, with the tool as it is now. Errors: ToolError."""
        tool = next((tool for tool in self.tools if tool.offer.name == waiting.tool), None)
        if tool is None:
            raise ToolFailed(
                f"The MCP server {self.name} no longer has the tool {waiting.tool}. The call did not go on."
            )
        return await tool.go_on(waiting, answers, replace(context, call_id=waiting.call))

    async def run(self) -> None:
        """Keep it at work until cancelled; then it is gone too."""
        await self.held.load()
        self._take(await asyncio.to_thread(recalled, self._terms))
        wait = self._patience.first
        while True:
            began = time.monotonic()
            self.trouble = await cancellable(self._life())
            if timedelta(seconds=time.monotonic() - began) >= self._patience.healthy:
                wait = self._patience.first
            log.warning(
                "an MCP server is not at work", server=self.name, reason=self.trouble, again_after=wait.total_seconds()
            )
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, self._patience.most)

    async def reach(self, offer: Offer) -> Connection:
        """The connection for a call of the tool that was offered so. Errors: ToolFailed, and nothing was called."""
        if self._asked_login:  # waiting does not help
            raise ToolFailed(f"The MCP server {self.name} isn't running ({self.trouble}). Nothing was called.")
        try:
            async with asyncio.timeout(self._patience.connect.total_seconds()):
                live = await self._living()
        except TimeoutError:
            raise ToolFailed(
                f"The MCP server {self.name} isn't running ({self.trouble}). Nothing was called. Try later."
            ) from None
        now = next((tool.offer for tool in self.tools if tool.offer.name == offer.name), None)
        if now is None:
            raise ToolFailed(f"The MCP server {self.name} no longer has the tool {offer.name}. Nothing was called.")
        if now != offer:
            raise ToolFailed(f"The tool {offer.name} of {self.name} has changed, so it was not called.")
        return live

    async def _living(self) -> Connection:
        while True:
            await self._up.wait()
            if self._live and not self._live.ended.is_set():
                return self._live
            self._up.clear()  # it is gone, and `run` comes to see that in a moment

    # -------------------------------------------------------------------------------------------------- one life

    async def _life(self) -> str:
        """From one start to the next end; why it ended."""
        try:
            async with opened(self._terms, self._patience.connect) as (connection, offers):
                await self._learn(offers)
                log.info("an MCP server is at work", server=self.name, tools=len(self.tools))
                self._asked_login = False
                self._live = connection
                self._up.set()
                why = await self._serve(connection)
                if connection.needs_login:
                    raise NoLogin(why)
                return why
        except NoServer as error:
            self._look_at(error)
            return str(error)
        finally:
            self._up.clear()
            self._live = None

    def _look_at(self, error: NoServer) -> None:
        """Have it told once where only a person's login helps."""
        if isinstance(error, NoLogin) and not self._asked_login:
            self._asked_login = True
            self._on_login(self.name)

    async def _serve(self, connection: Connection) -> str:
        """Learn of changes until the end; why it came."""
        while not await self._ended(connection):
            connection.changed.clear()
            async with asyncio.timeout(self._patience.connect.total_seconds()):
                await self._learn(await connection.offers())
            await asyncio.sleep(CHANGES_A_SECOND)
        return connection.reason or "it ended"

    async def _ended(self, connection: Connection) -> bool:
        """Wait until it ended, or its tools are to be looked at."""
        async with asyncio.TaskGroup() as group:
            waits = {group.create_task(connection.ended.wait()), group.create_task(connection.changed.wait())}
            await asyncio.wait(waits, timeout=self._patience.look.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
        return connection.ended.is_set()

    async def _learn(self, offers: Sequence[Offer]) -> None:
        kept, left_out = taken(offers, self._terms)
        if left_out and left_out != self._told:
            log.warning("tools of an MCP server are left out", server=self.name, tools=left_out[:10], all=len(left_out))
        self._told = left_out
        if self._take(kept):
            await asyncio.to_thread(remember, kept, self._terms)

    def _take(self, offers: Sequence[Offer]) -> bool:
        """Have these tools from now on; whether they are others."""
        if [tool.offer for tool in self.tools] == list(offers):
            return False
        self.tools = [McpTool(offer, self._terms, self.reach, self.held) for offer in offers]
        self._on_change()
        return True


@asynccontextmanager
async def opened(terms: ServerTerms, within: timedelta) -> AsyncIterator[tuple[Connection, list[Offer]]]:
    """A connection, and what the server offers. Errors: NoServer, also when it goes while it is in use."""
    connection, way = await asyncio.to_thread(_prepared, terms)
    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(within.total_seconds()):
                await stack.enter_async_context(way)
                offers = await connection.offers()
            yield connection, offers
    except Exception as error:
        # The SDK raises whatever its transport met, in groups; the process and the other servers must go on.
        kind = NoLogin if connection.needs_login else NoServer
        raise kind(_reason(error, connection)) from error


def _prepared(terms: ServerTerms) -> tuple[Connection, AbstractAsyncContextManager[Connection]]:
    """In a thread: the SDK takes half a second to load."""
    from tools.mcp.connection import Connection, connected

    connection = Connection()
    return connection, connected(terms, connection)


def _reason(error: BaseException, connection: Connection) -> str:
    """Of several errors the first counts, since the others mostly follow from it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError) and not connection.needs_login:  # before what its end was like, which we made
        return "it did not answer in time"
    return connection.reason or (str(error) if isinstance(error, NoServer) else f"{type(error).__name__}: {error}")
