"""One shard's connection to the gateway: kept, resumed where it can be, begun anew where not, and watched.

CONNECTING -READY-> CONNECTED -dropped, told to reconnect-> RECONNECTING -RESUMED, READY-> CONNECTED
                        |  silent though it was asked for a sign of life: DEAF, and then as dropped
                        |  closed with a fatal code: REFUSED, tried again now and then
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NoReturn

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket, KeepAliveHandler, ReconnectWebSocket
from discord.http import Route

from adapters.discord.errors import LoginRefused, login_refused, ours, told
from adapters.discord.http import Http
from adapters.discord.settings import DiscordSettings
from runtime.contract import CONNECTED, Connection, ConnectionStatus

Hear = Callable[[str], None]
"""Is given each frame of the gateway, as the text it came in."""

log = logging.getLogger(__name__)

INTENTS: Final = discord.Intents(
    guilds=True,
    guild_messages=True,
    dm_messages=True,
    guild_reactions=True,
    dm_reactions=True,
    message_content=True,
)
STAYING: Final = 4000  # closes a socket whose session can be resumed
RESUME_TRIES: Final = 3
HEART: Final = 1.0  # seconds for a heartbeat on its way
LIBRARY_PATIENCE: Final = 140.0  # seconds of silence until the library ends a socket: ours comes first
UNWELL: Final = (discord.HTTPException, discord.RateLimited, discord.ConnectionClosed, aiohttp.ClientError, OSError)
"""What ends a connection and not the account. A time-out is an OSError too."""


@dataclass(frozen=True, slots=True)
class Session:
    """Facts that a resumption needs."""

    id: str
    sequence: int | None
    gateway: yarl.URL


class Turn:
    """Sessions of an account begin one after the other, so far apart."""

    def __init__(self, apart: timedelta) -> None:
        self._apart = apart.total_seconds()
        self._next = 0.0

    async def come(self) -> None:
        """Wait for one's turn."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + self._apart
        await asyncio.sleep(at - now)


REACTION_ADDED: Final = "MESSAGE_REACTION_ADD"
REACTIONS: Final = (REACTION_ADDED, "MESSAGE_REACTION_REMOVE")
READ_HERE: Final = ("INTERACTION_CREATE", "MESSAGE_CREATE", "MESSAGE_UPDATE", *REACTIONS)
"""Events of which the library would make objects that nobody uses, before what we make of them goes on."""


class Line(discord.Client):
    """The library's client without its caches and events: it speaks the protocol, and `hear` is given what it hears."""

    def __init__(self, settings: DiscordSettings, hear: Hear, turn: Turn, *, shard: int, count: int) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nobody speaks here
        super().__init__(
            intents=INTENTS,
            shard_id=shard,
            shard_count=count,
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            guild_ready_timeout=0.0,
            heartbeat_timeout=LIBRARY_PATIENCE,
            enable_debug_events=True,  # so that each frame is told
        )
        for event in READ_HERE:
            self._connection.parsers.pop(event, None)
        self.http = self._connection.http = Http(settings)
        self.standing = ConnectionStatus(Connection.CONNECTING, f'account "{settings.account}": connecting to Discord')
        self._settings = settings
        self._hear = hear
        self._turn = turn
        self._session: Session | None = None
        self._failures = 0
        self._heard = 0.0  # when the last frame came, by the loop's clock

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Take what the library tells. Only the frames themselves are of use; in the order they came, none in a task."""
        if event == "socket_raw_receive":
            self._heard = asyncio.get_running_loop().time()
            self._hear(args[0])

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Nothing: `Turn` waited before the socket was opened, so that no half-open one is left behind."""

    async def keep(self) -> NoReturn:
        """Be connected, until cancelled."""
        await self._async_setup_hook()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._urge())
                while True:
                    wait = await self._connected()
                    await asyncio.sleep(wait.total_seconds())
        finally:
            await self.close()
            await self._stop_hearts()

    async def _stop_hearts(self) -> None:
        """The library's heartbeats are threads, and one may beat once more after its socket: then on a loop that is gone."""
        every = (thread for thread in threading.enumerate() if isinstance(thread, KeepAliveHandler))
        for heart in [one for one in every if one.ws._connection is self._connection]:
            heart.stop()
            await asyncio.to_thread(heart.join, HEART)

    def welcomed(self) -> None:
        """The session began or was resumed."""
        self._failures = 0
        self.standing = CONNECTED

    # ------------------------------------------------------------------------------------------- one connection

    async def _connected(self) -> timedelta:
        """One connection from its begin to its end; how long to wait before the next."""
        try:
            await self._listen(await self._opened())
        except ReconnectWebSocket as error:
            wait = self._dropped(resumable=error.resume)
        except LoginRefused as error:
            wait = self._refused(error)
        except UNWELL as error:
            wait = self._unwell(error)
        if self.ws and self.ws.open:
            await self.ws.close(STAYING)
        return wait

    async def _opened(self) -> DiscordWebSocket:
        session = self._session
        if session is None:
            await self._turn.come()
            return await self._socket(gateway=await self._gateway())
        # The session's own gateway may be what is gone: after a few tries the common one knows it too.
        gateway = session.gateway if self._failures < RESUME_TRIES else await self._gateway()
        return await self._socket(gateway=gateway, resume=True, session=session.id, sequence=session.sequence)

    async def _socket(self, **how: Any) -> DiscordWebSocket:
        async with asyncio.timeout(self._settings.waits.quiet.total_seconds()):
            self.ws = await DiscordWebSocket.from_client(self, initial=True, shard_id=self.shard_id, **how)
        return self.ws

    async def _gateway(self) -> yarl.URL:
        answer = await self.http.request(Route("GET", "/gateway"))
        return yarl.URL(answer["url"])

    async def _listen(self, socket: DiscordWebSocket) -> NoReturn:
        quiet = self._settings.waits.quiet.total_seconds()
        try:
            while True:
                async with asyncio.timeout(quiet):
                    await self._frame(socket)
        except TimeoutError:
            self._deaf()
            raise ReconnectWebSocket(self.shard_id) from None
        except discord.ConnectionClosed as error:
            refused = login_refused(error.code, self._settings.account, self._settings.identity)
            raise refused or error from error
        finally:
            self._remember(socket)

    async def _urge(self) -> NoReturn:
        """Ask for a sign of life whenever nothing came for a while; whoever listens notices when none comes then."""
        urge, loop = self._settings.waits.urge.total_seconds(), asyncio.get_running_loop()
        asked = 0.0
        while True:
            if (rest := max(self._heard, asked) + urge - loop.time()) > 0:
                await asyncio.sleep(rest)
                continue
            asked = loop.time()
            if self.ws and self.ws.open and (heart := self.ws._keep_alive):
                with suppress(*UNWELL):
                    async with asyncio.timeout(urge):
                        await self.ws.send_heartbeat(heart.beat())

    async def _frame(self, socket: DiscordWebSocket) -> None:
        """Take one frame. What the library cannot read is no reason to lose the connection, nor for a warning: `hear` was
        given it, and warns of what is malformed for us too."""
        try:
            await socket.poll_event()
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            log.debug("the library cannot read an event of Discord: %s", told(error))

    def _remember(self, socket: DiscordWebSocket) -> None:
        self._session = Session(socket.session_id, socket.sequence, socket.gateway) if socket.session_id else None

    # ------------------------------------------------------------------------------------------- how it ended

    def _dropped(self, *, resumable: bool) -> timedelta:
        """Told to come again, or cut. At once the first time, since a session is only kept for a while."""
        if not resumable:
            self._session = None
        self._down("the connection to Discord was lost; reconnecting")
        return timedelta() if self._failures == 1 else self._backoff()

    def _unwell(self, error: Exception) -> timedelta:
        if isinstance(error, discord.HTTPException) and error.status == 401:
            return self._refused(LoginRefused(str(ours(error, self._settings.account))))
        self._down(f"Discord can't be reached ({told(error)}); retrying")
        return self._backoff()

    def _deaf(self) -> None:
        quiet = self._settings.waits.quiet.total_seconds()
        words = f"Discord said nothing for {quiet:g} s, not even a heartbeat reply; reconnecting"
        self.standing = ConnectionStatus(Connection.DEAF, self._of_account(words))

    def _down(self, words: str) -> None:
        self._failures += 1
        if self.standing.connection is Connection.CONNECTED:
            self.standing = ConnectionStatus(Connection.RECONNECTING, self._of_account(words))
        elif self.standing.connection is not Connection.DEAF:
            self.standing = ConnectionStatus(self.standing.connection, self._of_account(words))

    def _refused(self, error: LoginRefused) -> timedelta:
        self._failures += 1
        self._session = None
        if self.standing.reason != error.sentence:
            log.error("%s", error.sentence)
        self.standing = ConnectionStatus(Connection.REFUSED, error.sentence)
        waits = self._settings.waits
        return grown(waits.refused, self._failures, waits.refused_most)

    def _backoff(self) -> timedelta:
        return grown(self._settings.waits.again, self._failures, self._settings.waits.again_most)

    def _of_account(self, words: str) -> str:
        return f'account "{self._settings.account}": {words}'


def grown(first: timedelta, times: int, most: timedelta) -> timedelta:
    """`first`, doubled each time after the first."""
    wait: timedelta = min(first * 2 ** min(times - 1, 10), most)
    return wait
