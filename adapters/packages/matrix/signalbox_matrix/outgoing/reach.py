"""Barriers to posting in a room, asked for beforehand: what keeps us out is told with its fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, Refused
from signalbox_matrix.outgoing.send import ENCRYPTED

Raw = Mapping[str, Any]

UNKNOWN_ROOM: Final = "The bot {me} isn't in the Matrix room {room}, or there is no such room. Invite it there."
OUTSIDE: Final = "The bot {me} was taken out of the Matrix room {room}. Invite it again."
BANNED: Final = "The bot {me} is banned from the Matrix room {room}. Lift the ban, and invite it again."
MUTE: Final = (
    "The bot {me} may not write in the Matrix room {room}: its power level is {has}, and messages need {needed}. "
    "Raise it in the room's settings, under roles and permissions."
)
NOT_A_ROOM: Final = "{room} is no Matrix room; its id begins with an exclamation mark."


class Reach:
    def __init__(self, api: Api) -> None:
        self._api = api
        self.me = ""

    async def of(self, room: str) -> str | None:
        """None when it can be posted there, or the homeserver cannot be asked now."""
        about = {"me": self.me, "room": room}
        if not room.startswith("!"):
            return NOT_A_ROOM.format(**about)
        try:
            return await self._barrier(room, about)
        except Refused as error:
            if error.is_of_token or error.status >= 500 or error.status == 429 or not error.code:
                return None
            return UNKNOWN_ROOM.format(**about)
        except MatrixError:
            return None

    async def _barrier(self, room: str, about: Mapping[str, str]) -> str | None:
        ours = await self._api.state(room, "m.room.member", self.me)
        if ours.get("membership") == "ban":
            return BANNED.format(**about)
        if ours.get("membership") != "join":
            return OUTSIDE.format(**about)
        if await self.is_encrypted(room):
            return f"{ENCRYPTED[0].upper()}{ENCRYPTED[1:]}"
        has, needed = await self._powers(room)
        return MUTE.format(**about, has=has, needed=needed) if has < needed else None

    async def is_encrypted(self, room: str) -> bool:
        """Errors: MatrixError."""
        try:
            told = await self._api.state(room, "m.room.encryption")
        except Refused as error:
            if error.code == "M_NOT_FOUND":
                return False
            raise
        return bool(told)

    async def _powers(self, room: str) -> tuple[int, int]:
        """Our power level, and the one that messages need."""
        try:
            told = await self._api.state(room, "m.room.power_levels")
        except Refused as error:
            if error.code == "M_NOT_FOUND":
                return 0, 0
            raise
        has = _level((told.get("users") or {}).get(self.me, told.get("users_default")))
        needed = (told.get("events") or {}).get("m.room.message", told.get("events_default"))
        return has, _level(needed)


def _level(told: object) -> int:
    return int(told) if isinstance(told, int | str) and str(told).lstrip("-").isdigit() else 0
