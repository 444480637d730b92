"""Forms at Telegram, which has none: a message asks for the words, and the answer to it is the sent form.

The asking message ends in a line that says what it asks for, sealed with the bot's token. Telegram shows us the message
that somebody answers, so nothing has to be remembered: any process of the account can read the answer, also after a
restart. Without the seal anybody who has the bot repeat a line could have people's answers taken for another choice.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import structlog
from telegram import Bot, CallbackQuery, ForceReply, Message, MessageEntity, ReplyParameters, User
from telegram.error import TelegramError

from adapters.telegram.parse import BUTTON, CHANNEL, text_of
from adapters.telegram.rooms import Rooms
from adapters.telegram.settling.known_ids import KnownIds
from runtime.contract import (
    FORM_BEHIND,
    TOO_LONG,
    ApprovalId,
    Choice,
    Clicked,
    Field,
    Form,
    Identity,
    OpenForm,
    filled,
)
from runtime.text.lengths import utf16

log = structlog.get_logger("telegram")

FIELD_MAX_UNITS: Final = 3_000
"""Of what stands in a form: the message that asks holds 4,096, and its other words too."""
PLACEHOLDER: Final = 64
SEALED: Final = re.compile(
    r"ref (?P<approval>[\x21-\x7e]{1,48}):(?P<choice>[a-z]+):(?P<fields>[a-z_,]+):(?P<seal>[0-9a-f]{24})"
)


class Seal:
    """Marks what a message asks for, and knows its own marks. `token` is the bot's, which nobody else has."""

    def __init__(self, token: str) -> None:
        self._key = token.encode()

    def line(self, form: Form, room: str) -> str:
        about = f"{form.approval_id}:{form.choice}:{','.join(field.name for field in form.fields)}"
        return f"ref {about}:{self._of(about, room)}"

    def answered(self, message: Message, bot: str, room: str) -> Clicked | None:
        """The sent form that `message` is, in `room`; None for any other message."""
        asked = message.reply_to_message
        if asked is None or asked.from_user is None or str(asked.from_user.id) != bot or not text_of(message):
            return None
        found = SEALED.fullmatch((asked.text or "").rpartition("\n")[2])
        if found is None or found["choice"] not in list(Choice):
            return None
        about = f"{found['approval']}:{found['choice']}:{found['fields']}"
        if not hmac.compare_digest(self._of(about, room), found["seal"]):
            return None
        values = typed(text_of(message), found["fields"].split(","))
        return filled(found["approval"], Choice(found["choice"]), values)

    def _of(self, about: str, room: str) -> str:
        return hmac.new(self._key, f"form {room} {about}".encode(), sha256).hexdigest()[:24]


def typed(text: str, fields: list[str]) -> Mapping[str, str]:
    """Words by the names of `fields`. Several are written a line each, as `name: words`; a line without a name goes on."""
    if len(fields) == 1:
        return {fields[0]: text}
    values: dict[str, str] = {}
    last = fields[0]
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if colon and name.strip().lower() in fields:
            last = name.strip().lower()
            values[last] = rest.strip()
        elif last in values:
            values[last] += f"\n{line}"
    return values


@dataclass(frozen=True, slots=True)
class Wanted:
    """A form that somebody pressed the button of."""

    approval: ApprovalId
    choice: Choice
    actor: Identity
    user: User


def wanted(query: CallbackQuery) -> Wanted | None:
    """The form behind a pressed button. Errors: AttributeError, TypeError for a press that cannot be read."""
    pressed = BUTTON.fullmatch(query.data or "")
    choice = FORM_BEHIND.get(pressed["choice"]) if pressed and query.message else None
    if pressed is None or choice is None:
        return None
    actor = Identity(f"{CHANNEL}:{query.from_user.id}")
    return Wanted(ApprovalId(pressed["approval"]), choice, actor, query.from_user)


class Prompts:
    """Asks for the words of forms. Best effort: whoever sees nothing presses the button again."""

    def __init__(self, *, bot: Bot, seal: Seal, forms: OpenForm, rooms: Rooms, known: KnownIds) -> None:
        self._bot = bot
        self._seal = seal
        self._forms = forms
        self._rooms = rooms
        self._known = known

    async def form(self, asked: Wanted) -> Form | str:
        """The form behind a pressed button, or why there is none."""
        form = await self._forms(asked.approval, asked.choice, asked.actor)
        fits = isinstance(form, str) or sum(utf16(field.text) for field in form.fields) <= FIELD_MAX_UNITS
        return form if fits else TOO_LONG

    async def ask(self, query: CallbackQuery, form: Form) -> None:
        """Ask under the card whose button was pressed."""
        if query.message is not None:
            await self._ask(form, query.message.chat.id, query.message, query.from_user)

    async def tell(self, message: Message, click: Clicked, actor: Identity, notice: str, *, stays: bool) -> None:
        """Say beneath an answer what is wrong with it; where it can be put right, ask once more."""
        form = await self._forms(click.approval_id, click.choice, actor) if stays else ""
        if isinstance(form, Form) and message.from_user is not None:
            await self._ask(form, message.chat.id, message, message.from_user, notice)
        else:
            await self._send(message.chat.id, notice, message)

    async def _ask(self, form: Form, chat: int, under: object, user: User, notice: str = "") -> None:
        text, entities = asking(form, user, notice)
        sealed = f"{text}\n{self._seal.line(form, self._rooms.room(chat))}"
        label = form.fields[0].hint or form.fields[0].label
        await self._send(chat, sealed, under, entities, ForceReply(True, label[:PLACEHOLDER] or None))

    async def _send(
        self,
        chat: int,
        text: str,
        under: object,
        entities: list[MessageEntity] | None = None,
        markup: ForceReply | None = None,
    ) -> None:
        message = under if isinstance(under, Message) else None
        try:
            sent = await self._bot.send_message(
                chat,
                text,
                entities=entities,
                reply_markup=markup,
                reply_parameters=ReplyParameters(message.message_id, allow_sending_without_reply=True)
                if message
                else None,
                message_thread_id=message.message_thread_id if message and message.is_topic_message else None,
            )
        except TelegramError as error:
            log.info("a form was not asked for", reason=error.message)
        else:
            self._known.note(sent.chat.id, sent.message_id, dated=sent.date)


def asking(form: Form, user: User, notice: str = "") -> tuple[str, list[MessageEntity]]:
    """Words that ask for a form, and their entities. A mention makes the answer open for this person alone."""
    text, entities = "", []
    if notice:
        text = f"{notice}\n\n"
    entities.append(MessageEntity(MessageEntity.TEXT_MENTION, utf16(text), utf16(user.full_name), user=user))
    text += f"{user.full_name}, reply to this message. "
    text += form.note and f"{form.note} "
    several = len(form.fields) > 1
    text += "Write a line for each:" if several else f"{form.fields[0].label}:"
    for field in form.fields:
        text += "\n"
        now = f"{field.name}: {field.text}" if several else field.text
        if now:
            entities.append(MessageEntity(MessageEntity.PRE, utf16(text), utf16(now)))
        text += now + options(field)
    return text, entities


def options(field: Field) -> str:
    return f" ({' or '.join(field.options)})" if field.options else ""
