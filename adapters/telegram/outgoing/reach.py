"""Checks whether the bot could post in a chat.

Telegram tells of groups whether we are in them and may write. Whether a person blocked the bot it tells only whoever
acts: so the bot is seen typing there for a moment, which leaves nothing. Whether a topic is gone or closed it does not
even tell whoever types (tdlib/telegram-bot-api#732): that is found out by the first message.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from telegram import Bot, ChatMember, ChatMemberAdministrator, ChatMemberRestricted
from telegram.constants import ChatAction
from telegram.error import TelegramError

from adapters.telegram.errors import Refused
from adapters.telegram.rooms import is_group, topic_of
from runtime.contract import Address

REACH_TIMEOUT: Final = timedelta(seconds=8)
"""A person waits for it."""

OUT: Final = "The bot was removed from that chat. Add it again."
BLOCKED: Final = "This person has blocked the bot. They have to open it and press Start."
UNKNOWN: Final = (
    "There is no such chat, or the bot was never in it. Add the bot to the group, or have the person write to it first."
)
MUTE: Final = (
    "The bot may not write there. Allow it to send messages in the chat's permissions; in a channel, make it an "
    "administrator who can post."
)
NOT_THERE: Final = ("chat not found", "peer_id_invalid", "user not found", "group is deactivated", "was deleted")
NOT_ALLOWED: Final = (
    *("not enough rights", "have no rights", "need administrator rights", "chat_write_forbidden", "chat_restricted"),
    "chat_send_",
)


class Reach:
    """Asks with `bot`, which is the user `identity`."""

    def __init__(self, bot: Bot, identity: str) -> None:
        self._bot = bot
        self._identity = int(identity)

    async def of(self, address: Address, chat: int) -> str | None:
        """The reason nothing can be posted there, with its fix; None if posting works or Telegram cannot be asked."""
        try:
            async with asyncio.timeout(REACH_TIMEOUT.total_seconds()):
                return await self._asked(address, chat)
        except Refused as error:
            return refused(error, chat)
        except (TelegramError, TimeoutError):
            return None

    async def _asked(self, address: Address, chat: int) -> str | None:
        if is_group(chat) and (wrong := await self._of_group(chat)):
            return wrong
        await self._bot.send_chat_action(chat, ChatAction.TYPING, message_thread_id=topic_of(address))
        return None

    async def _of_group(self, chat: int) -> str | None:
        try:
            return wrong_with(await self._bot.get_chat_member(chat, self._identity))
        except (TypeError, ValueError):
            return None  # the library reads no member of whom an older or newer server tells other fields


def wrong_with(member: ChatMember) -> str | None:
    """Reason against posting, from our standing in a group or a channel."""
    match member:
        case ChatMember(status=ChatMember.LEFT | ChatMember.BANNED):
            return OUT
        case ChatMemberRestricted(can_send_messages=False) | ChatMemberAdministrator(can_post_messages=False):
            return MUTE
        case _:
            return None


def refused(error: Refused, chat: int) -> str | None:
    """Meaning of a refusal for the chat; None where it says nothing of it. The texts are of the Bot API, read 2026-11."""
    if error.moved_to:
        return None  # it goes on under its new id, which the first message learns
    if error.code == 403:
        return OUT if is_group(chat) else BLOCKED
    if error.code != 400:
        return None
    if any(words in error.text for words in NOT_THERE):
        return UNKNOWN
    return MUTE if any(words in error.text for words in NOT_ALLOWED) else None
