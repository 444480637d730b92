"""Encrypted rooms: said once in each, in plain words, that nothing is read or answered there."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import structlog

from signalbox.channels import Address, said_at, say
from signalbox_matrix.api import Api
from signalbox_matrix.errors import Refused
from signalbox_matrix.outgoing.send import Sending
from signalbox_matrix.rooms import Room

log = structlog.get_logger("matrix")

TOLD_KEY: Final = "signalbox.told"
"""Type of a room's account data which holds that it was said there."""
MEANWHILE: Final = (429, 500, 502, 503, 504)


class EncryptedRooms:
    def __init__(self, *, api: Api, account: str, sending: Sending) -> None:
        self._api = api
        self._account = account
        self._sending = sending
        self._told: set[str] = set()

    async def tell(self, room: Room, me: str, at: Address) -> None:
        """Say so, unless it was said there. Errors: MatrixError where it may be tried again."""
        if not room.encrypted_by or room.id in self._told:
            return
        try:
            await self._tell(room, me, at)
        except Refused as error:
            if error.status in MEANWHILE or error.is_of_token or not error.code:
                raise
            log.warning(
                "can't say in an encrypted room that it is", account=self._account, room=room.id, reason=str(error)
            )
        self._told.add(room.id)

    async def _tell(self, room: Room, me: str, at: Address) -> None:
        try:
            await self._api.kept(me, TOLD_KEY, room.id)
        except Refused as error:
            if error.code != "M_NOT_FOUND":
                raise
        else:
            return
        with said_at(at):
            words = say(
                "This room is encrypted, so I can't read or answer anything here. Please use a room without encryption."
            )
        # The same key after a kill: the homeserver shows it once.
        key = f"e.{sha256(f'{room.id} {room.encrypted_by}'.encode()).hexdigest()[:16]}"
        await self._sending.tell(room.id, words, key)
        await self._api.keep(me, TOLD_KEY, {"encrypted": room.encrypted_by}, room.id)
        log.warning("a room is encrypted: nothing is read or sent there", account=self._account, room=room.title(""))
