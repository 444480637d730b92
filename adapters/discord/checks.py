"""Questions of `signalbox doctor` to Discord about an account: the token, the intents, the gateway. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import discord
from discord.http import Route

from adapters.discord.errors import LoginRefused, check_identity, ours
from adapters.discord.http import Http
from adapters.discord.interactions import commands, is_registered
from adapters.discord.settings import DiscordSettings
from runtime.contract import Finding, Level
from runtime.http.platform_clock import PlatformClock

CONTENT_FLAGS: Final = 1 << 18 | 1 << 19  # for bots in a hundred servers or more, and for smaller ones
PORTAL: Final = "https://discord.com/developers/applications"
RIGHTS: Final = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    read_message_history=True,
    add_reactions=True,
)
SESSIONS_LEFT: Final = 10
REFUSED_STATUS: Final = (401, 403)
REACHABLE: Final = "is discord.com reachable from this machine, also through its firewall or proxy? If it is, see https://discordstatus.com"


def invitation(identity: str) -> str:
    """The link by which somebody who manages a server lets the bot in, with the rights it needs."""
    return (
        "https://discord.com/oauth2/authorize"
        f"?client_id={identity}&scope=bot+applications.commands&permissions={RIGHTS.value}"
    )


async def checked(settings: DiscordSettings) -> Sequence[Finding]:
    """Look at an account that need not be at work. Errors: ConfigError when the token is none of Discord."""
    http, clock = Http(settings), PlatformClock("Discord", partial(datetime.now, UTC))
    http.dated = clock.heed
    try:
        found = await Checks(settings, http).all()
        return [*found, *clock.findings(f"discord.{settings.account}.clock")]
    finally:
        await http.close()


class Checks:
    """Each finding begins with the account's name."""

    def __init__(self, settings: DiscordSettings, http: Http) -> None:
        self._settings = settings
        self._identity = settings.identity
        self._http = http
        self._is_refused = False
        """True where Discord said that it doesn't let the last question in."""

    async def all(self) -> Sequence[Finding]:
        token = await self._token()
        if token.level is Level.ERROR:
            return [token]
        return [token, await self._intents(), await self._gateway(), await self._servers(), await self._commands()]

    async def _token(self) -> Finding:
        answer = await self._ask("/users/@me")
        if isinstance(answer, str):
            if not self._is_refused:
                return self._bad("reachable", answer, "Messages wait until Discord can be reached.", REACHABLE)
            fix = f"get a new token under Bot in your application at {PORTAL}"
            return self._bad("token", answer, "Without it, nothing in this account works.", fix)
        try:
            check_identity(str(answer["id"]), self._settings.account, self._identity)
        except LoginRefused as error:
            return self._bad("token", error.sentence, "It doesn't notice when somebody mentions it.")
        return self._good("token", f"the token belongs to {answer['username']}")

    async def _intents(self) -> Finding:
        answer = await self._ask("/applications/@me")
        if isinstance(answer, str):
            return self._bad("intents", answer)
        if answer.get("flags", 0) & CONTENT_FLAGS:
            return self._good("intents", "the Message Content intent is on")
        why = "Discord closes the connection (4014), because the bot asks for the text of messages."
        fix = f"turn on Message Content Intent under Bot at {PORTAL}/{answer['id']}/bot"
        return self._bad("intents", "the Message Content intent is off", why, fix)

    async def _gateway(self) -> Finding:
        answer = await self._ask("/gateway/bot")
        if isinstance(answer, str):
            return self._bad("gateway", answer)
        left, shards = answer["session_start_limit"]["remaining"], answer["shards"]
        if left < SESSIONS_LEFT:
            why = "Discord limits new connections per day, and resets the token of a bot that makes more."
            return self._finding(Level.WARNING, "gateway", f"only {left} new connections are left today", why)
        set_to = self._settings.shards
        if set_to and set_to < shards:
            why = "Discord refuses connections with too many servers on each (4011)."
            fix = f"set shards to 0 or to {shards}"
            return self._finding(
                Level.WARNING, "gateway", f"Discord recommends {shards} shards, not {set_to}", why, fix
            )
        return self._good("gateway", f"the gateway is there; {shards} shard{'s' * (shards != 1)} recommended")

    async def _servers(self) -> Finding:
        answer = await self._ask("/users/@me/guilds")
        if isinstance(answer, str):
            return self._bad("servers", answer)
        if answer:
            return self._good("servers", f"it is in {len(answer)} server{'s' * (len(answer) != 1)}")
        fix = f"open {invitation(self._identity)}"
        return self._finding(
            Level.WARNING, "servers", "it isn't in any server yet", "Nobody can write to it there.", fix
        )

    async def _commands(self) -> Finding:
        answer = await self._ask(f"/applications/{self._identity}/commands")
        if isinstance(answer, str):
            why = "Without them, /ask and the others are not offered; written commands still work."
            return self._finding(Level.WARNING, "commands", answer, why)
        if is_registered(commands(), answer):
            return self._good("commands", "the commands are registered")
        return self._good("commands", "the commands are not registered yet; the next start registers them")

    async def _ask(self, path: str) -> Any:
        """Discord's answer, or in words why there is none."""
        try:
            return await self._http.request(Route("GET", path))
        except Exception as error:  # noqa: BLE001 - a person reads what it comes to
            self._is_refused = isinstance(error, discord.HTTPException) and error.status in REFUSED_STATUS
            return str(ours(error, self._settings.account, reads=True))

    def _good(self, what: str, words: str) -> Finding:
        return self._finding(Level.OK, what, words)

    def _bad(self, what: str, words: str, why: str = "", fix: str = "") -> Finding:
        return self._finding(Level.ERROR, what, words, why, fix)

    def _finding(self, level: Level, what: str, words: str, why: str = "", fix: str = "") -> Finding:
        return Finding(level, f"discord.{self._settings.account}.{what}", words, why, fix)
