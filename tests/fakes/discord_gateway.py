"""The gateway of the fake Discord: sessions that outlive their sockets, so that a resumed one gets what it missed."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Final

from aiohttp import WSMsgType, web

from tests.fakes.discord_world import BOT, Record, World, stamp

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
GUILDS, MEMBERS, PRESENCES = 1 << 0, 1 << 1, 1 << 8
GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 9, 1 << 12, 1 << 15
GUILD_REACTIONS, DIRECT_REACTIONS = 1 << 10, 1 << 13
PRIVILEGED: Final = MEMBERS | PRESENCES | MESSAGE_CONTENT
KNOWN_INTENTS: Final = (1 << 26) - 1
KEPT: Final = 1000  # events a session keeps for its resumption
HEARD_WITH_CONTENT: Final = ("content", "attachments", "embeds", "components")


@dataclass(slots=True, eq=False)
class Session:
    """Events that one shard was told. `socket` is None while nobody listens."""

    shard: int
    count: int
    intents: int
    id: str = field(default_factory=lambda: token_hex(8))
    sequence: int = 0
    kept: deque[Record] = field(default_factory=lambda: deque(maxlen=KEPT))
    socket: Socket | None = None

    def tell(self, event: str, data: Record) -> None:
        self.sequence += 1
        frame = {"op": DISPATCH, "t": event, "s": self.sequence, "d": data}
        self.kept.append(frame)
        if self.socket:
            self.socket.send(frame)

    def hears(self, event: str, guild: str | None) -> bool:
        if (int(guild) >> 22) % self.count != self.shard if guild else self.shard != 0:
            return False
        if event.startswith("MESSAGE_REACTION"):
            return bool(self.intents & (GUILD_REACTIONS if guild else DIRECT_REACTIONS))
        if event.startswith("MESSAGE"):
            return bool(self.intents & (GUILD_MESSAGES if guild else DIRECT_MESSAGES))
        return event == "INTERACTION_CREATE" or bool(self.intents & GUILDS)


@dataclass(slots=True, eq=False)
class Socket:
    """One connection. A deaf one stays open, and nothing comes on it any more."""

    wire: web.WebSocketResponse
    request: web.Request
    deaf: bool = False
    frames: asyncio.Queue[Record] = field(default_factory=asyncio.Queue)

    def send(self, frame: Record) -> None:
        if not self.deaf:
            self.frames.put_nowait(frame)

    async def write(self) -> None:
        while True:
            frame = await self.frames.get()
            if not self.deaf and not self.wire.closed:
                await self.wire.send_str(json.dumps(frame))

    def cut(self) -> None:
        if self.request.transport is not None:
            self.request.transport.abort()


class Gateway:
    """`privileged` are the intents the application may ask for; `refuse` closes each new session with that code."""

    def __init__(self, world: World, *, heartbeat: float, token: Callable[[], str]) -> None:
        self.sessions: dict[str, Session] = {}
        self.sockets: set[Socket] = set()
        self.privileged = MESSAGE_CONTENT
        self.refuse: int | None = None
        self.down: list[str] = []  # servers that are named when a session begins, and told of never
        self.closed = False
        self.identified: list[Record] = []
        self.resumed = 0
        self._world = world
        self._heartbeat = heartbeat
        self._token = token

    def tell(self, event: str, data: Record, guild: str | None) -> None:
        """Tell each session that listens to this."""
        for session in self.sessions.values():
            if session.hears(event, guild):
                session.tell(event, censored(event, data, session.intents))

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.closed:
            return web.Response(status=503)
        wire = web.WebSocketResponse()
        await wire.prepare(request)
        socket = Socket(wire, request)
        self.sockets.add(socket)
        writer = asyncio.create_task(socket.write())  # it ends with this connection, below
        socket.send({"op": HELLO, "d": {"heartbeat_interval": int(self._heartbeat * 1000)}})
        try:
            await self._listen(socket)
        finally:
            writer.cancel()
            self.sockets.discard(socket)
            self._left(socket)
        return wire

    def _left(self, socket: Socket) -> None:
        for session in self.sessions.values():
            if session.socket is socket:
                session.socket = None

    async def _listen(self, socket: Socket) -> None:
        async for message in socket.wire:
            if message.type is not WSMsgType.TEXT:
                return
            frame = json.loads(message.data)
            match frame["op"]:
                case op if op == HEARTBEAT:
                    socket.send({"op": ACK})
                case op if op == IDENTIFY:
                    await self._identify(socket, frame["d"])
                case op if op == RESUME:
                    self._resume(socket, frame["d"])

    async def _identify(self, socket: Socket, given: Record) -> None:
        self.identified.append({name: value for name, value in given.items() if name != "token"})
        code = self._fault_of(given)
        if code:
            await socket.wire.close(code=code, message=WORDS[code].encode())
            return
        shard, count = given.get("shard", (0, 1))
        session = Session(shard, count, given["intents"], socket=socket)
        self.sessions = {key: old for key, old in self.sessions.items() if old.shard != shard}
        self.sessions[session.id] = session
        guilds = [number for number in self._world.guilds if session.hears("GUILD_CREATE", number)]
        session.tell("READY", self._ready(socket, session, guilds))
        for number in guilds:
            session.tell("GUILD_CREATE", {**self._world.guild(number), "joined_at": stamp(0)})

    def _fault_of(self, given: Record) -> int | None:
        shard, count = given.get("shard", (0, 1))
        if self.refuse:
            return self.refuse
        if given.get("token") != self._token():
            return 4004
        if not 0 <= shard < count:
            return 4010
        if given["intents"] & ~KNOWN_INTENTS:
            return 4013
        return 4014 if given["intents"] & PRIVILEGED & ~self.privileged else None

    def _ready(self, socket: Socket, session: Session, guilds: list[str]) -> Record:
        return {
            "v": 10,
            "user": {**self._world.users[BOT], "mfa_enabled": False, "verified": True, "email": None, "flags": 0},
            "guilds": [{"id": number, "unavailable": True} for number in (*guilds, *self.down)],
            "session_id": session.id,
            "resume_gateway_url": f"ws://{socket.request.host}/gateway",
            "shard": [session.shard, session.count],
            "application": {"id": BOT, "flags": self.flags},
        }

    @property
    def flags(self) -> int:
        """Flags of the application: the privileged intents it may ask for."""
        return (1 << 18) * bool(self.privileged & MESSAGE_CONTENT) | (1 << 14) * bool(self.privileged & MEMBERS)

    def _resume(self, socket: Socket, given: Record) -> None:
        session = self.sessions.get(given["session_id"])
        if session is None or given["token"] != self._token():
            socket.send({"op": INVALID, "d": False})
            return
        self.resumed += 1
        session.socket = socket
        for frame in [frame for frame in session.kept if frame["s"] > (given["seq"] or 0)]:
            socket.send(frame)
        session.tell("RESUMED", {})

    # What a test may do.

    def drop(self) -> None:
        """Every connection is cut, as a dying network does."""
        for socket in list(self.sockets):
            socket.cut()

    def deafen(self) -> None:
        for socket in self.sockets:
            socket.deaf = True

    def send_all(self, frame: Record) -> None:
        for socket in self.sockets:
            socket.send(frame)

    def forget(self) -> None:
        """No session can be resumed any more."""
        self.sessions.clear()

    async def close_all(self, code: int) -> None:
        for socket in list(self.sockets):
            await socket.wire.close(code=code, message=WORDS.get(code, "").encode())


def censored(event: str, data: Record, intents: int) -> Record:
    """Without the intent, words of servers come only where they name the bot."""
    heard = intents & MESSAGE_CONTENT or not data.get("guild_id") or not event.startswith("MESSAGE")
    if heard or any(user["id"] == BOT for user in data.get("mentions", ())):
        return data
    return {**data, **{name: type(data[name])() for name in HEARD_WITH_CONTENT if name in data}}


WORDS: Final[dict[int, str]] = {
    4000: "Unknown error",
    4004: "Authentication failed.",
    4010: "Invalid shard.",
    4011: "Sharding required.",
    4012: "Invalid API version.",
    4013: "Invalid intent(s).",
    4014: "Disallowed intent(s).",
}
