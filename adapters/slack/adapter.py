"""One Slack workspace as a channel."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from adapters.slack.bot_user import NOBODY, BotUser
from adapters.slack.checks import granted, refusal_for_want_of_scopes
from adapters.slack.envelope import CHANNEL, COMMAND_MARK
from adapters.slack.errors import NO_THREAD, Refusal
from adapters.slack.health import Health
from adapters.slack.incoming.backfill import Gaps
from adapters.slack.incoming.files import Downloads
from adapters.slack.incoming.http_events import HttpEvents
from adapters.slack.incoming.intake import Intake
from adapters.slack.incoming.names import Names
from adapters.slack.incoming.socket_mode import Sockets
from adapters.slack.outgoing.best_effort import BestEffort, Work
from adapters.slack.outgoing.homes import Homes
from adapters.slack.outgoing.notices import Notices
from adapters.slack.outgoing.reach import Reach
from adapters.slack.outgoing.render import render
from adapters.slack.outgoing.send import CUSTOMIZE, REACT, Posts, body_of, thread_of
from adapters.slack.outgoing.settle import Settling
from adapters.slack.outgoing.streams import Streams
from adapters.slack.outgoing.uploads import Uploads
from adapters.slack.settings import SlackSettings
from adapters.slack.web import SLACK, Answer, Web
from runtime.contract import (
    AdapterContext,
    Address,
    Attempt,
    Bucket,
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
from runtime.errors import ChannelError, Rejected, Retryable

# chat.postMessage: about one a second in a channel, short bursts are borne; beyond them Slack says how long to wait.
# Source: docs.slack.dev/apis/web-api/rate-limits, read 2026-08.
HEALTH_INTERVAL: Final = timedelta(seconds=1)
BURST: Final = 20
STATUS_LASTS: Final = timedelta(seconds=110)  # Slack takes a status away after about two minutes


class SlackAdapter:
    """One account. Its `identity`, the workspace's id, is what Slack tells: see `learn`."""

    typing_lasts = STATUS_LASTS

    def __init__(self, settings: SlackSettings, given: AdapterContext) -> None:
        self.channel: str = CHANNEL
        self.account: str = settings.account
        self._me = NOBODY
        self._settings = settings
        self._health = Health(settings.account)
        self._web = api = Web(settings, given.now)
        self._asides = BestEffort()
        self._places = given.places
        self._speaking = Notices(api)
        self._homes = Homes(api, given.inbox, given.now, settings.pace, given.notifier)
        self._reach = Reach(api)
        self._intake = Intake(
            settings,
            web=api,
            names=Names(api, settings.pace),
            speaking=self._speaking,
            homes=self._homes,
            asides=self._asides,
            now=given.now,
            forms=given.forms,
            rated=given.rated,
        )
        self._http_events = HttpEvents(settings.account, self._intake.app)
        streams = Streams(api, lambda: self._me.team, self._intake.last_speaker)
        self._posts = Posts(api, streams)
        self._uploads = Uploads(api, given.workspaces, settings.pace.shares)
        self._settling = Settling(api, self._uploads, given.places, given.now)
        self._gaps = Gaps(
            api,
            self._settling.messages,
            given.places,
            given.now,
            self._intake.take_in_history,
            begin=self._begin_look,
        )
        self._intake.lets_in = self._gaps.lets_in
        base = settings.api_base_url or SLACK
        self._downloads = Downloads(api, token=settings.bot_token, base=base)

    def features(self) -> Features:
        return Features(
            edits=True,
            settles=True,
            learn=self.learn,
            buckets=self.buckets,
            types=self,
            fetch=self.fetch,
            ping=self.ping,
            reach=self.reach,
            link=self.link,
            reacts=self._posts.refused_emoji,
            routes=self.routes,
            command_mark=COMMAND_MARK,
            title="Slack",
            writing="Tables are shown as columns of plain text, and images only as links.",
        )

    # ---------------------------------------------------------------------------------------------- the connection

    @property
    def identity(self) -> str:
        return self._me.team

    async def learn(self) -> None:
        """Until Slack told who we are."""
        while self._me is NOBODY:
            await self._asked_who_we_are()

    async def _asked_who_we_are(self) -> None:
        """One try, and the wait after one that failed."""
        pace = self._settings.pace
        try:
            self._me = self._intake.me = BotUser.of(await self._asked_about_the_token())
        except ChannelError as error:
            self._health.no_token(error)
            refused = isinstance(error, Rejected)
            await asyncio.sleep((pace.refused if refused else pace.again_first).total_seconds())

    async def _asked_about_the_token(self) -> Answer:
        """Ask Slack about the token; how we stand follows. Errors: ChannelError."""
        told, headers = await self._web.answer("auth.test")
        lacking, scopes = refusal_for_want_of_scopes(headers), granted(headers)
        self._posts.may_name = CUSTOMIZE in (scopes or ())
        self._posts.may_react = scopes is None or REACT in scopes
        if lacking is None:
            self._health.token_works()
        else:
            self._health.no_token(lacking)  # there is a token, and nothing can be said with it
        return told

    async def listen(self, sink: Sink) -> None:
        async with self._web.kept_open(), asyncio.TaskGroup() as group:
            self._asides.owned_by(group)
            self._intake.sink = sink
            try:
                await self.learn()
                group.create_task(self._watch_token())
                group.create_task(self._homes.run())
                await self._attend()
            finally:
                self._intake.sink = None
                self._asides.owned_by(None)

    async def _attend(self) -> None:
        """Over HTTP nothing is to be done: whether Slack reaches us, it alone knows."""
        if self._settings.mode == "http":
            self._health.up()
            self._mend(True)
            await asyncio.Event().wait()
        sockets = Sockets(
            self._intake.store,
            web=self._web,
            pace=self._settings.pace,
            health=self._health,
            on_hearing=self._mend,
            on_opening=self._gaps.expect,
            ask_store=partial(self._places.last_heard, CHANNEL, self.identity),
        )
        self._web.on_answer, self._intake.on_store_away = sockets.slack_answers, sockets.store_is_away
        await sockets.run()

    async def _watch_token(self) -> None:
        """Events may come, and answers no longer go."""
        pace, ill = self._settings.pace, False
        while True:
            await asyncio.sleep((pace.refused if ill else pace.token_check).total_seconds())
            try:
                await self._asked_about_the_token()
            except ChannelError as error:
                ill = True
                self._health.no_token(error)
                continue
            if ill and self._settings.mode == "http":
                self._mend(True)
            ill = False

    def _mend(self, surely: bool) -> None:
        """Read what was missed, beside everything else."""
        self._gaps.expect()
        self._begin_look(partial(self._gaps.repair, self._me, surely=surely))

    def _begin_look(self, work: Work) -> None:
        self._asides.begin(work, "a look for what was missed", needed=True)

    def routes(self) -> list[web.RouteDef]:
        """Routes to which Slack sends events in `mode` http."""
        return self._http_events.routes() if self._settings.mode == "http" else []

    def standing(self) -> ConnectionStatus:
        return self._health.standing

    # ------------------------------------------------------------------------------------------------- the way out

    def render(self, delivery: Delivery) -> list[Wire]:
        return render(delivery)

    async def show(self, part: Part) -> Receipt:
        try:
            return await self._shown(part)
        except Rejected as error:
            raise self._named(error) from error

    async def _shown(self, part: Part) -> Receipt:
        """In its thread; in the room where what it stands under was removed."""
        body = body_of(part)
        way = self._uploads if "file" in body else self._posts
        try:
            return await way.show(part, body, thread_of(part))
        except Refusal as error:
            if not part.under or part.address.thread or error.code not in NO_THREAD:
                raise
            return await way.show(part, body, "")

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        body: Mapping[str, Any] = body_of(part)
        if "file" in body:
            raise Rejected("a message cannot become a file", form=True)
        try:
            return await self._posts.edit(receipt, part, body)
        except Rejected as error:
            raise self._named(error) from error

    def _named(self, error: Rejected) -> Rejected:
        """A refusal is read by an operator, who has several accounts."""
        return Rejected(f'Slack account "{self.account}": {error}', form=error.form)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return await self._settling.settle(part, attempt, self._me)

    async def reach(self, address: Address) -> str | None:
        return await self._reach.of(address, self._me)

    def link(self, address: Address, message: str) -> str:
        return self._me.link(address, message)

    async def ping(self) -> None:
        try:
            await self._web.call("auth.test")
        except Rejected:
            return
        except Retryable as error:
            if error.retry_after is None:
                raise

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return [Bucket(f"channel {address.room}", BURST, HEALTH_INTERVAL)]

    async def typing(self, address: Address, status: str) -> None:
        await self._speaking.status(address, status)

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        await self._downloads.fetch(file, into, most=most)
