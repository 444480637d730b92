"""Resources of the MCP server: what was said in rooms, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from bot.doors.callers import Caller
from bot.doors.mcp.offers import View
from bot.doors.operations import NARROW
from bot.doors.places import PlaceDoors
from bot.doors.rooms import ProgramRooms
from bot.operator.context import OperatorContext
from bot.operator.operations import Operations
from runtime.contract import Role
from runtime.http.errors import Refusal

ROOM_URI: Final = "signalbox://rooms/"
REPORT_URI: Final = "signalbox://reports/"
TEMPLATES: Final = (
    ("room", ROOM_URI + "{room}", "What was said in a room: its newest 200 messages, oldest first."),
    ("report", REPORT_URI + "{name}", "A report, made now. For tokens of operators."),
)
NO_RESOURCE: Final = "There is no resource {uri!r} for this token."
SAID_NOTHING: Final = "Nothing was said here yet."


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    words: str


class Resources:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms, places: PlaceDoors) -> None:
        self._context = context
        self._rooms = rooms
        self._places = places

    async def of(self, caller: Caller) -> Sequence[Resource]:
        """Resources that this token may read."""
        rooms = [
            Resource(ROOM_URI + quote(row["room"], safe=""), row["title"] or row["room"], "What was said in this room.")
            for row in await self._places.listed(caller)
        ]
        return [*rooms, *(await self._reports(caller))]

    async def _reports(self, caller: Caller) -> list[Resource]:
        if not sees_reports(caller):
            return []
        rows = await Operations(self._context, caller.actor).reports()
        return [Resource(REPORT_URI + quote(row["name"], safe=""), row["name"], row["about"]) for row in rows]

    async def read(self, caller: Caller, uri: str) -> str:
        """The resource as Markdown. Errors: Refusal."""
        if uri.startswith(ROOM_URI):
            address = await self._rooms.meant(caller, unquote(uri.removeprefix(ROOM_URI)))
            return transcript(await self._places.said(address))
        if uri.startswith(REPORT_URI):
            if not sees_reports(caller):
                raise Refusal(403, NARROW)
            made = await Operations(self._context, caller.actor).print_report(unquote(uri.removeprefix(REPORT_URI)), {})
            return str(made["text"])
        raise Refusal(404, NO_RESOURCE.format(uri=uri[:200]))


def sees_reports(caller: Caller) -> bool:
    """Reports tell of all rooms: tokens for some of them have none."""
    return caller.role >= Role.OPERATOR and not (caller.token.rooms or caller.token.agents)


def transcript(rows: Sequence[View]) -> str:
    """Entries of a room, one below the other."""
    return (
        "\n\n".join(f"**{row['name'] or row['author']}**, {row['at']}\n\n{row['text']}" for row in rows) or SAID_NOTHING
    )
