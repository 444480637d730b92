"""Events of a run as a stream, each with its number: whoever was cut goes on behind the last one, on any node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

from aiohttp import web

from bot.doors.callers import Caller
from bot.doors.live.sockets import BEAT_EVENT, Event, is_upgrade, send_event, with_socket
from bot.doors.rooms import ProgramRooms
from bot.doors.streams import STILL_HERE, STREAM_BEAT, STREAM_LIFE, Streams, begun, sent
from bot.doors.table import Asked, Door
from bot.operator.context import OperatorContext
from bot.operator.work.events import EventOperations
from runtime.contract import RunId
from runtime.domain.runs import RunState
from runtime.errors import StoreError
from runtime.http.errors import Refusal

RUN_LOOK: Final = timedelta(seconds=1)
"""Events younger than that are left for the next look, so that numbers stay."""
NO_RUN: Final = "There is no such run for this token."
BAD_LAST_ID: Final = "Last-Event-ID must be the number of an event of this run."
NUMBER_MAX_DIGITS: Final = 9
STREAM_SUMMARY: Final = (
    "Events of a run as server-sent events or over a WebSocket, behind Last-Event-ID, until it is over."
)
RUN_IS_OVER: Final = frozenset({RunState.DONE, RunState.FAILED, RunState.STOPPED})


class RunStreamDoor:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms, streams: Streams) -> None:
        self._context = context
        self._rooms = rooms
        self._streams = streams

    def doors(self) -> list[Door]:
        path = "/api/v1/runs/{id}/stream"
        made = Door(
            method="GET", path=path, name="run_stream_events", summary=STREAM_SUMMARY, serve=self.serve, group="Events"
        )
        return [made]

    async def serve(self, asked: Asked) -> web.StreamResponse:
        run, after = asked.pieces["id"], _after(asked.request)
        await self._is_over(asked.caller, run)
        with self._streams.opened(asked.caller):
            if is_upgrade(asked.request):
                return await with_socket(
                    asked.request, partial(self._tell_socket, caller=asked.caller, run=run, after=after)
                )
            response = await begun(asked.request)
            async with aclosing(self._batches(asked.caller, run, after)) as batches:
                async for rows in batches:
                    await sent(response, b"".join(map(_frame, rows)) or STILL_HERE)
            return response

    async def _tell_socket(self, socket: web.WebSocketResponse, caller: Caller, run: str, after: int) -> None:
        # Nobody listens, the token is void or the store is away: whoever comes back is told.
        with suppress(ConnectionError, TimeoutError, Refusal, StoreError):
            async with aclosing(self._batches(caller, run, after)) as batches:
                async for rows in batches:
                    for row in rows or [BEAT_EVENT]:
                        await send_event(socket, row)

    async def _batches(self, caller: Caller, run: str, after: int) -> AsyncGenerator[Sequence[Event], None]:
        """Events as they come, and nothing as a sign of life, until the run is over or nothing came for `STREAM_LIFE`."""
        events, idle = EventOperations(self._context), timedelta()
        while idle < STREAM_LIFE:
            caller = await caller.renewed()
            is_over = await self._is_over(caller, run)  # before the events: what is over has no later ones
            rows = await events.of_run(run, after)
            if rows:
                after, idle = rows[-1]["number"], timedelta()
                yield rows
            if is_over:
                return
            await asyncio.sleep(RUN_LOOK.total_seconds())
            idle += RUN_LOOK
            if not idle % STREAM_BEAT:
                yield []

    async def _is_over(self, caller: Caller, run: str) -> bool:
        """Errors: Refusal 404 for a run that this token may not see, too."""
        found = await self._context.store.operations.run(RunId(run))
        row = found[0] if found else None
        if row is None or not await self._rooms.may_read(caller, row.address):
            raise Refusal(404, NO_RUN)
        if not caller.token.may_ask(row.session.partition("|")[0]):
            raise Refusal(404, NO_RUN)
        return row.state in RUN_IS_OVER


def _after(request: web.Request) -> int:
    text = request.headers.get("Last-Event-ID", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= NUMBER_MAX_DIGITS):
        raise Refusal(422, BAD_LAST_ID)
    return int(text)


def _frame(event: dict[str, Any]) -> bytes:
    said = json.dumps(event, ensure_ascii=False)
    return f"id: {event['number']}\nevent: {event['event']}\ndata: {said}\n\n".encode()
