"""The calls that show something: one call a part, never repeated here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, BinaryIO, Final

import structlog
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReactionTypeEmoji,
    ReplyParameters,
)
from telegram.error import TelegramError

from adapters.telegram.errors import MESSAGE_GONE, NO_TEXT_THERE, Refused, ours
from adapters.telegram.outgoing.entities import Entity
from adapters.telegram.outgoing.render import Body, key_rows
from adapters.telegram.rooms import message_name, message_of, topic_of
from adapters.telegram.settling.settle import Found
from runtime.contract import Part, Receipt, Workspaces
from runtime.errors import Rejected

log = structlog.get_logger("telegram")

NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
BAD_REQUEST: Final = 400
"""Else the platform fetches the first address in a text, also one that the text should not have told anybody."""


class Sending:
    """Shows parts with `bot`."""

    def __init__(self, *, bot: Bot, account: str, workspaces: Workspaces) -> None:
        self._bot = bot
        self._account = account
        self._workspaces = workspaces

    async def send(self, part: Part, chat: int) -> Receipt:
        """Errors: Refused with `moved_to` when the chat has another id now; else Retryable, Uncertain, Rejected."""
        body = body_of(part)
        try:
            message = await (self._send_file(part, body, chat) if body.file else self._send_text(part, body, chat))
        except Refused as error:
            if error.moved_to:
                raise
            raise ours(error, self._account) from error
        except TelegramError as error:
            raise ours(error, self._account) from error
        return Receipt(message_name(message.chat.id, message.message_id))

    async def _send_text(self, part: Part, body: Body, chat: int) -> Message:
        return await self._bot.send_message(
            chat,
            body.text,
            entities=entities(body.entities),
            link_preview_options=NO_PREVIEW,
            **_around(part, body, chat),
        )

    async def _send_file(self, part: Part, body: Body, chat: int) -> Message:
        try:
            return await self._send_as(part, body, chat)
        except Refused as error:
            if error.code != BAD_REQUEST or error.moved_to or not body.is_recording:
                raise
        # Certainly not shown: people may forbid voice notes, and what Telegram doesn't play is still a file.
        return await self._send_as(part, replace(body, mime=""), chat)

    async def _send_as(self, part: Part, body: Body, chat: int) -> Message:
        held = BytesIO(body.holds.encode("utf-8", "replace")) if body.holds else None
        try:
            with held or self._workspaces.open(part.address, body.file) as file:
                return await self._upload(file, body, chat, _around(part, body, chat))
        except (OSError, ValueError) as error:
            raise Rejected(f"The file {body.file} can't be read: {error}", form=True) from error

    async def _upload(self, file: BinaryIO, body: Body, chat: int, around: Mapping[str, Any]) -> Message:
        sent = InputFile(file, filename=body.name, read_file_handle=False)
        caption: dict[str, Any] = {"caption": body.text or None, "caption_entities": entities(body.entities)}
        if body.is_photo:
            return await self._bot.send_photo(chat, sent, **caption, **around)
        if body.is_recording:
            send = self._bot.send_voice if body.is_voice else self._bot.send_audio
            return await send(chat, sent, **caption, **around)
        return await self._bot.send_document(chat, sent, disable_content_type_detection=True, **caption, **around)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Replace the text, or what stands under a file. The same once more is no error."""
        found = message_of(receipt.message_id)
        if found is None:
            raise Rejected(f"{receipt.message_id!r} isn't a Telegram message")
        body = body_of(part)
        if body.file:
            raise Rejected("Telegram: a text that's already shown can't become a file", form=True)
        try:
            await (self._react(*found, body.reaction) if body.reaction else self._edit(*found, body))
        except Refused as error:
            if not error.is_untouched:
                raise ours(error, self._account) from error
        except TelegramError as error:
            raise ours(error, self._account) from error
        return receipt

    async def _react(self, chat: int, number: int, emoji: str) -> None:
        await self._bot.set_message_reaction(chat, number, ReactionTypeEmoji(emoji))

    async def _edit(self, chat: int, number: int, body: Body) -> None:
        try:
            await self._bot.edit_message_text(
                body.text,
                chat,
                number,
                entities=entities(body.entities),
                link_preview_options=NO_PREVIEW,
                reply_markup=keyboard(body),
            )
        except Refused as error:
            if NO_TEXT_THERE not in error.text:
                raise
            await self._bot.edit_message_caption(
                chat, number, caption=body.text, caption_entities=entities(body.entities), reply_markup=keyboard(body)
            )

    async def probe(self, part: Part, chat: int, number: int) -> Found:
        """Look if the message `number` of `chat` is ours and has the buttons of `part`; see `settle.py`."""
        body = body_of(part)
        try:
            touched = await self._bot.edit_message_reply_markup(chat, number, reply_markup=keyboard(body))
        except Refused as error:
            if error.is_untouched:
                return Found.OURS
            if any(words in error.text for words in MESSAGE_GONE):
                return Found.OTHERS if "can't be edited" in error.text else Found.NOTHING
            raise ours(error, self._account) from error
        except TelegramError as error:
            raise ours(error, self._account) from error
        return self._touched(touched, body)

    def _touched(self, message: Message | bool, body: Body) -> Found:
        """A message of ours had other buttons. If it says what the part says, it is the part, as it should be again."""
        if isinstance(message, Message) and (message.text or message.caption or "") == body.text:
            return Found.OURS
        log.warning("a message that nobody knew of lost its buttons to a look for another one", account=self._account)
        return Found.OTHERS


def body_of(part: Part) -> Body:
    body = Body.of(part.body)
    return body.repeated() if part.marked_as_repeat else body


def entities(made: Sequence[Entity]) -> list[MessageEntity] | None:
    return [MessageEntity(**entity) for entity in made] or None


def keyboard(body: Body) -> InlineKeyboardMarkup | None:
    rows = key_rows(body.buttons)
    made = [[InlineKeyboardButton(label, callback_data=payload) for label, payload in row] for row in rows]
    return InlineKeyboardMarkup(made) if made else None


def _around(part: Part, body: Body, chat: int) -> dict[str, Any]:
    """Fields that every message may have beside its text. What stands under another is an answer to it here."""
    return {
        "message_thread_id": topic_of(part.address),
        "reply_markup": keyboard(body),
        "reply_parameters": _reply(body.reply_to or part.under, chat),
    }


def _reply(name: str, chat: int) -> ReplyParameters | None:
    """To a message that may be gone meanwhile. One of before a group moved has its number in another chat."""
    match message_of(name):
        case (of, number) if of == chat:
            return ReplyParameters(number, allow_sending_without_reply=True)
        case _:
            return None
