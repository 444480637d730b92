"""Calls of a bot on the fake Discord, under `/api/v10`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import BodyPartReader, web
from aiohttp.typedefs import Handler

from bot.testing.serve import abort
from tests.fakes.discord_faults import Do, Fault, Faults, refusal
from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_interactions import Interactions
from tests.fakes.discord_rules import (
    ARCHIVED,
    LOCKED,
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    NO_REPLIES,
    NO_THREADS,
    NOT_YOURS,
    RIGHTS,
    THREAD_EXISTS,
    THREAD_NAME,
    TOO_LARGE,
    UNAUTHORIZED,
    UNKNOWN_EMOJI,
    UNKNOWN_MESSAGE,
    UPLOAD,
    Refusal,
    check_commands,
    check_message,
    is_rich,
)
from tests.fakes.discord_world import (
    ANNOUNCED,
    BOT,
    TEXT,
    THREADS,
    TOKEN,
    Post,
    Record,
    World,
    sent_at,
    shown,
)

API: Final = "/api/v10"
Apply = Callable[[], Post]


class Rest:
    """The HTTP side. `sends` counts the messages that arrived, whatever became of them."""

    def __init__(self, world: World, faults: Faults, gateway: Gateway, interactions: Interactions) -> None:
        self.world = world
        self.faults = faults
        self.gateway = gateway
        self.interactions = interactions
        self.sends = 0
        self.typing: list[str] = []
        self.commands: list[Record] = []
        self.registrations = 0
        self.nonce_seconds = 180.0
        self.shards = 1
        self.bucket = (49, 1.0)
        self._nonces: dict[str, tuple[str, float]] = {}

    def routes(self) -> list[web.RouteDef]:
        channel, interactions = "/channels/{channel}", self.interactions
        table: list[tuple[str, str, Callable[[web.Request], Awaitable[web.StreamResponse]]]] = [
            ("GET", "/gateway", self._gateway),
            ("GET", "/gateway/bot", self._gateway_bot),
            ("GET", "/users/@me", self._me),
            ("GET", "/users/@me/guilds", self._guilds),
            ("POST", "/users/@me/channels", self._open_dm),
            ("GET", "/applications/@me", self._application),
            ("GET", "/oauth2/applications/@me", self._application),
            ("GET", "/applications/{application}/commands", self._get_commands),
            ("PUT", "/applications/{application}/commands", self._put_commands),
            ("GET", "/guilds/{guild}", self._guild),
            ("GET", "/guilds/{guild}/members/{user}", self._member),
            ("GET", channel, self._channel),
            ("PATCH", channel, self._change_channel),
            ("POST", f"{channel}/typing", self._typing),
            ("GET", f"{channel}/messages", self._history),
            ("POST", f"{channel}/messages", self._send),
            ("GET", channel + "/messages/{message}", self._message),
            ("PATCH", channel + "/messages/{message}", self._edit),
            ("DELETE", channel + "/messages/{message}", self._delete),
            ("PUT", channel + "/messages/{message}/reactions/{emoji}/@me", self._react),
            ("POST", channel + "/messages/{message}/threads", self._thread),
            ("POST", "/interactions/{interaction}/{token}/callback", interactions.callback),
            ("POST", "/webhooks/{application}/{token}", interactions.follow_up),
            ("GET", "/webhooks/{application}/{token}/messages/@original", interactions.original),
            ("PATCH", "/webhooks/{application}/{token}/messages/@original", interactions.change_original),
            ("DELETE", "/webhooks/{application}/{token}/messages/@original", interactions.delete_original),
        ]
        made = [web.route(method, API + path, handler) for method, path, handler in table]
        return [*made, web.get("/attachments/{channel}/{attachment}/{name}", self._download)]

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Apply the rules of every call: away, the token, refusals as JSON, the headers of the rate limit."""
        if not request.path.startswith(API):
            return await handler(request)
        try:
            self._admit(request)
            answer = await handler(request)
        except Refusal as error:
            answer = error.answer()
        except web.HTTPNotFound:
            answer = web.json_response({"message": "404: Not Found", "code": 0}, status=404)
        if not answer.prepared:
            answer.headers.update(self._limits(request))
            if answer.content_type == "application/json":
                answer.headers["Content-Type"] = "application/json"  # the library takes it for text with more behind
        return answer

    def _admit(self, request: web.Request) -> None:
        if self.faults.away:
            raise Refusal(503, 0, "503: Service Unavailable")
        is_open = (
            request.path.startswith((f"{API}/interactions/", f"{API}/webhooks/")) or request.path == f"{API}/gateway"
        )
        if not is_open and (self.faults.token or request.headers.get("Authorization") != f"Bot {TOKEN}"):
            raise UNAUTHORIZED

    def _limits(self, request: web.Request) -> Record:
        """Headers of a bucket that never runs dry unless a test says so: `bucket` is what remains and for how long."""
        remaining, seconds = self.bucket
        known = request.match_info.route.resource
        bucket = f"{hash((request.method, known.canonical if known else request.path)) & 0xFFFFFFFF:08x}"
        reset = {"X-RateLimit-Reset": f"{time.time() + seconds:.3f}", "X-RateLimit-Reset-After": f"{seconds:.3f}"}
        return {
            "X-RateLimit-Limit": "50",
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Bucket": bucket,
            **reset,
        }

    # ------------------------------------------------------------------------------------------ who and where

    async def _gateway(self, request: web.Request) -> web.Response:
        return web.json_response({"url": f"ws://{request.host}/gateway"})

    async def _gateway_bot(self, request: web.Request) -> web.Response:
        limit = {"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1}
        url = f"ws://{request.host}/gateway"
        return web.json_response({"url": url, "shards": self.shards, "session_start_limit": limit})

    async def _me(self, request: web.Request) -> web.Response:
        return web.json_response(self.world.users[BOT])

    async def _guilds(self, request: web.Request) -> web.Response:
        return web.json_response([{"id": g["id"], "name": g["name"]} for g in self.world.guilds.values()])

    async def _guild(self, request: web.Request) -> web.Response:
        guild = self.world.guild(request.match_info["guild"])
        flags = str(sum(bit for name, bit in RIGHTS.items() if name not in self.faults.denied))
        roles = [{**r, "permissions": flags if r["id"] == guild["id"] else r["permissions"]} for r in guild["roles"]]
        return web.json_response({**guild, "roles": roles})

    async def _member(self, request: web.Request) -> web.Response:
        guild, user = self.world.guild(request.match_info["guild"]), self.world.user(request.match_info["user"])
        return web.json_response({"user": user, "roles": [guild["roles"][1]["id"]] if user["bot"] else []})

    async def _application(self, request: web.Request) -> web.Response:
        known = {"id": BOT, "name": "Signalbox", "description": "", "icon": None, "verify_key": "0" * 64}
        more = {"bot_public": True, "bot_require_code_grant": False, "flags": self.gateway.flags}
        return web.json_response({**known, **more, "owner": self.world.user("42"), "interactions_endpoint_url": None})

    async def _open_dm(self, request: web.Request) -> web.Response:
        return web.json_response(self.world.dm(str((await request.json())["recipient_id"])))

    async def _channel(self, request: web.Request) -> web.Response:
        return web.json_response(self._room(request))

    async def _change_channel(self, request: web.Request) -> web.Response:
        channel, changes = self._room(request), await request.json()
        if changes.get("archived") is False and channel["thread_metadata"]["locked"]:
            raise MISSING_PERMISSIONS
        return web.json_response(self.world.change_channel(channel["id"], **changes))

    def _room(self, request: web.Request, permission: str = "VIEW_CHANNEL") -> Record:
        channel = self.world.channel(request.match_info["channel"])
        if channel.get("closed") or "VIEW_CHANNEL" in self.faults.denied:
            raise MISSING_ACCESS
        if permission in self.faults.denied:
            raise MISSING_PERMISSIONS
        return channel

    async def _typing(self, request: web.Request) -> web.Response:
        self.typing.append(self._room(request, "SEND_MESSAGES")["id"])
        return web.Response(status=204)

    async def _get_commands(self, request: web.Request) -> web.Response:
        return web.json_response(self.commands)

    async def _put_commands(self, request: web.Request) -> web.Response:
        if fault := self.faults.strike("commands"):
            return refusal(fault)
        commands = await request.json()
        check_commands(commands)
        self.registrations += 1
        numbered = [{**command, "id": str(900 + n), "application_id": BOT} for n, command in enumerate(commands)]
        self.commands = numbered
        return web.json_response(numbered)

    # ----------------------------------------------------------------------------------------------- messages

    async def _send(self, request: web.Request) -> web.StreamResponse:
        self.sends += 1
        channel, (raw, files) = request.match_info["channel"], await body_of(request)
        is_known = self._known_id(raw) in self.world.posts
        fault = None if is_known else self.faults.strike("send", rich=is_rich(raw))
        return await self._under(fault, request, lambda: self._post(request, channel, raw, files))

    def _post(self, request: web.Request, channel: str, raw: Record, files: dict[str, tuple[str, bytes]]) -> Post:
        room = self._writable(request)
        check_message(raw, files=len(files))
        if known := self._known(raw):
            return known
        self._check_reference(channel, raw)
        if room["type"] in THREADS and room["thread_metadata"]["archived"]:
            self.world.change_channel(channel, archived=False)  # as Discord does for whoever may write
        kept = {**raw, "attachments": self._uploaded(request, channel, raw, files)}
        post = self.world.post(channel, BOT, kept, nonce=raw.get("nonce"))
        if raw.get("enforce_nonce") and raw.get("nonce") is not None:
            self._nonces[str(raw["nonce"])] = (post.data["id"], time.monotonic())
        return post

    def _writable(self, request: web.Request) -> Record:
        room = self._room(request, "SEND_MESSAGES")
        if room["type"] in THREADS and room["thread_metadata"]["locked"]:
            raise LOCKED
        return room

    def _known(self, raw: Record) -> Post | None:
        """The message that this nonce made before. Errors: Refusal when it was deleted since."""
        number = self._known_id(raw)
        if not number:
            return None
        if number not in self.world.posts:
            raise UNKNOWN_MESSAGE
        return self.world.posts[number]

    def _known_id(self, raw: Record) -> str:
        """Discord knows a nonce for some minutes, whatever became of the message."""
        number, at = self._nonces.get(str(raw.get("nonce")), ("", 0.0))
        return number if raw.get("enforce_nonce") and time.monotonic() - at <= self.nonce_seconds else ""

    def _check_reference(self, channel: str, raw: Record) -> None:
        reference = raw.get("message_reference")
        if not reference:
            return
        if "READ_MESSAGE_HISTORY" in self.faults.denied:
            raise NO_REPLIES
        number = str(reference.get("message_id", ""))
        elsewhere = number in self.world.posts and self.world.posts[number].data["channel_id"] != channel
        if elsewhere or (reference.get("fail_if_not_exists", True) and number not in self.world.posts):
            raise Refusal.form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")

    def _uploaded(
        self, request: web.Request, channel: str, raw: Record, files: dict[str, tuple[str, bytes]]
    ) -> list[Record]:
        if sum(len(content) for _, content in files.values()) > UPLOAD:
            raise TOO_LARGE
        named = {str(entry.get("id")): entry for entry in raw.get("attachments") or ()}
        kept = [entry for entry in named.values() if len(str(entry["id"])) >= 5]  # a shorter one numbers a new file
        for field, (name, content) in files.items():
            entry = named.get(field.removeprefix("files[").removesuffix("]"), {})
            kept.append(self._stored(request, channel, entry.get("filename") or name, content))
        return kept

    def _stored(self, request: web.Request, channel: str, name: str, content: bytes) -> Record:
        number = self.world.new_id()
        self.world.files[number] = content
        name = name.replace(" ", "_")
        url = f"http://{request.host}/attachments/{channel}/{number}/{name}?ex=1&is=1&hm=1"
        return {"id": number, "filename": name, "size": len(content), "url": url, "proxy_url": url}

    async def _edit(self, request: web.Request) -> web.StreamResponse:
        channel, number, (raw, files) = *places(request), await body_of(request)
        fault = self.faults.strike("edit", rich=is_rich(raw))
        return await self._under(fault, request, lambda: self._change(request, channel, number, raw, files))

    def _change(
        self, request: web.Request, channel: str, number: str, raw: Record, files: dict[str, tuple[str, bytes]]
    ) -> Post:
        room, post = self._room(request), self.world.find(channel, number)
        if post.data["author"]["id"] != BOT:
            raise NOT_YOURS
        if room["type"] in THREADS and room["thread_metadata"]["archived"]:
            raise ARCHIVED
        check_message(raw, files=len(files), changes=True)
        if "attachments" in raw:
            raw = {**raw, "attachments": self._uploaded(request, channel, raw, files)}
        return self.world.edit(channel, number, raw)

    async def _under(self, fault: Fault | None, request: web.Request, apply: Apply) -> web.StreamResponse:
        """Apply and answer, unless `fault` says otherwise."""
        match fault:
            case None:
                return web.json_response(shown(apply().data))
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                apply()
                return abort(request)
            case Fault(Do.CUT_LATE, seconds):
                asyncio.get_running_loop().call_later(seconds, apply)
                return abort(request)
            case Fault(Do.ERROR_AFTER):
                apply()
                return web.json_response({"message": "502: Bad Gateway", "code": 0}, status=502)
            case Fault():
                return refusal(fault)

    async def _history(self, request: web.Request) -> web.Response:
        channel = self._room(request)["id"]
        if "READ_MESSAGE_HISTORY" in self.faults.denied:
            return web.json_response([])
        ripe = [p.data for p in self.world.room(channel) if sent_at(p.data["id"]) + self.faults.lag <= time.time()]
        return web.json_response([shown(data) for data in reversed(page(ripe, request))])

    async def _message(self, request: web.Request) -> web.Response:
        self._room(request, "READ_MESSAGE_HISTORY")
        return web.json_response(shown(self.world.find(*places(request)).data))

    async def _delete(self, request: web.Request) -> web.Response:
        self._room(request)
        self.world.delete(*places(request))
        return web.Response(status=204)

    async def _react(self, request: web.Request) -> web.StreamResponse:
        """Mark a message; what is marked so already stays so."""
        self._room(request, "READ_MESSAGE_HISTORY"), self._room(request, "ADD_REACTIONS")
        (channel, number), emoji = places(request), request.match_info["emoji"]
        if emoji.isascii():
            raise UNKNOWN_EMOJI
        found = self.world.find(channel, number).data.get("reactions", ())
        marked = [*(one for one in found if one["emoji"]["name"] != emoji), {"emoji": {"name": emoji}, "me": True}]
        match self.faults.strike("react"):
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                self.world.mark(channel, number, marked)
                return abort(request)
            case None:
                self.world.mark(channel, number, marked)
                return web.Response(status=204)
            case fault:
                return refusal(fault)

    async def _thread(self, request: web.Request) -> web.Response:
        channel, number = places(request)
        raw = await request.json()
        if self._room(request, "CREATE_PUBLIC_THREADS")["type"] not in (TEXT, ANNOUNCED):
            raise NO_THREADS
        self.world.find(channel, number)
        if not 1 <= len(raw.get("name") or "") <= THREAD_NAME:
            raise Refusal.form("name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {THREAD_NAME} in length.")
        if number in self.world.channels:
            raise THREAD_EXISTS
        return web.json_response(self.world.open_thread(channel, number, raw["name"]), status=201)

    async def _download(self, request: web.Request) -> web.Response:
        content = self.world.files.get(request.match_info["attachment"])
        if content is None or "hm" not in request.query:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=content)


def places(request: web.Request) -> tuple[str, str]:
    return request.match_info["channel"], request.match_info["message"]


def page(messages: list[Record], request: web.Request) -> list[Record]:
    """Messages that `after`, `before`, `around` and `limit` ask for, oldest first. Errors: Refusal for a bad `limit`."""
    query = request.query
    limit = int(query.get("limit", "50"))
    if not 1 <= limit <= 100:
        raise Refusal.form("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100")
    if "after" in query:
        return [m for m in messages if int(m["id"]) > int(query["after"])][:limit]
    if "around" in query:
        older = [m for m in messages if int(m["id"]) <= int(query["around"])][-(limit // 2) - 1 :]
        return [*older, *[m for m in messages if int(m["id"]) > int(query["around"])][: limit // 2]]
    return [m for m in messages if "before" not in query or int(m["id"]) < int(query["before"])][-limit:]


async def body_of(request: web.Request) -> tuple[Record, dict[str, tuple[str, bytes]]]:
    """The JSON of a message, and its files by the name of their field: (file name, content)."""
    if request.content_type != "multipart/form-data":
        return parsed(await request.text()), {}
    raw: Record = {}
    files: dict[str, tuple[str, bytes]] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        if part.name == "payload_json":
            raw = parsed(await part.text())
        else:
            files[str(part.name)] = (part.filename or "unnamed", bytes(await part.read()))
    return raw, files


def parsed(text: str) -> Record:
    try:
        raw: Any = json.loads(text)
    except ValueError as error:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from error
    if not isinstance(raw, dict):
        raise Refusal.form("_", "BASE_TYPE_OBJECT", "Not an object.")
    return raw
