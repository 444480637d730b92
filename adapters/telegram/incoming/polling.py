"""The way in by long polling: the next offset is asked for only after everything below it was taken in.

No offset is kept over a start: the first poll has none, and what comes twice is known by its update id.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from time import monotonic
from typing import Final

import structlog
from telegram import Bot, Update
from telegram.error import TelegramError

from adapters.telegram.errors import NotSent, Refused, is_of_webhook, other_poller, token_refused
from adapters.telegram.incoming.albums import Album, Bundle, bundled, growing, lanes, sizes
from adapters.telegram.incoming.intake import Intake
from adapters.telegram.settings import Waits
from runtime.contract import CONNECTED, Connection, ConnectionStatus, Sink, alone
from runtime.errors import StoreError

log = structlog.get_logger("telegram")

ALLOWED: Final = ("message", "edited_message", "callback_query", "message_reaction", "my_chat_member")
"""Updates we ask for, by name: without, reactions would not come, and what we do not read would."""
SIBLING: Final = timedelta(minutes=1)
"""How long another process of ours may go on with a poll that it began: far longer than one lasts."""
UPDATE_TRIES: Final = 3
"""How often an update is handed in that makes our own code fail: then it is left out, for the sake of all others."""


class Poller:
    """Polls for one account. `said` is told how it stands; `siblings` is asked whether the other poller may be ours."""

    def __init__(
        self,
        *,
        bot: Bot,
        intake: Intake,
        account: str,
        waits: Waits,
        said: Callable[[ConnectionStatus], None],
        siblings: Callable[[timedelta], Awaitable[bool]] = alone,
    ) -> None:
        self._bot = bot
        self._intake = intake
        self._account = account
        self._waits = waits
        self._said = said
        self._siblings = siblings
        self._contested: float | None = None  # since when somebody else polls
        self._failures = 0
        self._offset: int | None = None
        self._done: set[int] = set()
        self._broken: Counter[int] = Counter()
        self._albums: dict[Album, int] = {}
        self._idle = asyncio.Event()
        self._heard: float | None = None  # when the last poll came back

    async def run(self, sink: Sink) -> None:
        """Until cancelled."""
        self._offset, self._failures = None, 0
        self._done.clear()
        self._albums.clear()
        at_once = True  # the first look does not wait: it finds out whether we are connected
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    at_once = not await self._round(sink, group, at_once=at_once)
        finally:
            self._idle.clear()

    async def idle(self) -> None:
        """Wait until all that the platform has told so far is taken in."""
        await self._idle.wait()

    def is_deaf(self) -> bool:
        """True if a poll is under way for longer than one can be."""
        most = (self._waits.poll + 2 * self._waits.margin).total_seconds()
        return self._heard is not None and monotonic() - self._heard > most

    async def _round(self, sink: Sink, group: asyncio.TaskGroup, *, at_once: bool) -> bool:
        """One poll and what it brought; False when the next should not wait."""
        try:
            updates = await self._poll(timedelta() if at_once else self._waits.poll)
        except TelegramError as error:
            self._idle.clear()
            await self._after(error)
            return False
        self._failures = 0
        self._contested = None
        self._heard = monotonic()
        calm = await self._taken(updates, sink, group) if updates else self._nothing_new()
        self._said(CONNECTED)
        return calm

    async def _poll(self, wait: timedelta) -> Sequence[Update]:
        return await self._bot.get_updates(
            offset=self._offset,
            timeout=wait,
            allowed_updates=ALLOWED,
            read_timeout=self._waits.margin.total_seconds(),
        )

    # ------------------------------------------------------------------------------------------------- taking in

    async def _taken(self, updates: Sequence[Update], sink: Sink, group: asyncio.TaskGroup) -> bool:
        """Take in what may be; the next offset is that of the first update that was not."""
        self._idle.clear()
        fresh = [update for update in updates if update.update_id not in self._done]
        self._intake.note(fresh)
        bundles = bundled(fresh)
        held = growing(bundles, self._albums)
        self._albums = sizes(held)
        ready = [bundle for bundle in bundles if bundle not in held]
        whole = await self._all_in(ready, sink, group)
        self._confirm(updates)
        if held:
            await asyncio.sleep(self._waits.album.total_seconds())
        elif whole:
            self._idle.set()
        else:
            await asyncio.sleep(self._backoff())
        return whole and not held

    def _nothing_new(self) -> bool:
        self._idle.set()
        return True

    def _confirm(self, updates: Sequence[Update]) -> None:
        left = [update.update_id for update in updates if update.update_id not in self._done]
        self._offset = min(left, default=max(update.update_id for update in updates) + 1)
        self._done = {number for number in self._done if number >= self._offset}

    async def _all_in(self, ready: Sequence[Bundle], sink: Sink, group: asyncio.TaskGroup) -> bool:
        """Chats side by side, each in order; False when the store could not take all."""
        chats = lanes(ready)
        if len(chats) == 1:
            return await self._lane(chats[0], sink, group)
        async with asyncio.TaskGroup() as lanes_:
            tasks = [lanes_.create_task(self._lane(lane, sink, group)) for lane in chats]
        return all(task.result() for task in tasks)

    async def _lane(self, lane: Sequence[Bundle], sink: Sink, group: asyncio.TaskGroup) -> bool:
        for bundle in lane:
            if not await self._in(bundle, sink, group):
                return False
            self._done |= {update.update_id for update in bundle}
        return True

    async def _in(self, bundle: Bundle, sink: Sink, group: asyncio.TaskGroup) -> bool:
        number = bundle[0].update_id
        try:
            await self._intake.take(bundle, sink, group)
        except StoreError as error:
            log.warning("not taken in, so not confirmed", account=self._account, reason=str(error))
            return False
        except Exception:
            # A bug of ours: what makes it must not keep all others out for ever.
            self._broken[number] += 1
            log.exception("an update broke the intake", account=self._account, update_id=number)
            return self._broken[number] >= UPDATE_TRIES
        return True

    # -------------------------------------------------------------------------------------------------- trouble

    async def _after(self, error: TelegramError) -> None:
        """Say what is wrong, and wait."""
        match error:
            case Refused() if error.code == 409 and await self._is_sibling(error):
                self._away("another process of this Signalbox is still polling, but that ends soon")
                await asyncio.sleep(self._backoff())
            case Refused() if error.code == 409:
                self._refused(other_poller(self._account, error))
                await asyncio.sleep(self._waits.refused.total_seconds())
            case Refused() if error.is_of_token:
                self._refused(token_refused(self._account, error))
                await asyncio.sleep(self._waits.refused.total_seconds())
            case Refused(retry_after=timedelta() as wait):
                self._away(f"Telegram asks us to wait {wait.total_seconds():g} s")
                await asyncio.sleep(wait.total_seconds())
            case NotSent():
                self._away(f"Telegram can't be reached: {error.message}")
                await asyncio.sleep(self._backoff())
            case _:
                self._away(f"Telegram gave an unexpected answer: {error.message}")
                await asyncio.sleep(self._backoff())

    async def _is_sibling(self, error: Refused) -> bool:
        """True if the other poller may be ours: one that handed its duty over a moment ago, or that had it and froze."""
        if is_of_webhook(error):
            return False
        self._contested = self._contested or monotonic()
        if monotonic() - self._contested > SIBLING.total_seconds():
            return False
        try:
            return await self._siblings(SIBLING)
        except StoreError:
            return False

    def _refused(self, sentence: str) -> None:
        self._said(ConnectionStatus(Connection.REFUSED, sentence))

    def _away(self, why: str) -> None:
        state = Connection.CONNECTING if self._heard is None else Connection.RECONNECTING
        self._said(ConnectionStatus(state, f'account "{self._account}": {why}. Retrying automatically.'))

    def _backoff(self) -> float:
        self._failures += 1
        return self._waits.after(self._failures).total_seconds()
