"""Update to Signal. Pure: what it needs to know of the bot, it is given.

Offsets of entities count UTF-16 units, as everywhere at Telegram.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from telegram import (
    CallbackQuery,
    Chat,
    Message,
    MessageEntity,
    MessageReactionUpdated,
    ReactionType,
    ReactionTypeEmoji,
    Update,
    User,
)
from telegram.constants import ChatID, ChatType

from adapters.telegram.attachments import files_of, unreadable
from adapters.telegram.rooms import message_name
from runtime.contract import (
    UNREAD,
    Address,
    Addressing,
    Amended,
    ApprovalId,
    Body,
    Choice,
    Clicked,
    Commanded,
    Identity,
    Moved,
    Reaction,
    Said,
    Signal,
    Stopped,
)
from runtime.text.glyphs import head

CHANNEL: Final = "telegram"
AFTER_A_NAME: Final = re.compile(r"^[,:]?\s+")
BUTTON: Final = re.compile(r"(?P<approval>[\x21-\x7e]{1,48}):(?P<choice>[a-z]+)")
QUOTE: Final = 1_000
"""Characters of a message that somebody points at by answering it."""
SAME: Final = {"start": "help"}
"""What Telegram's own button says in a new chat, in our words."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads updates as the bot `identity`, whom people call `@username`. `room_of` is the room of a chat's rows.

    `ours` is our time of a moment by Telegram's clock. `sent_form` is the form that a message in a room sends, if it answers one that asked for it.
    """

    identity: str
    username: str
    room_of: Callable[[int], str]
    now: Callable[[], datetime]
    sent_form: Callable[[Message, str, str], Clicked | None] = lambda message, bot, room: None
    ours: Callable[[datetime], datetime] = lambda theirs: theirs

    def signal(self, updates: Sequence[Update]) -> Signal | None:
        """Signal of `updates`, one or an album; None for what is not for it."""
        first = updates[0]
        if first.callback_query:
            return self._click(first, first.callback_query)
        if first.edited_message:
            return self._amended(first, first.edited_message)
        messages = [update.message for update in updates if update.message]
        return self._message(first, messages) if messages else None

    # ------------------------------------------------------------------------------------------------- messages

    def _message(self, update: Update, messages: Sequence[Message]) -> Signal | None:
        message = messages[0]
        moved = self._moved(update, message)
        if moved or self._is_nobodys(message):
            return moved
        if form := self.sent_form(message, self.identity, self.room_of(message.chat.id)):
            return self._signal(update, message, form, named=True, natural=True)
        body, named = self._body(messages)
        if body is None and message.chat.type == ChatType.PRIVATE and (what := unreadable(message)):
            body = Commanded(UNREAD, what)
        return self._signal(update, message, body, named=named, natural=True) if body else None

    def _amended(self, update: Update, message: Message) -> Signal | None:
        if self._is_nobodys(message) or unreadable(message):  # a live location is edited with each step
            return None
        words, named = self._words(message)
        return self._signal(update, message, Amended(words), named=named)

    def _is_nobodys(self, message: Message) -> bool:
        """Our own, and what a linked channel copies into its group: no request of anybody."""
        author = message.from_user
        return bool(message.is_automatic_forward or (author and str(author.id) == self.identity))

    def _body(self, messages: Sequence[Message]) -> tuple[Body | None, bool]:
        """The body, and true if it names the agent. An album says what the first of its captions says."""
        spoken = next((m for m in messages if m.text or m.caption), messages[0])
        command = command_of(spoken)
        if command is not None:
            name, bot, argument = command
            return (None, False) if bot and bot != self.username.lower() else (commanded(name, argument), True)
        words, named = self._words(spoken)
        files = tuple(file for message in messages for file in files_of(message))
        return (Said(words, files), named) if words or files else (None, False)

    def _words(self, message: Message) -> tuple[str, bool]:
        """The text without the agent's name around it, and whether that name or an answer to the agent is there."""
        text = text_of(message)
        names = [(e.offset, e.length) for e in entities_of(message) if self._is_me(message, e)]
        words = without(text, names).strip() or text
        answered = self._answered(message)
        points = answered is False or bool(message.quote and message.quote.is_manual)
        return (quoted(message, words) if points else words), bool(names) or answered is True

    def _is_me(self, message: Message, entity: MessageEntity) -> bool:
        match entity.type:
            case MessageEntity.MENTION:
                return piece(text_of(message), entity.offset, entity.length).lower() == f"@{self.username}".lower()
            case MessageEntity.TEXT_MENTION:
                return entity.user is not None and str(entity.user.id) == self.identity
            case _:
                return False

    def _answered(self, message: Message) -> bool | None:
        """True if it answers a message of ours; None when it answers none. A topic's first message is no message."""
        answered = message.reply_to_message
        if answered is None or answered.forum_topic_created or answered.message_id == message.message_thread_id:
            return None
        return answered.from_user is not None and str(answered.from_user.id) == self.identity

    def _moved(self, update: Update, message: Message) -> Signal | None:
        """The move of a group, which Telegram tells in the old chat and in the new one."""
        old, new = message.chat.id, message.migrate_to_chat_id
        if message.migrate_from_chat_id:
            old, new = message.migrate_from_chat_id, message.chat.id
        return moved(self.identity, self.room_of(old), new, f"u{update.update_id}", self.now()) if new else None

    # ---------------------------------------------------------------------------------------------------- clicks

    def _click(self, update: Update, query: CallbackQuery) -> Signal | None:
        pressed = BUTTON.fullmatch(query.data or "")
        if pressed is None or query.message is None or pressed["choice"] not in list(Choice):
            return None
        topic = query.message.message_thread_id if isinstance(query.message, Message) else None
        is_topic = isinstance(query.message, Message) and query.message.is_topic_message
        return Signal(
            platform=f"{CHANNEL}:{self.identity}",
            dedupe_key=f"u{update.update_id}",
            natural_key=f"c{query.id}",
            actor=Identity(f"{CHANNEL}:{query.from_user.id}"),
            actor_name=query.from_user.full_name,
            address=self._address(query.message.chat.id, topic if is_topic else None),
            body=Clicked(ApprovalId(pressed["approval"]), Choice(pressed["choice"])),
            received_at=self.now(),
            reach=Addressing.DIRECT if query.message.chat.type == ChatType.PRIVATE else Addressing.MENTION,
            message_id=message_name(query.message.chat.id, query.message.message_id),
            room_name=name_of(query.message.chat),
            language=language_of(query.message.chat, query.from_user),
        )

    def reaction(self, change: MessageReactionUpdated) -> Reaction | None:
        """Emoji that a person put onto a message, or took away; None where a group did it as itself, whoever that was.

        Telegram tells the whole sets, before and after.
        """
        if change.user is None:
            return None
        before, after = _emoji(change.old_reaction), _emoji(change.new_reaction)
        return Reaction(
            self._address(change.chat.id, None),
            Identity(f"{CHANNEL}:{change.user.id}"),
            message_name(change.chat.id, change.message_id),
            tuple(one for one in after if one not in before),
            tuple(one for one in before if one not in after),
        )

    # ---------------------------------------------------------------------------------------------------- signals

    def _signal(self, update: Update, message: Message, body: Body, *, named: bool, natural: bool = False) -> Signal:
        topic = message.message_thread_id if message.is_topic_message else None
        actor, name, by_bot = author_of(message)
        return Signal(
            platform=f"{CHANNEL}:{self.identity}",
            dedupe_key=f"u{update.update_id}",
            natural_key=f"m{message_name(message.chat.id, message.message_id)}" if natural else None,
            actor=actor,
            actor_name=name,
            address=self._address(message.chat.id, topic),
            body=body,
            received_at=self.ours(message.date),
            reach=reach_of(message, named=named),
            message_id=message_name(message.chat.id, message.message_id),
            joinable=topic is not None,
            by_bot=by_bot,
            room_name=name_of(message.chat),
            language=language_of(message.chat, message.from_user),
        )

    def _address(self, chat: int, topic: int | None) -> Address:
        return Address(CHANNEL, self.identity, self.room_of(chat), str(topic) if topic else "")


def _emoji(reactions: Sequence[ReactionType]) -> list[str]:
    """Of custom and paid ones nobody knows what they say."""
    return [one.emoji for one in reactions if isinstance(one, ReactionTypeEmoji)]


def moved(identity: str, room: str, new: int, key: str, now: datetime) -> Signal:
    """The signal of a room that has the id `new` from now on. Two tellings of one move have one natural key."""
    return Signal(
        platform=f"{CHANNEL}:{identity}",
        dedupe_key=key,
        natural_key=f"moved {room} {new}",
        actor=Identity(f"{CHANNEL}:{identity}"),
        actor_name="Telegram",
        address=Address(CHANNEL, identity, room),
        body=Moved(str(new)),
        received_at=now,
        reach=Addressing.MENTION,
    )


def name_of(chat: Chat) -> str:
    """Name of a chat: a group by its title, a private one by who is in it."""
    name = chat.effective_name or ""
    return f"@{name}" if name and chat.type == ChatType.PRIVATE else name


def language_of(chat: Chat, person: User | None) -> str:
    """The language of a person's app, in a chat with them alone; not everybody's app tells it."""
    return (person.language_code or "") if person and chat.type == ChatType.PRIVATE else ""


def reach_of(message: Message, *, named: bool) -> Addressing:
    if message.chat.type == ChatType.PRIVATE:
        return Addressing.DIRECT
    return Addressing.MENTION if named else Addressing.OVERHEARD


def author_of(message: Message) -> tuple[Identity, str, bool]:
    """The speaker, their name, and true for a program. An administrator may speak as the group itself."""
    author, chat = message.from_user, message.sender_chat
    if chat is not None and (author is None or author.id in (ChatID.ANONYMOUS_ADMIN, ChatID.FAKE_CHANNEL)):
        return Identity(f"{CHANNEL}:{chat.id}"), chat.effective_name or str(chat.id), False
    if author is None:
        return Identity(f"{CHANNEL}:{message.chat.id}"), message.chat.effective_name or "", False
    return Identity(f"{CHANNEL}:{author.id}"), author.full_name, author.is_bot


# ------------------------------------------------------------------------------------------------------------ words


def text_of(message: Message) -> str:
    if message.sticker and message.sticker.emoji:
        return message.sticker.emoji
    return message.text or message.caption or ""


def entities_of(message: Message) -> Sequence[MessageEntity]:
    return message.entities or message.caption_entities


def piece(text: str, offset: int, length: int) -> str:
    """`length` UTF-16 units of `text` from `offset`."""
    return text.encode("utf-16-le")[2 * offset : 2 * (offset + length)].decode("utf-16-le", "replace")


def without(text: str, names: Sequence[tuple[int, int]]) -> str:
    """`text` without those `names` (offset, length) that stand at its begin or end; in the middle they are words."""
    units = text.encode("utf-16-le")
    start, end = 0, len(units)
    for offset, length in names:
        if not units[start : 2 * offset].decode("utf-16-le", "replace").strip():
            start = 2 * (offset + length)
    for offset, length in reversed(names):
        if 2 * offset >= start and not units[2 * (offset + length) : end].decode("utf-16-le", "replace").strip():
            end = 2 * offset
    words = units[start:end].decode("utf-16-le", "replace")
    return AFTER_A_NAME.sub("", words) if start else words


def quoted(message: Message, words: str) -> str:
    """`words` under the message that somebody points at by answering it: "translate this" says nothing without."""
    answered = message.reply_to_message
    said = message.quote.text if message.quote else text_of(answered) if answered else ""
    return "\n".join([*_as_quote(head(said, QUOTE)), "", words]) if said.strip() else words


def _as_quote(text: str) -> Iterator[str]:
    return (f"> {line}".rstrip() for line in text.splitlines())


def command_of(message: Message) -> tuple[str, str, str] | None:
    """A command at the begin of the text: its name, the bot it names (in small letters), and what follows."""
    first = next((e for e in entities_of(message) if e.type == MessageEntity.BOT_COMMAND and e.offset == 0), None)
    if first is None:
        return None
    text = text_of(message)
    name, _, bot = piece(text, 0, first.length)[1:].partition("@")
    return name.lower(), bot.lower(), text[first.length :].strip()  # a command is ASCII: units are characters


def commanded(name: str, argument: str) -> Body:
    known = SAME.get(name, name)
    return Stopped() if known == "stop" else Commanded(known, "" if known != name else argument)
