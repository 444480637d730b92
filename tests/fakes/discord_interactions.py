"""Interactions on the fake Discord: each must be answered within 3 s, once; its token is good for 15 minutes."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, Final

from aiohttp import web

from bot.testing.serve import abort
from tests.fakes.discord_faults import Do, Fault, Faults, refusal
from tests.fakes.discord_rules import (
    ACKNOWLEDGED,
    EPHEMERAL,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    check_message,
    check_response,
)
from tests.fakes.discord_world import BOT, Record, World, shown

GOOD_FOR: Final = 15 * 60.0  # seconds
SEES_ALL: Final = str((1 << 53) - 1)
CONTEXTS: Final = {True: 0, False: 1}


@dataclass(slots=True)
class Interaction:
    """One that was sent to the bot. `answer` is its callback, `original` the message that made."""

    id: str
    token: str
    channel: str
    user_id: str
    made_at: float
    answer: Record | None = None
    original: Record | None = None

    @property
    def is_ephemeral(self) -> bool:
        return bool(((self.answer or {}).get("data") or {}).get("flags", 0) & EPHEMERAL)


class Interactions:
    """`patience` is how long the first answer may take; `terse` ones say no more of a channel than its number."""

    def __init__(self, world: World, faults: Faults) -> None:
        self.world = world
        self.faults = faults
        self.patience = 3.0
        self.terse = False
        self.open: dict[str, Interaction] = {}
        self._by_token: dict[str, Interaction] = {}

    def begin(
        self, kind: int, channel: str, user: str, data: Record, message: Record | None, *, again: str = ""
    ) -> Record:
        """Somebody pressed, sent or called: what INTERACTION_CREATE says."""
        made = self.open.get(again) or self._new(channel, user)
        room = self.world.channel(channel)
        guild = room.get("guild_id")
        person = self.world.user(user)
        told: Record = {
            "id": made.id,
            "application_id": BOT,
            "type": kind,
            "token": made.token,
            "version": 1,
            "data": data,
            "channel_id": channel,
            "locale": "en-US",
            "app_permissions": SEES_ALL,
            "attachment_size_limit": 10 * 1024 * 1024,
            "entitlements": [],
            "authorizing_integration_owners": {"0": guild or "0"},
            "context": CONTEXTS[bool(guild)],
        }
        if not self.terse:
            told["channel"] = room
        if guild:
            told |= {"guild_id": guild, "guild": {"id": guild, "locale": "en-US", "features": []}}
            told["member"] = {"user": person, "roles": [], "joined_at": "2026-01-01T00:00:00+00:00", **MEMBER}
        else:
            told["user"] = person
        if message:
            told["message"] = shown(message)
        self.world.emit("INTERACTION_CREATE", told, guild)
        return {"id": made.id, "token": made.token}

    def _new(self, channel: str, user: str) -> Interaction:
        made = Interaction(self.world.new_id(), token_urlsafe(24), channel, user, time.monotonic())
        self.open[made.id] = self._by_token[made.token] = made
        return made

    # What a bot may call.

    async def callback(self, request: web.Request) -> web.StreamResponse:
        raw = await request.json()
        fault = self.faults.strike("callback")
        match fault:
            case None:
                return self._answered(request, raw)
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                self._answered(request, raw)
                return abort(request)
            case Fault(Do.CUT_LATE, seconds):
                asyncio.get_running_loop().call_later(seconds, lambda: self._answered(request, raw))
                return abort(request)
            case Fault(Do.ERROR_AFTER):
                self._answered(request, raw)
                return web.json_response({"message": "502: Bad Gateway", "code": 0}, status=502)
            case Fault():
                return refusal(fault)

    def _answered(self, request: web.Request, raw: Record) -> web.Response:
        made = self.open.get(request.match_info["interaction"])
        if made is None or made.token != request.match_info["token"]:
            raise UNKNOWN_INTERACTION
        if made.answer is not None:
            raise ACKNOWLEDGED
        if time.monotonic() - made.made_at > self.patience:
            raise UNKNOWN_INTERACTION
        check_response(raw)
        made.answer = raw
        self._show(made, raw.get("data") or {}, int(raw["type"]))
        return web.Response(status=204)

    def _show(self, made: Interaction, data: Record, kind: int) -> None:
        text = json.dumps(data, ensure_ascii=False) if kind == 9 else data.get("content") or ""
        about = {"id": made.id, "user_id": made.user_id}
        private = made.is_ephemeral or kind in (6, 9)
        self.world.answered(about, kind, text, private=private)
        if kind == 4 and not private:
            made.original = self.world.post(made.channel, BOT, data).data

    async def follow_up(self, request: web.Request) -> web.Response:
        made = self._of_token(request)
        raw = await request.json()
        check_message(raw, files=0)
        if raw.get("flags", 0) & EPHEMERAL or made.is_ephemeral:
            about = {"id": made.id, "user_id": made.user_id}
            self.world.answered(about, 4, raw["content"], private=True, components=raw.get("components") or [])
            return web.json_response({"id": self.world.new_id(), "content": raw["content"]})
        return web.json_response(shown(self.world.post(made.channel, BOT, raw).data))

    async def original(self, request: web.Request) -> web.Response:
        return web.json_response(shown(self._original(request)))

    async def change_original(self, request: web.Request) -> web.Response:
        made, raw = self._of_token(request), await request.json()
        check_message(raw, files=0, changes=True)
        if made.is_ephemeral:
            about = {"id": made.id, "user_id": made.user_id}
            self.world.answered(about, 4, raw.get("content") or "", private=True)
            return web.json_response({"id": self.world.new_id(), "content": raw.get("content")})
        data = self._original(request)
        return web.json_response(shown(self.world.edit(made.channel, data["id"], raw).data))

    async def delete_original(self, request: web.Request) -> web.Response:
        made = self._of_token(request)
        if not made.is_ephemeral:
            self.world.delete(made.channel, self._original(request)["id"])
        return web.Response(status=204)

    def _original(self, request: web.Request) -> Record:
        made = self._of_token(request)
        if made.original is None:
            raise UNKNOWN_MESSAGE
        return made.original

    def _of_token(self, request: web.Request) -> Interaction:
        made = self._by_token.get(request.match_info["token"])
        if made is None or made.answer is None or time.monotonic() - made.made_at > GOOD_FOR:
            raise UNKNOWN_WEBHOOK
        return made


MEMBER: Final[dict[str, Any]] = {"deaf": False, "mute": False, "flags": 0, "permissions": SEES_ALL}
