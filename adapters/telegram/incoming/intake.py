"""Path of an update: noted, read, handed to the sink; a pressed button is answered after that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Final

import structlog
from telegram import Bot, CallbackQuery, Message, Update
from telegram.error import TelegramError

from adapters.telegram.forms import Prompts, Wanted, wanted
from adapters.telegram.parse import Reader
from adapters.telegram.rooms import Rooms
from adapters.telegram.settling.known_ids import KnownIds
from runtime.contract import Clicked, Form, Outcome, Rated, Reaction, Signal, SignalId, Sink, Verdict

log = structlog.get_logger("telegram")

NOTICE: Final = (
    200  # characters of an answer to a button. Source: core.telegram.org/bots/api#answercallbackquery, 2026-11
)
NO_BUTTON: Final = "I no longer know this button."
LOUD: Final = (Outcome.UNCHANGED, Outcome.REFUSED)
"""Endings that a person must not miss: told in a box that waits to be closed."""
ANSWERS: Final = 64
"""Answers to buttons under way at once."""
MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError)


class Intake:
    """Takes updates in. `reader` is None until the platform has told the bot's name."""

    def __init__(
        self, *, bot: Bot, known: KnownIds, rooms: Rooms, reader: Callable[[], Reader], prompts: Prompts, rated: Rated
    ) -> None:
        self._bot = bot
        self._known = known
        self._rooms = rooms
        self._reader = reader
        self._prompts = prompts
        self._rated = rated
        self._answers = asyncio.Semaphore(ANSWERS)

    def note(self, updates: Iterable[Update]) -> None:
        """Remember which message ids are taken, and which chats have moved."""
        for update in updates:
            message = update.message or update.edited_message
            if message is not None:
                self._known.note(message.chat.id, message.message_id, dated=message.date)
            if update.callback_query and (pressed := update.callback_query.message):
                dated = pressed.date if isinstance(pressed, Message) else None
                self._known.met(pressed.chat.id, pressed.message_id, dated=dated)
            if isinstance(message, Message) and message.migrate_to_chat_id:
                self._rooms.move(message.chat.id, message.migrate_to_chat_id)
            if isinstance(message, Message) and message.migrate_from_chat_id:
                self._rooms.move(message.migrate_from_chat_id, message.chat.id)
            if update.my_chat_member:
                change = update.my_chat_member
                log.info("membership changed", chat=change.chat.id, status=change.new_chat_member.status)

    async def take(self, bundle: Sequence[Update], sink: Sink, group: asyncio.TaskGroup) -> None:
        """Hand it to `sink`; what remains to be said privately is said in `group`. Errors: as `sink`."""
        query = bundle[0].callback_query
        if query and (asked := _form_of(query)):
            _begin(group, self._open_form(query, asked))
            return
        if reacted := self._read_reaction(bundle[0]):
            await self._rated(reacted)
            return
        signal = self._read(bundle)
        verdict = await sink(signal) if signal else None
        if query:
            _begin(group, self._answer(query, verdict))
        elif signal and verdict and verdict.notice and isinstance(signal.body, Clicked) and bundle[0].message:
            told = self._prompts.tell(
                bundle[0].message, signal.body, signal.actor, verdict.notice, stays=verdict.form_stays
            )
            _begin(group, told)

    def _read(self, bundle: Sequence[Update]) -> Signal | None:
        """The signal of an update; None for one without a form we know, which would be no better if it came again."""
        try:
            return self._reader().signal(bundle)
        except MALFORMED:
            log.exception("an update cannot be read, and is left out", update_id=bundle[0].update_id)
            return None

    def _read_reaction(self, update: Update) -> Reaction | None:
        """The mark that somebody put onto a message or took away; None for anything else."""
        try:
            return self._reader().reaction(update.message_reaction) if update.message_reaction else None
        except MALFORMED:
            log.exception("a reaction cannot be read, and is left out", update_id=update.update_id)
            return None

    async def _open_form(self, query: CallbackQuery, asked: Wanted) -> None:
        """The message that asks for the words of a form, or a private word why there is none."""
        form = await self._prompts.form(asked)
        why = Verdict(Outcome.UNCHANGED, SignalId(""), form if isinstance(form, str) else None)
        await self._answer(query, why)
        if isinstance(form, Form):
            await self._prompts.ask(query, form)

    async def _answer(self, query: CallbackQuery, verdict: Verdict | None) -> None:
        """Best effort: a button that is not answered shows a clock for a while, and an old one cannot be."""
        notice = NO_BUTTON if verdict is None else verdict.notice
        loud = verdict is None or verdict.outcome in LOUD
        try:
            async with self._answers:
                await self._bot.answer_callback_query(
                    query.id, text=notice[:NOTICE] if notice else None, show_alert=bool(notice) and loud
                )
        except TelegramError as error:
            log.info("a pressed button was not answered", reason=error.message)


def _form_of(query: CallbackQuery) -> Wanted | None:
    """The form that a press wants; a press that cannot be read wants none, and is told in the log where it is read."""
    try:
        return wanted(query)
    except MALFORMED:
        return None


def _begin(group: asyncio.TaskGroup, work: Coroutine[object, object, None]) -> None:
    """Do `work` in `group`; where that ends just now it is left out, and what was pressed is stored all the same."""
    try:
        group.create_task(work)
    except RuntimeError:
        work.close()
