"""Deliveries for operators: looked at, requeued and discarded."""

from __future__ import annotations

from adapters.web import render
from bot.accounts.naming import Named
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.contract import DeliveryId
from runtime.domain.deliveries import DeliveryState
from runtime.http.errors import Refusal
from runtime.markup.moments import in_words
from runtime.store.protocol import DeliveryRow, OpenPart
from runtime.text.words import marked
from runtime.timeline.trail import Thing


@by_role
class DeliveriesApi(PartialApi):
    """Deliveries, and what an operator does about one that is stuck."""

    async def deliveries(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        where = await self._room_meant(room)
        rows = await self._store.operations.deliveries(state=word_of(DeliveryState, state), room=where, limit=limit)
        return await self._entitled([delivery_view(row, *self._names) for row in rows])

    async def delivery(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.delivery(DeliveryId(delivery_id))
        if row is None:
            raise Refusal(404, marked("There is no delivery {delivery_id}.").format(delivery_id=delivery_id))
        return await self._one_entitled(delivery_with_parts(row, *self._names))

    async def requeue(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.requeue(DeliveryId(delivery_id), self.actor.name)
        return self._mended(
            row, marked("{delivery} is neither on hold nor dead, so it can't be requeued.").format(delivery=delivery_id)
        )

    async def discard(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.discard(DeliveryId(delivery_id), self.actor.name)
        return self._mended(
            row,
            marked("{delivery} isn't waiting, or is being sent right now, so it can't be discarded.").format(
                delivery=delivery_id
            ),
        )

    def _mended(self, row: DeliveryRow | None, refusal: str) -> View:
        if row is None:
            raise Refusal(409, refusal)
        self._context.nudge(row.address)
        return delivery_view(row, *self._names)


def delivery_view(row: DeliveryRow, named: Named, called: Named) -> View:
    """For lists: without the parts."""
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "address": named(row.address),
        "room": called(row.address),
        "origin": row.origin,
        "attempts": row.attempts,
        "created_at": at(row.created_at),
        "settled_at": at(row.settled_at),
        "not_before": at(row.not_before),
        "reason": row.reason,
        "text": in_words(row.content.all_text),
        "files": [render.file(file) for file in row.content.files],
    }


def delivery_with_parts(row: DeliveryRow, named: Named, called: Named) -> View:
    return {**delivery_view(row, named, called), "parts": [part_view(open_part) for open_part in row.parts]}


def part_view(row: OpenPart) -> View:
    return {
        "ordinal": row.ordinal,
        "state": row.state,
        "attempts": row.attempts,
        "looks": row.looks,
        "marked_at": at(row.marked_at),
        "receipt": row.receipt.message_id if row.receipt else None,
        "body": row.body,
    }
