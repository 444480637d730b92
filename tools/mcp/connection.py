"""One live connection to an MCP server, through the official SDK: its errors become ours here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from runtime.contract import Json
from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from tools.mcp.errors import Lost, NoServer
from tools.mcp.flood import Tamed
from tools.mcp.http import http
from tools.mcp.offers import DECLARED, MOST_TOOLS, Offer
from tools.mcp.results import Answer, answer_of
from tools.mcp.stdio import stdio
from tools.mcp.terms import Endpoint, ServerTerms

log = structlog.get_logger("mcp")

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
        self._client: Client

    def use(self, client: Client) -> None:
        self._client = client

    def end(self, reason: str = "") -> None:
        """The first reason counts: later ones only follow from it."""
        self.reason = self.reason or reason
        self.ended.set()

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
        return found

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Answer:
        """One call, never repeated here. Errors: ToolFailed when the server refuses it; Lost when no answer tells."""
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=dict(arguments)))
        try:
            # Not the client's own `call_tool`: that checks answers against a schema of the server's, whose patterns
            # may take any time, and answers what the server asks in between.
            result = await self._client.session.send_request(request, CallToolResult)
        except MCPError as error:
            self.changed.set()  # perhaps its tools are others now
            if error.code == CONNECTION_CLOSED:
                raise Lost(self.reason or _words(error)) from error
            if error.code in UNSETTLED_ERRORS:
                raise Lost(_words(error)) from error
            raise ToolFailed(f"The server refused the call: {_words(error)}") from error
        except (ValidationError, RuntimeError) as error:
            raise Lost(f"its answer doesn't follow the protocol: {_words(error)}") from error
        return answer_of(result)

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
    async with Client(_Transport(terms, connection), client_info=US, cache=None) as client:
        connection.use(client)
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(connection.listen())
            try:
                yield connection
            finally:
                listening.cancel()


class _Transport(AbstractAsyncContextManager[TransportStreams]):
    """Implements the SDK's Transport: whichever way leads to the server, with its flood tamed."""

    def __init__(self, terms: ServerTerms, connection: Connection) -> None:
        way = terms.way
        self._way = http(way) if isinstance(way, Endpoint) else stdio(way, connection.end)
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
