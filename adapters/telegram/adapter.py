"""One Telegram bot as a channel."""

from __future__ import annotations

import adapters.telegram.lean  # noqa: F401 - before anything imports the library

# isort: split
import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web
from telegram import BotCommand
from telegram.constants import ChatAction
from telegram.error import TelegramError

from adapters.telegram.api import Api
from adapters.telegram.errors import Refused, ours
from adapters.telegram.forms import Prompts, Seal
from adapters.telegram.incoming.files import Files
from adapters.telegram.incoming.intake import Intake
from adapters.telegram.incoming.polling import Poller
from adapters.telegram.incoming.webhook import Hook
from adapters.telegram.outgoing.drafts import Drafting
from adapters.telegram.outgoing.reach import Reach
from adapters.telegram.outgoing.reactions import refused_emoji
from adapters.telegram.outgoing.render import render
from adapters.telegram.outgoing.send import Sending
from adapters.telegram.parse import CHANNEL, Reader, moved
from adapters.telegram.rates import buckets
from adapters.telegram.rooms import Rooms, link, message_of, topic_of
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.settling.known_ids import KnownIds
from adapters.telegram.settling.send_queue import SendQueues
from adapters.telegram.settling.settle import Settling
from adapters.telegram.settling.stored_ids import StoredIds
from runtime.contract import (
    COMMANDS,
    CONNECTED,
    AdapterContext,
    Address,
    Attempt,
    Bucket,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    FileRef,
    Part,
    Receipt,
    Settled,
    Sink,
    Wire,
)
from runtime.errors import Rejected, Retryable, StoreError
from runtime.http.platform_clock import PlatformClock

log = structlog.get_logger("telegram")

POLLER: Final = "poller"
TYPING: Final = timedelta(seconds=5)
"""How long "typing" is shown. Source: core.telegram.org/bots/api#sendchataction, read 2026-11."""


class TelegramAdapter:
    """The bot whose token the settings hold."""

    typing_lasts = TYPING

    def __init__(self, settings: TelegramSettings, given: AdapterContext) -> None:
        self.channel: str = CHANNEL
        self.account: str = settings.account
        self.identity: str = settings.identity
        self._settings = settings
        self._given = given
        self._clock = PlatformClock("Telegram", given.now)
        self._api = Api(settings, self._clock.heed)
        self._username = ""
        self._met = asyncio.Event()
        self._attending = False
        self._sink: Sink | None = None
        self._standing = ConnectionStatus(Connection.CONNECTING, f'account "{self.account}": not connected yet')
        self._known, self._rooms = KnownIds(), Rooms()
        self._seal = Seal(settings.token)
        self._lines = SendQueues(born=_ticket_at(given.now()))
        self._outward()
        self._inward()

    def _outward(self) -> None:
        bot, account = self._api.bot, self.account
        self._sending = Sending(bot=bot, account=account, workspaces=self._given.workspaces)
        self._files = Files(bot=bot, client=self._api.client, account=account)
        self._drafting = Drafting(bot)
        self._reach = Reach(bot, self.identity)

    def _inward(self) -> None:
        bot, waits = self._api.bot, self._settings.waits
        asked, rooms = self._given.forms, self._rooms
        prompts = Prompts(bot=bot, seal=self._seal, forms=asked, rooms=rooms, known=self._known)
        intake = Intake(
            bot=bot, known=self._known, rooms=rooms, reader=self._reader, prompts=prompts, rated=self._given.rated
        )
        self._poller = Poller(
            bot=bot,
            intake=intake,
            account=self.account,
            waits=waits,
            said=self._said,
            siblings=self._given.siblings,
        )
        self._hook = Hook(bot=bot, intake=intake, settings=self._settings, now=self._given.now, said=self._said)
        self._memory = StoredIds(
            channel=self.channel,
            identity=self.identity,
            places=self._given.places,
            known=self._known,
            rooms=self._rooms,
            born=self._given.now(),
            idle=self._poller.idle if self._polls else _at_once,
            heard_here=lambda: self._attending or not self._polls,
        )
        self._settling = Settling(
            probe=self._sending.probe,
            known=self._known,
            lines=self._lines,
            memory=self._memory,
            waits=waits,
            now=self._given.now,
        )

    @property
    def _polls(self) -> bool:
        return self._settings.mode == "polling"

    def _reader(self) -> Reader:
        return Reader(
            self.identity, self._username, self._rooms.room, self._given.now, self._seal.answered, self._clock.ours
        )

    def features(self) -> Features:
        return Features(
            edits=True,
            settles=True,
            listeners=self,
            floor=self.floor,
            buckets=self.buckets,
            took_over=self.took_over,
            types=self,
            drafts=self,
            fetch=self.fetch,
            ping=self.ping,
            reach=self.reach,
            link=link,
            reacts=refused_emoji,
            routes=self.routes,
            title="Telegram",
            writing="A message holds 4,096 characters, and tables are shown as columns of plain text.",
        )

    # ------------------------------------------------------------------------------------------------- the way in

    async def listen(self, sink: Sink) -> None:
        """With a webhook all that comes is taken in here; with polling whoever attends does it."""
        self._sink = sink
        await self._api.open()
        try:
            await self._begin()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._introduce())
                await (asyncio.Event().wait() if self._polls else self._hook.run(sink))
        finally:
            self._sink = None
            await self._api.close()

    def listeners(self) -> Sequence[str]:
        return (POLLER,) if self._polls else ()

    async def attend(self, listener: str, sink: Sink) -> None:
        self._attending = True
        try:
            await self._met.wait()
            await self._poller.run(sink)
        finally:
            self._attending = False
            if self._met.is_set():
                self._said(CONNECTED)  # as far as it is ours: another process polls from now on

    def routes(self) -> list[web.RouteDef]:
        return [] if self._polls else self._hook.routes()

    async def _begin(self) -> None:
        """Learn what must be known before anything is read: what the store says of the rooms, and the bot's own name."""
        failures = 0
        while not (await self._recall() and await self._meet()):
            failures += 1
            await asyncio.sleep(self._settings.waits.after(failures).total_seconds())
        if self._polls and not self._attending:
            self._said(CONNECTED)
        self._met.set()

    async def _recall(self) -> bool:
        try:
            self._rooms.learn(await self._given.places.moved(self.channel, self.identity))
            await self._memory.warm(self._given.now())
        except StoreError as error:
            self._said(ConnectionStatus(Connection.CONNECTING, f'account "{self.account}": the store is away: {error}'))
            return False
        return True

    async def _meet(self) -> bool:
        try:
            me = await self._api.bot.get_me()
        except TelegramError as error:
            refused = isinstance(error, Refused) and error.is_of_token
            state = Connection.REFUSED if refused else Connection.CONNECTING
            self._said(ConnectionStatus(state, str(ours(error, self.account))))
            return False
        self._username = me.username or ""
        return True

    async def _introduce(self) -> None:
        """Our commands in Telegram's own menu. Best effort, once a start."""
        try:
            await self._api.bot.set_my_commands([BotCommand(name, line) for name, line in COMMANDS.items()])
        except TelegramError as error:
            log.info("the menu of commands was not set", account=self.account, reason=error.message)

    def _said(self, standing: ConnectionStatus) -> None:
        self._standing = standing

    def standing(self) -> ConnectionStatus:
        if self._standing is CONNECTED and self._attending and self._poller.is_deaf():
            return ConnectionStatus(
                Connection.DEAF, f'account "{self.account}": no poll has been answered for too long'
            )
        return self._standing

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        await self._files.fetch(file, into, most=most)

    # ------------------------------------------------------------------------------------------------ the way out

    def render(self, delivery: Delivery) -> list[Wire]:
        return render(delivery)

    async def show(self, part: Part) -> Receipt:
        chat = self._chat(part.address)
        try:
            receipt = await self._shown(part, chat)
        except Refused as error:
            await self._move(chat, error.moved_to or chat)
            raise Retryable("the group became a supergroup and has another id: it goes there") from error
        self._drafting.end(chat)
        return receipt

    async def _shown(self, part: Part, chat: int) -> Receipt:
        """Send it, in its turn. Unless it is known what became of it, nothing else goes to this chat until it is."""
        async with self._lines.turn(chat, part.address, part.id):
            begun = self._given.now()
            try:
                receipt = await self._sending.send(part, chat)
            except (Retryable, Rejected, Refused):
                self._lines.surely(chat, part.id)
                raise
            if found := message_of(receipt.message_id):
                self._known.note(*found, begun=begun)
            self._settling.sent(part, receipt)
            self._lines.surely(chat, part.id)
            return receipt

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        self._lines.leave(self._chat(part.address), part.address)
        return await self._sending.edit(receipt, part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return await self._settling.settle(part, attempt)

    def took_over(self) -> None:
        at = self._given.now()
        self._lines.begin_anew(_ticket_at(at))
        self._memory.begin_anew(at)
        self._settling.begin_anew()

    def floor(self, address: Address) -> str:
        """The highest id known in the chat's id space, and the place in its line; see `settle.py`."""
        try:
            chat = self._rooms.chat(address.room)
        except ValueError:
            return ""  # `show` says what is wrong
        return str(self._lines.stand(chat, address, self._known.space(chat).top))

    async def reach(self, address: Address) -> str | None:
        try:
            return await self._reach.of(address, self._chat(address))
        except Rejected as error:
            return str(error)

    async def ping(self) -> None:
        try:
            await self._api.bot.get_me()
        except TelegramError as error:
            if not (isinstance(error, Refused) and error.code < 500):
                raise ours(error, self.account) from error

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return buckets(address.room)

    def _chat(self, address: Address) -> int:
        try:
            return self._rooms.chat(address.room)
        except ValueError as error:
            raise Rejected(f"{address} isn't a Telegram address: the room must be a chat's number") from error

    async def _move(self, old: int, new: int) -> None:
        """Go on under the new id, and say so to the store; Telegram tells it by an update of its own too."""
        room = self._rooms.move(old, new)
        log.info("a group became a supergroup", account=self.account, room=room, chat=new)
        if self._sink is not None:
            try:
                await self._sink(moved(self.identity, room, new, f"moved {room} {new}", self._given.now()))
            except StoreError as error:
                log.info("the move of a group is not stored yet", account=self.account, reason=str(error))

    # ------------------------------------------------------------------------------------------------ at the side

    async def typing(self, address: Address, status: str) -> None:
        if not status:
            return  # it ends by itself
        try:
            chat = self._chat(address)
            await self._api.bot.send_chat_action(chat, ChatAction.TYPING, message_thread_id=topic_of(address))
        except (TelegramError, Rejected) as error:
            log.debug("typing was not shown", account=self.account, reason=str(error))

    def drafts(self, address: Address) -> bool:
        return address.room.isdigit() and self._drafting.works(self._chat(address))

    async def draft(self, address: Address, text: str) -> None:
        await self._drafting.show(self._chat(address), topic_of(address), text)


async def _at_once() -> None:
    """A webhook has told all that it was answered for."""


def _ticket_at(born: datetime) -> int:
    """Above those of all that stood in line before."""
    return int(born.timestamp() * 1_000_000)
