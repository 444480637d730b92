"""One Matrix bot user as a channel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from signalbox.channels import (
    CONNECTED,
    AdapterContext,
    Address,
    Attempt,
    Bucket,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    Part,
    PlatformClock,
    Receipt,
    Rejected,
    Retryable,
    Settled,
    Sink,
    StoreError,
    Wire,
)
from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, Refused, ours, token_refused
from signalbox_matrix.incoming.choosing import Choosing
from signalbox_matrix.incoming.encrypted import EncryptedRooms
from signalbox_matrix.incoming.files import Files
from signalbox_matrix.incoming.history import History
from signalbox_matrix.incoming.intake import Intake
from signalbox_matrix.incoming.known import KnownEvents
from signalbox_matrix.incoming.position import Position
from signalbox_matrix.incoming.sync import Syncing
from signalbox_matrix.outgoing.reach import Reach
from signalbox_matrix.outgoing.render import render
from signalbox_matrix.outgoing.send import ENCRYPTED, Sending
from signalbox_matrix.outgoing.settle import Settling
from signalbox_matrix.parse import COMMAND_MARK, Me
from signalbox_matrix.rooms import Rooms, link
from signalbox_matrix.settings import MATRIX, MatrixSettings

log = structlog.get_logger("matrix")

SYNC: Final = "sync"
TYPING: Final = timedelta(seconds=25)
LOOK_BACK: Final = timedelta(hours=24)
DOUBT: Final = timedelta(minutes=15)
"""Before the last thing heard, another may have waited for the store when the process was killed."""
BUCKET_FREE: Final = Bucket("all", burst=10, every=timedelta(seconds=0.1))
BUCKET_BOUND: Final = Bucket("all", burst=10, every=timedelta(seconds=5))
"""Once a homeserver asked to wait: as Synapse bounds users by default.

Source: element-hq.github.io/synapse, rc_message of the configuration manual, read 2026-11.
"""
IN_A_ROOM: Final = (5, timedelta(seconds=0.5))


class MatrixAdapter:
    """The user whose access token the settings hold."""

    typing_lasts = TYPING

    def __init__(self, settings: MatrixSettings, given: AdapterContext) -> None:
        self.channel: str = MATRIX
        self.account: str = settings.account
        self.identity: str = ""
        self._settings = settings
        self._given = given
        self._clock = PlatformClock("the homeserver", given.now)
        self._api = Api(settings, self._clock.heed)
        self._rooms = Rooms()
        self._learnt = asyncio.Event()
        self._attending = False
        self._is_bound = False
        self._standing = ConnectionStatus(Connection.CONNECTING, f'account "{self.account}": not connected yet')
        self._outward()
        self._inward()

    def _outward(self) -> None:
        api, account, rooms = self._api, self.account, self._rooms
        self._sending = Sending(
            api=api, account=account, rooms=rooms, workspaces=self._given.workspaces, new_id=self._given.new_id
        )
        self._settling = Settling(api=api, account=account, rooms=rooms, sending=self._sending, clock=self._clock)
        self._reach = Reach(api)
        self._files = Files(api=api, account=account)

    def _inward(self) -> None:
        api, account, waits = self._api, self.account, self._settings.waits
        self._known, self._history = KnownEvents(api), History(api, account)
        choosing = Choosing(known=self._known, sending=self._sending, open_form=self._given.forms, account=account)
        self._intake = Intake(
            api=api,
            account=account,
            rooms=self._rooms,
            known=self._known,
            choosing=choosing,
            encrypted=EncryptedRooms(api=api, account=account, sending=self._sending),
            given=self._given,
            clock=self._clock,
        )
        self._syncing = Syncing(
            api=api,
            account=account,
            rooms=self._rooms,
            intake=self._intake,
            history=self._history,
            position=Position(api=api, account=account, waits=waits),
            waits=waits,
            oldest=self._oldest,
            said=self._said,
        )

    def features(self) -> Features:
        return Features(
            edits=True,
            settles=True,
            learn=self.learn,
            listeners=self,
            buckets=self.buckets,
            types=self,
            fetch=self._files.fetch,
            ping=self.ping,
            reach=self.reach,
            link=self.link,
            reacts=takes_any,
            command_mark=COMMAND_MARK,
            title="Matrix",
            writing="A message holds some 16,000 characters. Headings, lists, tables, links and code are drawn.",
        )

    # ------------------------------------------------------------------------------------------------- the way in

    async def learn(self) -> None:
        """Ask until the homeserver told whose token it is."""
        failures = 0
        try:
            while not self.identity:
                failures += 1
                if not await self._learn():
                    await asyncio.sleep(self._settings.waits.after(failures).total_seconds())
        except BaseException:
            await self._api.close()
            raise

    async def _learn(self) -> bool:
        try:
            me = str((await self._api.whoami())["user_id"])
            self._rooms.follow(await self._given.places.moved(self.channel, me))
        except Refused as error:
            refused = error.is_of_token
            words = token_refused(self.account, error) if refused else f'account "{self.account}": {error}'
            self._said(ConnectionStatus(Connection.REFUSED if refused else Connection.CONNECTING, words))
            return False
        except (MatrixError, StoreError) as error:
            why = f'account "{self.account}": {error}. Retrying automatically.'
            self._said(ConnectionStatus(Connection.CONNECTING, why))
            return False
        self._am(me)
        return True

    def _am(self, me: str) -> None:
        self.identity = me
        self._intake.me = Me(me)
        self._known.me = self._history.me = self._sending.me = self._reach.me = me
        self._learnt.set()

    async def listen(self, sink: Sink) -> None:
        """Wait: all that comes is taken in by the process that attends."""
        try:
            await self._learnt.wait()
            if not self._attending:
                self._said(CONNECTED)
            await asyncio.Event().wait()
        finally:
            await self._api.close()

    def listeners(self) -> Sequence[str]:
        return (SYNC,)

    async def attend(self, listener: str, sink: Sink) -> None:
        self._attending = True
        self._said(ConnectionStatus(Connection.CONNECTING, f'account "{self.account}": not connected yet'))
        try:
            await self._learnt.wait()
            await self._syncing.run(sink, self.identity)
        finally:
            self._attending = False
            if self._learnt.is_set():
                self._said(CONNECTED)  # as far as it is ours: another process reads from now on

    async def _oldest(self) -> datetime | None:
        """Time since which something may have been missed where no position is kept; None where nothing ever was heard."""
        last = await self._given.places.last_heard(self.channel, self.identity)
        return None if last is None else self._clock.since(max(last - DOUBT, self._given.now() - LOOK_BACK))

    def _said(self, standing: ConnectionStatus) -> None:
        self._standing = standing

    def standing(self) -> ConnectionStatus:
        if self._standing is CONNECTED and self._attending and self._syncing.is_deaf():
            return ConnectionStatus(Connection.DEAF, f'account "{self.account}": no sync was answered for too long')
        return self._standing

    # ------------------------------------------------------------------------------------------------ the way out

    def render(self, delivery: Delivery) -> list[Wire]:
        return render(delivery)

    async def show(self, part: Part) -> Receipt:
        await self._check_open(part.address)
        try:
            return await self._sending.send(part)
        except Retryable as error:
            self._is_bound = self._is_bound or error.retry_after is not None
            raise

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        await self._check_open(part.address)
        try:
            return await self._sending.edit(receipt, part)
        except Retryable as error:
            self._is_bound = self._is_bound or error.retry_after is not None
            raise

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return await self._settling.settle(part, attempt)

    async def _check_open(self, address: Address) -> None:
        """Nothing goes into an encrypted room. Errors: Rejected there; Retryable where nobody can tell."""
        room = self._rooms.wire(address)
        known = self._rooms.known(room) if self._attending and self._syncing.hears() else None
        if known is not None:
            is_encrypted = bool(known.encrypted_by)
        else:
            try:
                is_encrypted = await self._reach.is_encrypted(room)
            except MatrixError as error:
                raise ours(error, self.account, reads=True) from error
        if is_encrypted:
            raise Rejected(ENCRYPTED)

    async def reach(self, address: Address) -> str | None:
        return await self._reach.of(self._rooms.wire(address))

    def link(self, address: Address, message: str) -> str:
        return link(Address(address.channel, address.account, self._rooms.wire(address)), message)

    async def ping(self) -> None:
        try:
            await self._api.whoami()
        except MatrixError as error:
            if not (isinstance(error, Refused) and error.code and error.status < 500):
                raise ours(error, self.account, reads=True) from error

    def buckets(self, address: Address) -> Sequence[Bucket]:
        """As fast as may be, until the homeserver says that it bounds us."""
        return (BUCKET_BOUND if self._is_bound else BUCKET_FREE), Bucket(f"room {address.room}", *IN_A_ROOM)

    # ------------------------------------------------------------------------------------------------ at the side

    async def typing(self, address: Address, status: str) -> None:
        try:
            lasts = TYPING if status else timedelta()
            await self._api.typing(self._rooms.wire(address), self.identity, lasts)
        except MatrixError as error:
            log.debug("typing was not shown", account=self.account, reason=str(error))


def takes_any(emoji: str) -> str:
    """Matrix takes every emoji."""
    return ""
