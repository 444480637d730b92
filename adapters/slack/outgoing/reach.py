"""Looks ahead: could something be posted in a channel?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from adapters.slack.bot_user import BotUser
from adapters.slack.errors import FIXES, NO_THREAD, Refusal
from adapters.slack.web import Web
from runtime.contract import Address
from runtime.errors import ChannelError

REACH_TIMEOUT: Final = timedelta(seconds=8)
"""A person waits for it."""
NO_SCOPE: Final = "missing_scope"
NOT_IN: Final = "not_in_channel"
NO_CHANNEL: Final = "channel_not_found"
SAYS_ALL: Final = frozenset({"is_archived", "restricted_action", "restricted_action_read_only_channel"})
"""Words of Slack that are about the channel; any other says nothing of it."""


class Reach:
    """Asks with the Web API of the account."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def of(self, address: Address, me: BotUser) -> str | None:
        """The reason nothing can be posted there, with its fix; None if posting works or Slack gives no answer."""
        try:
            async with asyncio.timeout(REACH_TIMEOUT.total_seconds()):
                return await self._channel(address.room, me) or await self._thread(address)
        except Refusal as error:
            return refused(error, me)
        except (ChannelError, TimeoutError):
            return None

    async def _channel(self, room: str, me: BotUser) -> str | None:
        try:
            told = await self._web.call("conversations.info", channel=room)
        except Refusal as error:
            if error.code != NO_SCOPE:
                raise
            # Who may hear there may also look there, and is refused as it would be when it posts.
            await self._web.call("conversations.history", channel=room, limit=1)
            return None
        return wrong_with(told.get("channel") or {}, me)

    async def _thread(self, address: Address) -> str | None:
        if address.thread:
            await self._web.call("conversations.replies", channel=address.room, ts=address.thread, limit=1)
        return None


def wrong_with(channel: Mapping[str, Any], me: BotUser) -> str | None:
    """Reason against posting, from what Slack tells of a channel."""
    if channel.get("is_archived"):
        return FIXES["is_archived"]
    if channel.get("is_member") is False and not channel.get("is_im"):
        return invite("The bot is not in the channel", me)
    return None


def refused(error: Refusal, me: BotUser) -> str | None:
    match error.code:
        case code if code == NOT_IN:
            return invite("The bot is not in the channel", me)
        case code if code == NO_CHANNEL:
            return invite("There is no such channel, or it is private and the bot is not in it", me)
        case code if code in NO_THREAD:
            return "The thread is gone. Name another one, or its channel."
        case code if code in SAYS_ALL:
            return FIXES[code]
        case _:
            return None  # of the token, of scopes, of a thing that passes


def invite(what: str, me: BotUser) -> str:
    return f"{what}: say /invite @{me.name} there."
