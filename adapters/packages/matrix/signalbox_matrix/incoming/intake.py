"""Path of an event: noted, read, handed to the sink; what is missing for that is asked at the homeserver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import structlog

from signalbox.channels import (
    AdapterContext,
    Address,
    Identity,
    Moved,
    Outcome,
    PlatformClock,
    Reaction,
    Signal,
    Sink,
)
from signalbox_matrix import parse
from signalbox_matrix.api import Api
from signalbox_matrix.errors import Refused
from signalbox_matrix.incoming.choosing import Choosing
from signalbox_matrix.incoming.encrypted import EncryptedRooms
from signalbox_matrix.incoming.known import KnownEvents
from signalbox_matrix.parse import Me, Scene
from signalbox_matrix.rooms import Room, Rooms
from signalbox_matrix.settings import MATRIX

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError)
SPOKEN: Final = frozenset({"m.room.message", "m.sticker", "m.poll.start", "org.matrix.msc3381.poll.start"})


class Intake:
    """Takes events in, each once it is known to be new. `me` is set before the first."""

    def __init__(
        self,
        *,
        api: Api,
        account: str,
        rooms: Rooms,
        known: KnownEvents,
        choosing: Choosing,
        encrypted: EncryptedRooms,
        given: AdapterContext,
        clock: PlatformClock,
    ) -> None:
        self._api = api
        self._account = account
        self._rooms = rooms
        self._known = known
        self._choosing = choosing
        self._encrypted = encrypted
        self._given = given
        self._clock = clock
        self.me = Me("")

    async def take(self, event: Raw, room: Room, sink: Sink) -> bool:
        """True for what somebody said to us. Errors: StoreError, MatrixError: it was not taken in, and comes again."""
        try:
            self._known.note(event)
            room.learn(event)
            if "state_key" in event:
                await self._changed(event, room, sink)
                return False
            if event["sender"] == self.me.id:
                return False
            return await self._happened(event, room, sink)
        except MALFORMED:
            log.exception("an event can't be read, and is left out", account=self._account, event=event.get("event_id"))
            return False

    async def _happened(self, event: Raw, room: Room, sink: Sink) -> bool:
        kind, content = event["type"], event["content"]
        if kind == "m.reaction":
            return await self._reacted(event, room, sink)
        if kind == "m.room.redaction":
            await self._took_away(event, room)
            return False
        if kind not in SPOKEN or not content or room.encrypted_by:
            return False
        if parse.is_edit(content):
            return await self._edited(event, room, sink)
        about = parse.answered_event(content)
        scene = await self._scene(event, room, thread=parse.thread_of(content), about=about)
        if content.get("msgtype") == "m.text":
            words = parse.words_of(content, scene.me)
            if await self._choosing.said(event, scene, words, about, sink):
                return True
        return await self._said(parse.message(event, scene), sink)

    async def _said(self, signal: Signal | None, sink: Sink) -> bool:
        if signal is None:
            return False
        verdict = await sink(signal)
        return verdict.outcome is not Outcome.IGNORED

    async def _edited(self, event: Raw, room: Room, sink: Sink) -> bool:
        target = str(parse.relation(event["content"])["event_id"])
        before = await self._known.of(room.id, target)
        if before is None or before.sender != event["sender"]:
            return False  # clients show only an author's own changes
        return await self._said(parse.edit(event, await self._scene(event, room, thread=before.thread)), sink)

    async def _scene(self, event: Raw, room: Room, *, thread: str = "", about: str = "") -> Scene:
        if room.members is None:
            room.members = len(await self._api.members(room.id))
        me = Me(self.me.id, room.called(self.me.id))
        answers_us = False
        if about and not room.is_direct and not parse.names_us(event["content"], me):
            before = await self._known.of(room.id, about)
            answers_us = before is not None and before.sender == me.id
        return Scene(me, room, self._rooms.row(room.id), self._at(event), thread, answers_us)

    def _at(self, event: Raw) -> datetime:
        """Time it happened, by our clock; a homeserver's word for what is to come counts as now."""
        return min(self._clock.ours(parse.instant(event)), self._given.now())

    # --------------------------------------------------------------------------------------------------- reactions

    async def _reacted(self, event: Raw, room: Room, sink: Sink) -> bool:
        told = parse.relation(event["content"])
        target, emoji = str(told["event_id"]), str(told["key"])
        if await self._choosing.reacted(event, await self._scene(event, room), target, emoji, sink):
            return True
        await self._given.rated(Reaction(self._place(room), self._who(event), target, added=(emoji,)))
        return False

    async def _took_away(self, event: Raw, room: Room) -> None:
        """A reaction that is remembered; of others the homeserver tells no longer what they were."""
        gone = str(event.get("redacts") or event["content"].get("redacts") or "")
        before = await self._known.of(room.id, gone) if gone else None
        if before is not None and before.reaction[0]:
            target, emoji = before.reaction
            await self._given.rated(Reaction(self._place(room), self._who(event), target, removed=(emoji,)))

    def _place(self, room: Room) -> Address:
        return Address(MATRIX, self.me.id, self._rooms.row(room.id))

    def _who(self, event: Raw) -> Identity:
        return parse.identity(str(event["sender"]))

    # --------------------------------------------------------------------------------------------------- the room

    async def settled(self, room: Room) -> None:
        """Once its state is known: say in an encrypted room that it is. Errors: MatrixError."""
        await self._encrypted.tell(room, self.me.id, self._place(room))

    async def _changed(self, event: Raw, room: Room, sink: Sink) -> None:
        match event["type"]:
            case "m.room.encryption":
                await self.settled(room)
            case "m.room.tombstone" if room.successor:
                await self._follow(event, room, sink)
            case "m.room.member" if event["state_key"] == self.me.id:
                log.info("membership changed", account=self._account, room=room.id, now=event["content"]["membership"])

    async def _follow(self, event: Raw, room: Room, sink: Sink) -> None:
        """A room was replaced: go on in the new one. Where that is closed, somebody will invite us."""
        via = str(event["sender"]).partition(":")[2]
        try:
            await self._api.join(room.successor, via)
        except Refused as error:
            if _comes_later(error):
                raise
            log.info("can't follow a room yet", account=self._account, room=room.id, to=room.successor, why=str(error))
            return
        await self._moved(event, room, sink)

    async def _moved(self, event: Raw, room: Room, sink: Sink) -> None:
        """Rows keep the id that they know: the new one is noted beside it."""
        row = self._rooms.move(room.id, room.successor)
        signal = Signal(
            platform=self.me.platform,
            dedupe_key=f"moved {row} {room.successor}",
            actor=self._who(event),
            actor_name=room.called(str(event["sender"])),
            address=Address(MATRIX, self.me.id, row),
            body=Moved(room.successor),
            received_at=self._given.now(),
        )
        await sink(signal)

    # --------------------------------------------------------------------------------------------------- invitations

    async def invited(self, room: str, state: Raw, sink: Sink) -> None:
        """Join where somebody invites us who may; else say no, so that they can invite again once they may.

        Errors: StoreError, MatrixError.
        """
        events = [event for event in state.get("events") or () if isinstance(event, Mapping)]
        ours = next((e for e in events if e.get("type") == "m.room.member" and e.get("state_key") == self.me.id), None)
        if ours is None:
            return
        try:
            await self._answered(room, ours, sink)
        except Refused as error:
            if _comes_later(error):
                raise
            log.warning("can't answer an invitation", account=self._account, room=room, reason=str(error))

    async def _answered(self, room: str, invitation: Raw, sink: Sink) -> None:
        who, before = self._who(invitation), self._rooms.before(room)
        alone = bool((invitation.get("content") or {}).get("is_direct"))
        if before is None and not await self._given.may_invite(who, Address(MATRIX, self.me.id, room), alone):
            log.info("an invitation by somebody who may not was declined", account=self._account, by=who, room=room)
            await self._api.leave(room)
            return
        await self._api.join(room, str(invitation["sender"]).partition(":")[2])
        if before is not None:  # a room that we are in names this one as what replaces it
            await self._moved(invitation, before, sink)


def _comes_later(error: Refused) -> bool:
    """True for a refusal that says nothing of what was asked."""
    return error.status == 429 or error.status >= 500 or error.is_of_token or not error.code
