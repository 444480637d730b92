"""MCP over standard input and output: each request goes to a running Signalbox, and waits while that starts anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import httpx2
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import encode_header_value

from bot.doors.mcp.server import INSTRUCTIONS, SERVER_NAME

REVISION: Final = "2026-07-28"
KEYED: Final = frozenset({"ask_agent", "send_message"})
"""Tools whose repeats are told apart by a key: a call without one gets one here, so that it can be tried again."""
READING_TOOLS: Final = frozenset({"message", "rooms", "search_messages", "runs", "approvals_list", "schedules_list"})
RELAY_PATIENCE: Final = timedelta(seconds=60)
"""Time in which a Signalbox that doesn't answer is asked again."""
BREATH: Final = timedelta(seconds=1)
SILENCE_MAX: Final = timedelta(minutes=5)
"""Above the longest wait of a call."""
SIGNALBOX_AWAY: Final = "Signalbox doesn't answer. Is it running? {error}"
Told = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Hears how far a call is."""
Where = Callable[[], Awaitable[str]]
"""Address of the running Signalbox. Errors: ConnectionError where none runs."""


class Cut(Exception):
    """The answer didn't come to its end. `is_early`: certainly nobody heard the request."""

    def __init__(self, why: str, *, is_early: bool = False) -> None:
        super().__init__(why)
        self.is_early = is_early


class Relay:
    """Answers a client by what the running Signalbox answers."""

    def __init__(self, where: Where, token: str, patience: timedelta = RELAY_PATIENCE) -> None:
        self._where = where
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        self._patience = patience

    def server(self, version: str) -> Server[Any]:
        return Server(
            SERVER_NAME,
            version=version,
            title="Signalbox",
            instructions=INSTRUCTIONS,
            on_list_tools=self.tools,
            on_call_tool=self.call,
            on_list_resources=self.resources,
            on_list_resource_templates=self.templates,
            on_read_resource=self.read,
        )

    async def tools(self, context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(await self._asked("tools/list", {}))

    async def resources(self, context: Any, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate(await self._asked("resources/list", {}))

    async def templates(
        self, context: Any, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate(await self._asked("resources/templates/list", {}))

    async def read(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = await self._asked("resources/read", {"uri": str(params.uri)}, name=str(params.uri))
        return types.ReadResourceResult.model_validate(found)

    async def call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """A call that changes something without a key is tried once: nobody could tell whether it was done."""
        given = dict(params.arguments or {})
        if params.name in KEYED and not given.get("key"):
            given["key"] = uuid4().hex

        async def told(progress: Mapping[str, Any]) -> None:
            await context.session.report_progress(progress["progress"], progress.get("total"), progress.get("message"))

        again = params.name in KEYED | READING_TOOLS
        call = {"name": params.name, "arguments": given}
        return types.CallToolResult.model_validate(
            await self._asked("tools/call", call, name=params.name, told=told, again=again)
        )

    async def _asked(
        self, method: str, params: Mapping[str, Any], *, name: str = "", told: Told | None = None, again: bool = True
    ) -> Mapping[str, Any]:
        """The answer, after some tries where nobody is there. Errors: MCPError."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._patience.total_seconds()
        while True:
            try:
                return await self._exchanged(method, params, name, told)
            except Cut as cut:
                if loop.time() >= end or not (again or cut.is_early):
                    raise MCPError(types.INTERNAL_ERROR, SIGNALBOX_AWAY.format(error=cut)) from cut
            await asyncio.sleep(BREATH.total_seconds())

    async def _exchanged(
        self, method: str, params: Mapping[str, Any], name: str, told: Told | None
    ) -> Mapping[str, Any]:
        """One try. Errors: Cut; MCPError with what was answered."""
        meta = {
            types.PROTOCOL_VERSION_META_KEY: REVISION,
            types.CLIENT_CAPABILITIES_META_KEY: {},
            **({"progressToken": 1} if told else {}),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {**self._headers, "MCP-Protocol-Version": REVISION, "Mcp-Method": method}
        if name:
            headers["Mcp-Name"] = encode_header_value(name)
        timeout = httpx2.Timeout(10, read=SILENCE_MAX.total_seconds())
        try:
            url = f"{await self._where()}/mcp"
            async with (
                httpx2.AsyncClient(trust_env=False, timeout=timeout) as web,
                web.stream("POST", url, headers=headers, json=body) as response,
            ):
                return await _answered(response, told)
        except (ConnectionError, httpx2.ConnectError) as error:
            raise Cut(str(error), is_early=True) from error
        except httpx2.TransportError as error:
            raise Cut(str(error)) from error


async def _answered(response: httpx2.Response, told: Told | None) -> Mapping[str, Any]:
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        async for line in response.aiter_lines():
            message = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {}
            if "id" in message:
                return _result(message)
            if told is not None and message.get("method") == "notifications/progress":
                await told(message["params"])
        raise Cut("the stream ended in the middle")
    text = (await response.aread()).decode(errors="replace")
    if response.status_code >= 500:
        raise Cut(text)
    message = json.loads(text)
    if "jsonrpc" not in message:
        raise MCPError(types.INVALID_REQUEST, str(message.get("detail", text)))
    return _result(message)


def _result(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if error := message.get("error"):
        raise MCPError(error["code"], error["message"], error.get("data"))
    result: Mapping[str, Any] = message["result"]
    return result


async def relayed(where: Where, token: str, version: str) -> None:
    """Serve until standard input ends."""
    server = Relay(where, token).server(version)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
