"""Calls on the wire, which may stop for a question of their server. Knows the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any, Final

from mcp.client.client import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    URL_ELICITATION_REQUIRED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    InputResponses,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from runtime.contract import Json
from tools.mcp.asked.needs import ELICITATION, GoesOn, Needs
from tools.mcp.errors import Lost
from tools.mcp.progress import Tell, silence, telling

HELD: Final = timedelta(hours=24)
"""An open call whose question nobody answers is called off."""
KEY: Final = "question"
RESULTS: Final[TypeAdapter[CallToolResult | InputRequiredResult]] = TypeAdapter(CallToolResult | InputRequiredResult)
RESPONSES: Final[TypeAdapter[InputResponses]] = TypeAdapter(InputResponses)
UNCLEAR: Final = "several calls are open, and nothing tells which of them asks"

Outcome = CallToolResult | Needs


@dataclass(eq=False)
class Flight:
    """A call at work at a server that may ask back over the same connection. `answer` is what it waits for."""

    task: asyncio.Task[CallToolResult | InputRequiredResult | Exception]
    asked: asyncio.Queue[Mapping[str, Json]] = field(default_factory=lambda: asyncio.Queue(1))
    answer: asyncio.Future[ElicitResult] | None = None


class Flights:
    """Calls of one connection."""

    def __init__(self) -> None:
        self._client: Client
        self._group: asyncio.TaskGroup
        self._flying: set[Flight] = set()
        self._held: dict[int, Flight] = {}
        self._numbers = count(1)

    def use(self, client: Client, group: asyncio.TaskGroup) -> None:
        self._client, self._group = client, group

    def land(self) -> None:
        """Call all of them off: the connection ends."""
        for flight in self._flying:
            flight.task.cancel()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Json],
        answers: Mapping[str, Json] | None = None,
        state: str | None = None,
        tell: Tell = silence,
    ) -> Outcome:
        """One call. Errors: MCPError; ValidationError for an answer that doesn't follow the protocol."""
        # Not the client's own `call_tool`: that checks answers against a schema of the server's, whose patterns may take
        # any time, and answers what the server asks in between.
        responses = RESPONSES.validate_python(answers) if answers else None
        params = CallToolRequestParams(
            name=name, arguments=dict(arguments), input_responses=responses, request_state=state
        )
        request = CallToolRequest(params=params)
        try:
            if self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return _outcome(await self._sent(request, tell))
            return await self._flown(request, tell)
        except MCPError as error:
            if error.code != URL_ELICITATION_REQUIRED:
                raise
            return _pages(error)

    async def go_on(self, number: int, answer: Mapping[str, Json]) -> Outcome:
        """Answer the question of an open call. Errors: Lost where it isn't open any more; MCPError."""
        flight = self._held.pop(number, None)
        if flight is None or flight.answer is None or flight.answer.done():
            raise Lost("the call that asked is not open any more")
        flight.answer.set_result(ElicitResult.model_validate(answer))
        return await self._next(flight)

    async def elicited(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Implements the SDK's callback: puts a question of the server to the call that it belongs to."""
        flying = [flight for flight in self._flying if flight.answer is None]
        if len(flying) != 1:
            return ErrorData(code=INVALID_REQUEST, message=UNCLEAR)
        (flight,) = flying
        answer: asyncio.Future[ElicitResult] = asyncio.get_running_loop().create_future()
        flight.answer = answer
        flight.asked.put_nowait(params.model_dump(mode="json", by_alias=True, exclude_none=True))
        try:
            async with asyncio.timeout(HELD.total_seconds()):
                return await answer
        except TimeoutError:
            return ElicitResult(action="cancel")
        finally:
            flight.answer = None

    # ------------------------------------------------------------------------------------------------- on the wire

    async def _sent(self, request: CallToolRequest, tell: Tell) -> CallToolResult | InputRequiredResult:
        session = self._client.session
        try:
            return await session.send_request(request, RESULTS, progress_callback=telling(tell))
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
            # The server's list is another by now, and nothing was called: the specification has us look and ask once more.
            await self._client.list_tools()
            return await session.send_request(request, RESULTS, progress_callback=telling(tell))

    async def _flown(self, request: CallToolRequest, tell: Tell) -> Outcome:
        flight = Flight(self._group.create_task(self._caught(request, tell)))
        self._flying.add(flight)
        flight.task.add_done_callback(lambda _: self._flying.discard(flight))
        return await self._next(flight)

    async def _caught(self, request: CallToolRequest, tell: Tell) -> CallToolResult | InputRequiredResult | Exception:
        """The result, or what went wrong: an error in a task would end the connection for all."""
        try:
            return await self._sent(request, tell)
        except Exception as error:  # noqa: BLE001 - raised again by whoever waits for this call
            return error

    async def _next(self, flight: Flight) -> Outcome:
        """Wait for the call's end or its next question. Who stops waiting calls it off."""
        asked: asyncio.Task[Mapping[str, Json]] = self._group.create_task(flight.asked.get())
        try:
            await asyncio.wait({flight.task, asked}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            flight.task.cancel()
            raise
        finally:
            if not asked.done():
                asked.cancel()
        if not flight.task.done():
            number = next(self._numbers)
            self._held[number] = flight
            return Needs(GoesOn.HELD, {KEY: {"method": ELICITATION, "params": dict(asked.result())}}, held=number)
        if flight.task.cancelled():
            raise Lost("it ended")
        result = flight.task.result()
        if isinstance(result, Exception):
            raise result
        return _outcome(result)


def _outcome(result: CallToolResult | InputRequiredResult) -> Outcome:
    if isinstance(result, CallToolResult):
        return result
    requests: dict[str, Any] = {
        key: request.model_dump(mode="json", by_alias=True, exclude_none=True)
        for key, request in (result.input_requests or {}).items()
    }
    return Needs(GoesOn.AGAIN_WITH, requests, result.request_state)


def _pages(error: MCPError) -> Needs:
    """Pages on the web that a person must go to before the call is made again."""
    data: Any = error.error.data
    pages = data.get("elicitations") if isinstance(data, dict) else None
    known = [page for page in pages or () if isinstance(page, dict) and isinstance(page.get("url"), str)]
    if not known:
        raise error
    requests = {str(number): {"method": ELICITATION, "params": page} for number, page in enumerate(known[:4], 1)}
    return Needs(GoesOn.AGAIN, requests)
