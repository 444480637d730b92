"""One live connection to an MCP server, through the official SDK: its errors become ours here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final

import structlog
from mcp.client import Client
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    Implementation,
    Tool,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from runtime.contract import Json
from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from tools.mcp.asked.flights import Flights
from tools.mcp.asked.needs import Needs
from tools.mcp.errors import Lost, NoServer
from tools.mcp.flood import Tamed
from tools.mcp.http import http
from tools.mcp.material import has_prompts, has_resources, looked_up, prompted
from tools.mcp.offers import DECLARED, MOST_TOOLS, PROMPTS, RESOURCES, Offer, prompts_offer, resources_offer
from tools.mcp.progress import Tell, silence
from tools.mcp.results import Answer, answer_of
from tools.mcp.stdio import stdio
from tools.mcp.terms import Endpoint, ServerTerms

log = structlog.get_logger("mcp")

OUR_REVISIONS: Final = f"{LATEST_MODERN_VERSION} and {LATEST_HANDSHAKE_VERSION}"
UNSUPPORTED: Final = re.compile(r"[Uu]nsupported protocol version[^:]*: (\S+)")
"""How the SDK words that an older handshake named a revision it doesn't know."""
US: Final = Implementation(name="signalbox", version="1")
MOST_PAGES: Final = 64
SUBSCRIBE_AGAIN: Final = 5.0  # seconds
SAID: Final = 500  # characters of a server's own words in an error
# Also what the SDK says of an answer over HTTP that is an error or cannot be read: the call may have been carried out.
UNSETTLED_ERRORS: Final = (INTERNAL_ERROR, PARSE_ERROR, REQUEST_TIMEOUT)


class Connection:
    """Connection as its two ends know it. `changed` and `ended` are set by what comes over it."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.ended = asyncio.Event()
        self.reason = ""
        self.needs_login = False
        self.flights = Flights()
        self._client: Client

    def use(self, client: Client, group: asyncio.TaskGroup) -> None:
        self._client = client
        self.flights.use(client, group)

    def end(self, reason: str = "") -> None:
        """The first reason counts: later ones only follow from it."""
        self.reason = self.reason or reason
        self.ended.set()

    @property
    def revision(self) -> str:
        """The protocol's revision that both ends speak."""
        return self._client.protocol_version

    def refused(self, reason: str) -> None:
        """Only a person's login helps."""
        self.needs_login = True
        self.end(reason)

    async def offers(self) -> list[Offer]:
        """All tools, as far as we take any. Errors: NoServer."""
        found: list[Offer] = []
        cursor = None
        try:
            for _ in range(MOST_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                found += map(_offer, page.tools)
                cursor = page.next_cursor
                if cursor is None or len(found) > 10 * MOST_TOOLS:
                    break
        except (MCPError, ValidationError, RuntimeError) as error:
            raise NoServer(f"it doesn't list its tools ({_words(error)})") from error
        return found + await self._made_offers()

    async def _made_offers(self) -> list[Offer]:
        """Tools that we make of what else it has: many servers say that they could have some, and have none."""
        has, session = self._client.server_capabilities, self._client.session
        made = []
        if has.resources and await has_resources(session):
            made.append(resources_offer())
        if has.prompts and await has_prompts(session):
            made.append(prompts_offer())
        return made

    async def carry_out(self, offer: Offer, arguments: Mapping[str, Json], tell: Tell = silence) -> Answer | Needs:
        """A call of what was offered; `tell` hears how far it is. Errors: as `call`."""
        if offer.kind == RESOURCES:
            return await self._told(looked_up(self._client.session, arguments))
        if offer.kind == PROMPTS:
            return await self._told(prompted(self._client.session, arguments))
        return await self.call(offer.name, arguments, tell=tell)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Json],
        answers: Mapping[str, Json] | None = None,
        state: str | None = None,
        tell: Tell = silence,
    ) -> Answer | Needs:
        """One call, never repeated here. Errors: ToolFailed when the server refuses it; Lost when no answer tells."""
        return await self._told(self.flights.call(name, arguments, answers, state, tell))

    async def go_on(self, number: int, answer: Mapping[str, Json]) -> Answer | Needs:
        """Answer the question of a call that the server holds open. Errors: as `call`."""
        return await self._told(self.flights.go_on(number, answer))

    async def _told(self, outcome: Awaitable[CallToolResult | Answer | Needs]) -> Answer | Needs:
        try:
            result = await outcome
        except MCPError as error:
            self.changed.set()  # perhaps its tools are others now
            if self.needs_login:
                raise ToolFailed(f"The server refused the call: {self.reason}. Nothing was called.") from error
            if error.code == CONNECTION_CLOSED:
                raise Lost(self.reason or _words(error)) from error
            if error.code in UNSETTLED_ERRORS:
                raise Lost(self.reason or _words(error)) from error
            raise ToolFailed(f"The server refused the call: {_words(error)}") from error
        except (ValidationError, RuntimeError) as error:
            raise Lost(f"its answer doesn't follow the protocol: {_words(error)}") from error
        return answer_of(result) if isinstance(result, CallToolResult) else result

    async def listen(self) -> None:
        """Ask newer servers to tell of changes; older ones do without being asked. Never returns."""
        while self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            try:
                async with self._client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self.changed.set()
            except MCPError as error:
                log.debug("an MCP server tells of no changes", reason=_words(error))
                break
            except (SubscriptionLost, TimeoutError):
                self.changed.set()  # what happened in between was told to nobody
            await asyncio.sleep(SUBSCRIBE_AGAIN)
        await asyncio.Event().wait()


@asynccontextmanager
async def connected(terms: ServerTerms, connection: Connection) -> AsyncIterator[Connection]:
    """`connection`, ready for use. Errors: NoServer; or whatever the SDK raises when it goes down."""
    transport, asked = _Transport(terms, connection), connection.flights.elicited
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(
                Client(transport, client_info=US, cache=None, elicitation_callback=asked)
            )
        except Exception as error:
            if theirs := _unknown_revision(error):
                # In place of what the end of its streams tells, which comes first and only follows from this.
                connection.reason = f"it speaks the protocol's revision {theirs}, and we speak {OUR_REVISIONS}"
                raise NoServer(connection.reason) from error
            raise
        group = await stack.enter_async_context(asyncio.TaskGroup())
        connection.use(client, group)
        listening = group.create_task(connection.listen())
        try:
            yield connection
        finally:
            listening.cancel()
            connection.flights.land()


def _unknown_revision(error: BaseException) -> str:
    """The revision of a server that speaks none of ours; empty for any other error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        data: Any = error.error.data
        named = data.get("supported") if error.code == UNSUPPORTED_PROTOCOL_VERSION and isinstance(data, dict) else None
        return clip(", ".join(map(str, named)), SAID) if isinstance(named, list) else ""
    found = UNSUPPORTED.search(str(error))
    return clip(found[1], SAID) if found else ""


class _Transport(AbstractAsyncContextManager[TransportStreams]):
    """Implements the SDK's Transport: whichever way leads to the server, with its flood tamed."""

    def __init__(self, terms: ServerTerms, connection: Connection) -> None:
        way = terms.way
        self._way = http(way, connection.refused) if isinstance(way, Endpoint) else stdio(way, connection.end)
        self._connection = connection

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._way.__aenter__()
        connection = self._connection
        return Tamed(read, changed=connection.changed.set, ended=connection.end), write

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._way.__aexit__(*error)


def _offer(tool: Tool) -> Offer:
    hints = tool.annotations
    said = tool.description or tool.title or ""
    return Offer(
        tool.name,
        said,
        tool.input_schema,
        read_only=bool(hints and hints.read_only_hint),
        idempotent=bool(hints and hints.idempotent_hint),
        hints=hints.model_dump(mode="json", by_alias=True, exclude_none=True) if hints else {},
        needs_task=bool(tool.execution and tool.execution.task_support == "required"),
        declared=(tool.meta or {}).get(DECLARED) or {},
    )


def _words(error: Exception) -> str:
    """Words that a person can use: of a fault in a form only its kind, since the whole answer may stand in it."""
    text = f"{error.error_count()} faults" if isinstance(error, ValidationError) else str(error)
    return clip(text, SAID + 1)
