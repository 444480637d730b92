"""Looks ahead: could something be posted in a channel?

What the bot may do there is told by no call: it comes of its roles, and of what the channel says of each of them.
Source: discord.com/developers/docs/topics/permissions, read 2026-11.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

import aiohttp
import discord
from discord.http import Route

from adapters.discord.errors import FIXES, NO_ACCESS, THREAD_LOCKED, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE
from adapters.discord.http import Http
from adapters.discord.outgoing.send import channel_of
from adapters.discord.rooms import DM, GROUP_DM, THREADS
from runtime.contract import Address

Raw = Mapping[str, Any]

REACH_TIMEOUT: Final = timedelta(seconds=8)
"""A person waits for it."""
WRITABLE: Final = frozenset({0, 2, 5, 13}) | THREADS
"""Text, voice, announcements, stages, threads. Not those: categories, forums and what Discord may yet think of."""
NO_PLACE: Final = "Nobody can post there. For a forum, name a post; for a category, name a channel."
ROOM_GONE: Final = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, NO_ACCESS, 10004})
FLAGS: Final = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "attach_files": "Attach Files",
}


class Reach:
    """Asks for the account whose bot is `identity`."""

    def __init__(self, http: Http, identity: str) -> None:
        self._http = http
        self._identity = identity

    async def of(self, address: Address) -> str | None:
        """The reason nothing can be posted there, with its fix; None if posting works or Discord cannot be asked."""
        try:
            async with asyncio.timeout(REACH_TIMEOUT.total_seconds()):
                return await self._asked(address)
        except discord.HTTPException as error:
            return FIXES.get(error.code) if error.code in ROOM_GONE else None
        except (discord.RateLimited, aiohttp.ClientError, TimeoutError):
            return None

    async def _asked(self, address: Address) -> str | None:
        place = await self._place(address)
        if place["type"] in (DM, GROUP_DM):
            return None
        if place["type"] not in WRITABLE:
            return NO_PLACE
        in_thread = place["type"] in THREADS
        channel = await self._get(f"/channels/{place['parent_id']}") if in_thread else place
        rights = await self._rights(channel)
        if in_thread and place["thread_metadata"].get("locked") and not rights.manage_threads:
            return FIXES[THREAD_LOCKED]
        return lacking(rights, in_thread=in_thread)

    async def _place(self, address: Address) -> Raw:
        """The channel or thread; the channel alone where a message of it has no thread yet, which the first reply begins."""
        try:
            return await self._get(f"/channels/{channel_of(address)}")
        except discord.NotFound:
            if not address.thread:
                raise
        await self._get(f"/channels/{address.room}/messages/{address.thread}")
        return await self._get(f"/channels/{address.room}")

    async def _rights(self, channel: Raw) -> discord.Permissions:
        server = await self._get(f"/guilds/{channel['guild_id']}")
        member = await self._get(f"/guilds/{channel['guild_id']}/members/{self._identity}")
        return rights(server, member, channel, self._identity)

    async def _get(self, path: str) -> Raw:
        found: Raw = await self._http.request(Route("GET", path))
        return found


def rights(server: Raw, member: Raw, channel: Raw, user: str) -> discord.Permissions:
    """Rights of `user` in `channel`: the later of everybody, their roles and they themselves goes before."""
    everybody = str(server["id"])
    roles = {everybody, *map(str, member.get("roles", ()))}
    base = joined(int(role["permissions"]) for role in server["roles"] if str(role["id"]) in roles)
    if str(server.get("owner_id")) == user or discord.Permissions(base).administrator:
        return discord.Permissions.all()
    of = {str(one["id"]): one for one in channel.get("permission_overwrites") or ()}
    for some in ({everybody}, roles - {everybody}, {user}):
        said = [of[one] for one in some if one in of]
        base = base & ~joined(int(one["deny"]) for one in said) | joined(int(one["allow"]) for one in said)
    return discord.Permissions(base)


def joined(flags: Iterable[int]) -> int:
    together = 0
    for flag in flags:
        together |= flag
    return together


def lacking(held: discord.Permissions, *, in_thread: bool) -> str | None:
    """The right that a report needs there and the bot lacks: it may bring pictures."""
    write = "send_messages_in_threads" if in_thread else "send_messages"
    missing = [FLAGS[name] for name in ("view_channel", write, "attach_files") if not getattr(held, name)]
    return f"The bot's role is missing {' and '.join(missing)} there. Add it." if missing else None
