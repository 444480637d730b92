"""Intake of one shard: places are learnt, words and presses become Signals, gaps are closed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from discord.http import Route

from adapters.discord.errors import check_identity, ours, told
from adapters.discord.http import Http
from adapters.discord.incoming.backfill import Gap, Stored
from adapters.discord.incoming.event_queues import EventQueues, Work
from adapters.discord.incoming.gateway import REACTION_ADDED, REACTIONS
from adapters.discord.interaction_responses import InteractionResponses
from adapters.discord.interactions import (
    answer,
    body_of,
    channel_id,
    elsewhere,
    form_answer,
    is_elsewhere,
    opens_form,
    place_told,
    presser,
    signal,
    unknown,
    unread,
)
from adapters.discord.outgoing.alone import follow_ups
from adapters.discord.outgoing.send import Sending
from adapters.discord.parse import CHANNEL, Me, edit, message, reaction
from adapters.discord.rooms import DM, MessageLinks, Place, Rooms, place_of
from adapters.discord.settings import DiscordSettings
from runtime.contract import (
    AdapterContext,
    Address,
    ApprovalId,
    Body,
    Identity,
    Outcome,
    Reaction,
    Said,
    Signal,
    Sink,
    Verdict,
)
from runtime.errors import Rejected, StoreError
from runtime.http.platform_clock import PlatformClock

Raw = Mapping[str, Any]
Parse = Callable[[Raw, Place, Me], Signal | None]

log = logging.getLogger(__name__)

DISPATCH: Final = 0
MALFORMED: Final = (LookupError, TypeError, ValueError, AttributeError)
QUEUE_LOOK_INTERVAL: Final = timedelta(seconds=0.05)
UNKNOWN_KIND: Final = 0
BEYOND_ALL_IDS: Final = 1 << 64  # beyond all ids


class Intake:
    """Of one shard. `welcomed` is told when its session began or was resumed."""

    def __init__(
        self,
        settings: DiscordSettings,
        given: AdapterContext,
        *,
        http: Http,
        sending: Sending,
        answering: InteractionResponses,
        links: MessageLinks,
        clock: PlatformClock,
        sink: Sink,
        group: asyncio.TaskGroup,
        shard: int,
    ) -> None:
        self.welcomed: Callable[[], None] = lambda: None
        self._settings = settings
        self._waits = settings.waits
        self._http = http
        self._sending = sending
        self._answering = answering
        self._links = links
        self._forms = given.forms
        self._rated = given.rated
        self._identity = settings.identity  # read once: it is cut out of the token
        self._gap = Gap(self._identity, given, http, clock)
        self._sink = sink
        self._clock = clock
        self._group = group
        self._shard = shard
        self._lanes = EventQueues(group)
        self._rooms = Rooms(self._identity)
        self._expected: set[str] = set()
        self._missed: set[str] = set()
        self._read: dict[str, set[str]] = {}
        self._closing: asyncio.Task[None] | None = None

    def hear(self, text: str) -> None:
        """Take one frame of the gateway. What is malformed is told in the log and left alone."""
        try:
            frame = json.loads(text)
            if frame["op"] == DISPATCH:
                self._dispatch(frame["t"], frame["d"])
        except MALFORMED as error:
            log.warning("an event of Discord is malformed, and left alone: %s", told(error))

    def _dispatch(self, event: str, data: Raw) -> None:
        match event:
            case "READY":
                self._begun(data)
            case "RESUMED":
                self.welcomed()
            case "MESSAGE_CREATE":
                self._message(data)
            case "MESSAGE_UPDATE":
                self._queue(data, edit)
            case "INTERACTION_CREATE":
                self._group.create_task(self._guarded(partial(self._interaction, data)))
            case _ if event in REACTIONS:
                reacted = reaction(data, self._identity, is_added=event == REACTION_ADDED)
                self._lanes.put(reacted.room.room, partial(self._react, reacted, is_direct=not data.get("guild_id")))
            case _:
                self._rooms.learn(event, data)
                if event == "GUILD_CREATE":
                    self._server_told(str(data["id"]))

    # -------------------------------------------------------------------------------------------------- messages

    def _message(self, raw: Raw) -> None:
        channel, number = str(raw["channel_id"]), str(raw["id"])
        unheard = None if raw.get("guild_id") else self._gap.unheard(channel)
        self._gap.heard(channel, number)
        self._rooms.note(channel, number)
        if str(raw["author"]["id"]) == self._identity:
            return
        if unheard is not None:
            self._lanes.put(channel, partial(self._catch_up, channel, unheard, before=int(number)))
        if not self._lanes.is_full:
            self._lanes.put(channel, partial(self._take_unread, raw))
        elif channel not in self._missed:
            self._missed.add(channel)
            self._lanes.put(channel, partial(self._catch_up, channel, int(number) - 1))

    def _queue(self, raw: Raw, parse: Parse) -> None:
        self._lanes.put(str(raw["channel_id"]), partial(self._take, raw, parse))

    async def _take_unread(self, raw: Raw) -> None:
        """A message, unless the history had it just before: what was overheard is not stored, and a mention that came
        after it would make it one of ours when it is handed in again."""
        channel, number = str(raw["channel_id"]), str(raw["id"])
        read = self._read.get(channel, set())
        if read and int(number) > max(map(int, read)):
            del self._read[channel]
        if number not in read:
            await self._take(raw, message)

    async def _take(self, raw: Raw, parse: Parse) -> None:
        """One message or edit, until it is stored."""
        try:
            place = await self._place(str(raw["channel_id"]), is_direct=not raw.get("guild_id"))
            await self._take_there(raw, place, parse)
        except MALFORMED as error:
            log.warning("a message of Discord is malformed, and left alone: %s", told(error))

    async def _take_there(self, raw: Raw, place: Place, parse: Parse) -> None:
        self._links.learn(place)
        if place.is_direct:
            self._sending.is_direct(place.id)
        if taken := parse(raw, place, self._me(place.guild)):
            await self._surely(taken)

    async def _react(self, reacted: Reaction, *, is_direct: bool) -> None:
        """A rating, until it is stored. Discord names a thread as it names a channel."""
        if reacted.actor == Identity(f"{CHANNEL}:{self._identity}"):
            return
        place = await self._place(reacted.room.room, is_direct=is_direct)
        reacted = replace(reacted, room=place.address(CHANNEL, self._identity))
        while True:
            try:
                await self._rated(reacted)
                return
            except StoreError as error:
                log.warning("a reaction on Discord is not taken in yet: %s", error)
                await asyncio.sleep(self._waits.store.total_seconds())

    def _me(self, guild: str) -> Me:
        return Me(self._identity, self._rooms.own_roles(guild), self._settings.thread_per_conversation)

    async def _surely(self, taken: Signal) -> Verdict:
        """Hand it in as often as it takes: the gateway has no acknowledgement that could be withheld."""
        taken = replace(taken, received_at=self._clock.ours(taken.received_at))
        while True:
            try:
                return await self._sink(taken)
            except StoreError as error:
                log.warning("a message of Discord is not taken in yet: %s", error)
                await asyncio.sleep(self._waits.store.total_seconds())

    async def _place(self, channel: str, *, is_direct: bool) -> Place:
        """The place that a channel is: told by the gateway, else asked for until Discord answers."""
        if place := self._rooms.places.get(channel):
            return place
        place = Place(channel, DM) if is_direct else await self._asked(channel)
        return self._rooms.places.setdefault(channel, place)  # the gateway may have told it meanwhile

    async def _asked(self, channel: str) -> Place:
        wait = self._waits.again
        while True:
            try:
                return place_of(await self._http.request(Route("GET", "/channels/{channel_id}", channel_id=channel)))
            except Exception as error:  # noqa: BLE001 - what it comes to is looked at
                if isinstance(ours(error, self._settings.account, reads=True), Rejected):
                    return Place(channel, UNKNOWN_KIND)
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, self._waits.again_most)

    # ---------------------------------------------------------------------------------------------- interactions

    async def _interaction(self, raw: Raw) -> None:
        """Stored, then answered. What is malformed is told in the log, and to the person who waits for an answer."""
        try:
            await self._interacted(raw)
        except MALFORMED as error:
            log.warning("an interaction of Discord is malformed, and left alone: %s", told(error))
            if raw.get("id") and raw.get("token"):
                await self._answering.answer(raw, unread())

    async def _interacted(self, raw: Raw) -> None:
        """A form is opened at once: it is no decision yet."""
        if wanted := opens_form(raw):
            approval, choice = wanted
            form = await self._forms(ApprovalId(approval), choice, presser(raw))
            await self._answering.answer(raw, form_answer(form))
        elif body := body_of(raw):
            if is_elsewhere(raw):
                await self._answering.answer(raw, elsewhere())
                return
            async with asyncio.timeout(self._waits.press.total_seconds()):
                verdict = await self._taken(raw, body)
            decided = verdict.outcome is Outcome.DECIDED
            await self._answering.answer(raw, answer(raw, verdict.notice, decided=decided))
            if verdict.cards:
                place = Address(CHANNEL, self._identity, channel_id(raw))
                await self._answering.follow_up(raw, follow_ups(place, verdict.cards))
        else:
            await self._answering.answer(raw, unknown(raw))

    async def _taken(self, raw: Raw, body: Body) -> Verdict:
        channel = channel_id(raw)
        place = place_told(raw) or await self._place(channel, is_direct=not raw.get("guild_id"))
        if isinstance(body, Said):
            await self._in_turn(channel)
        return await self._surely(signal(raw, body, place, self._me("")))

    async def _in_turn(self, channel: str) -> None:
        """Behind what was said before it there: it would hide what is still to be read. Not for long if it can be helped,
        since Discord waits 3 s for the answer."""
        turn = asyncio.Event()

        async def reached() -> None:
            turn.set()

        self._lanes.put(channel, reached)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._waits.turn.total_seconds()):
                await turn.wait()
        await self._gap.marked()

    async def _guarded(self, work: Work) -> None:
        try:
            await work()
        except TimeoutError:
            log.warning("a press or command was given up: it could not be stored")
        except MALFORMED as error:
            log.warning("an interaction of Discord is malformed, and left alone: %s", told(error))
        except Exception:
            log.exception("an interaction of Discord was not taken in")

    # ------------------------------------------------------------------------------------------------------ gaps

    def _begun(self, ready: Raw) -> None:
        """A session that is new: what was said before it is read first, what is said from now on waits for that.

        Errors: LoginRefused when Discord takes us for another bot than the token names.
        """
        check_identity(str(ready["user"]["id"]), self._settings.account, self._identity)
        self._expected = {str(guild["id"]) for guild in ready["guilds"]}
        self._rooms.begin()
        self._open_gap()
        self.welcomed()
        if self._shard == 0:
            application = str(ready["application"]["id"])
            self._group.create_task(self._guarded(partial(self._answering.register, application)))

    def _server_told(self, guild: str) -> None:
        """A server that was down when the session began, or that the bot joined since, has a gap of its own."""
        self._expected.discard(guild)
        if self._closing and self._closing.done():
            self._open_gap()

    def _open_gap(self) -> None:
        self._lanes.hold()
        self._gap.begin()
        if self._closing:
            self._closing.cancel()
        self._closing = self._group.create_task(self._close_gap())

    async def _close_gap(self) -> None:
        stored = await self._mark()
        await self._all_told()
        missed = self._gap.rooms(stored, self._rooms.current(), with_others=self._shard == 0)
        self._missed |= missed.keys()
        self._gap.end()
        self._lanes.release({channel: partial(self._catch_up, channel, after) for channel, after in missed.items()})

    async def _all_told(self) -> None:
        """Until each server was told, or for as long as that takes at most: one that is down is told never."""
        left = self._waits.guilds
        while self._expected and left > timedelta():
            await asyncio.sleep(QUEUE_LOOK_INTERVAL.total_seconds())
            left -= QUEUE_LOOK_INTERVAL

    async def _mark(self) -> Stored:
        while True:
            try:
                return await self._gap.mark()
            except StoreError as error:
                log.warning("what was said meanwhile cannot be looked for yet: %s", error)
                await asyncio.sleep(self._waits.store.total_seconds())

    async def _catch_up(self, channel: str, after: int, *, before: int = BEYOND_ALL_IDS) -> None:
        """Take in what was said in a channel after that message and `before` that one, until all of it is."""
        self._missed.discard(channel)
        wait = self._waits.again
        while True:
            try:
                place = await self._place(channel, is_direct=False)
                async for page in self._gap.pages(channel, after):
                    for raw in filter(lambda raw: int(raw["id"]) < before, page):
                        await self._take_told(raw, place)
                        after = int(raw["id"])
                        self._gap.heard(channel, str(after))
                        self._read.setdefault(channel, set()).add(str(after))
                return
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - what it comes to is looked at
                failure = ours(error, self._settings.account, reads=True)
                log.info("the history of the channel %s cannot be read: %s", channel, failure)
                if isinstance(failure, Rejected):
                    return
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, self._waits.again_most)

    async def _take_told(self, raw: Raw, place: Place) -> None:
        try:
            await self._take_there(raw, place, message)
        except MALFORMED as error:
            log.warning("a message of Discord is malformed, and left alone: %s", told(error))
