"""A text that is seen growing in a private chat, without a message: Telegram shows it for half a minute at most."""

from __future__ import annotations

from collections import Counter
from typing import Final

import structlog
from telegram import Bot
from telegram.error import TelegramError

from adapters.telegram.errors import Refused
from adapters.telegram.outgoing.render import forms, is_visible
from adapters.telegram.outgoing.send import entities
from adapters.telegram.rooms import is_group
from runtime.markup import parse

log = structlog.get_logger("telegram")

CHATS_REMEMBERED: Final = 4_096
"""Chats in mind."""


class Drafting:
    """Drafts of one account. Where one is refused there is none from then on."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._shown: Counter[int] = Counter()
        self._refused: set[int] = set()
        self._works = True

    def works(self, chat: int) -> bool:
        return self._works and not is_group(chat) and chat not in self._refused

    def end(self, chat: int) -> None:
        """A message took the draft's place: the next draft is another one."""
        if len(self._shown) > CHATS_REMEMBERED:
            self._shown.clear()
        self._shown[chat] += 1

    async def show(self, chat: int, topic: int | None, text: str) -> None:
        """The end of `text`, where it is longer than one message. Best effort."""
        (said, made), _ = forms(parse(text))[-1]
        if not is_visible(said):
            return
        try:
            await self._bot.send_message_draft(
                chat, self._shown[chat] + 1, said, message_thread_id=topic, entities=entities(made)
            )
        except Refused as error:
            self._refuse(chat, error)
        except TelegramError as error:
            log.debug("a draft was not shown", reason=error.message)

    def _refuse(self, chat: int, error: Refused) -> None:
        """A server that does not know drafts says 404; one that knows them may refuse a chat."""
        if error.code == 404:
            self._works = False
        elif error.code in (400, 403):
            if len(self._refused) > CHATS_REMEMBERED:
                self._refused.clear()
            self._refused.add(chat)
        log.info("no drafts from now on", chat=chat, reason=error.description)
