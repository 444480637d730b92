"""Questions of `signalbox doctor` to the homeserver about an account: its address, the token, and the rooms. Changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import aiohttp

from signalbox.channels import Finding, Level, PlatformClock
from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, Refused, ours
from signalbox_matrix.outgoing.reach import Reach
from signalbox_matrix.settings import MatrixSettings

Raw = Mapping[str, Any]

ROOMS_LOOKED_AT: Final = 50
ROOMS_NAMED: Final = 5
WELL_KNOWN: Final = "/.well-known/matrix/client"
WELL_KNOWN_WITHIN: Final = 5.0  # seconds


async def checked(settings: MatrixSettings) -> Sequence[Finding]:
    clock = PlatformClock("the homeserver", partial(datetime.now, UTC))
    api = Api(settings, clock.heed)
    try:
        found = await Checks(settings, api).all()
        return [*found, *clock.findings(f"matrix.{settings.account}.clock")]
    finally:
        await api.close()


class Checks:
    """Each finding begins with the account's name."""

    def __init__(self, settings: MatrixSettings, api: Api) -> None:
        self._settings = settings
        self._api = api

    async def all(self) -> Sequence[Finding]:
        server = await self._server()
        if server.level is Level.ERROR:
            return [server]
        try:
            me = str((await self._api.whoami())["user_id"])
        except (MatrixError, LookupError) as error:
            why, fix = "Without it, nothing in this account works.", "log the bot in again and set the new token"
            return [server, self._bad("token", self._words(error), why, fix)]
        return [server, self._good("token", f"the token belongs to {me}"), *await self._rooms(me)]

    async def _server(self) -> Finding:
        try:
            versions = (await self._api.versions())["versions"]
        except (MatrixError, LookupError) as error:
            found = await self._delegated()
            fix = f'set homeserver = "{found}"' if found else "set homeserver to the address of its client-server API"
            return self._bad("server", self._words(error), "Nothing can be read or sent.", fix)
        return self._good("server", f"the homeserver is there; it speaks Matrix up to {versions[-1]}")

    async def _delegated(self) -> str:
        """The address that a domain names as its homeserver's, where it is another one."""
        try:
            timeout = aiohttp.ClientTimeout(total=WELL_KNOWN_WITHIN)
            async with (
                aiohttp.ClientSession(timeout=timeout) as http,
                http.get(self._settings.server + WELL_KNOWN) as answer,
            ):
                told = json.loads(await answer.read())
                base = str(told["m.homeserver"]["base_url"]).rstrip("/")
        except (aiohttp.ClientError, TimeoutError, ValueError, LookupError, TypeError):
            return ""
        return base if base != self._settings.server and base.startswith(("http://", "https://")) else ""

    async def _rooms(self, me: str) -> Sequence[Finding]:
        reach = Reach(self._api)
        reach.me = me
        try:
            rooms = await self._api.joined_rooms()
            encrypted = [await self._name(room) for room in rooms[:ROOMS_LOOKED_AT] if await reach.is_encrypted(room)]
        except MatrixError as error:
            return [self._bad("rooms", self._words(error))]
        if not rooms:
            fix = f"invite {me} to a room without encryption, or begin a direct chat with it"
            return [self._finding(Level.WARNING, "rooms", "it isn't in any room yet", "Nobody can write to it.", fix)]
        there = self._good("rooms", f"it is in {len(rooms)} room{'s' * (len(rooms) != 1)}")
        if not encrypted:
            return [there]
        names = ", ".join(encrypted[:ROOMS_NAMED]) + (" …" if len(encrypted) > ROOMS_NAMED else "")
        told = f"{len(encrypted)} of its rooms {'are' if len(encrypted) > 1 else 'is'} encrypted: {names}"
        why = "It can't read there, and sends nothing: encryption can't be turned off in a room."
        return [there, self._finding(Level.WARNING, "encrypted", told, why, "talk to it in a room without encryption")]

    async def _name(self, room: str) -> str:
        for kind, key in (("m.room.name", "name"), ("m.room.canonical_alias", "alias")):
            try:
                if name := (await self._api.state(room, kind)).get(key):
                    return str(name)
            except Refused as error:
                if not error.is_missing:
                    raise
        return room

    def _words(self, error: Exception) -> str:
        told = (
            ours(error, self._settings.account, reads=True)
            if isinstance(error, MatrixError)
            else "its answer is none of Matrix"
        )
        return str(told)

    def _good(self, what: str, words: str) -> Finding:
        return self._finding(Level.OK, what, words)

    def _bad(self, what: str, words: str, why: str = "", fix: str = "") -> Finding:
        return self._finding(Level.ERROR, what, words, why, fix)

    def _finding(self, level: Level, what: str, words: str, why: str = "", fix: str = "") -> Finding:
        return Finding(level, f"matrix.{self._settings.account}.{what}", words, why, fix)
