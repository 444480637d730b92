"""The outbox as couriers see it: deliveries, their parts, previews, and waits that a platform named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from runtime.contract import Address, DeliveryId, Receipt, RunId, SessionKey, Wire
from runtime.contract.deliveries import PostStanding
from runtime.domain.deliveries import DeliveryEvent, PartEvent
from runtime.store.delivery.changing import asked_in, change_shown, last_answer, posted_as
from runtime.store.delivery.open_deliveries import open_at, rooms
from runtime.store.delivery.outbox import (
    adopt,
    change,
    checkpoint,
    end,
    enqueue,
    look_again,
    mark,
    plain,
    render,
    render_shown,
)
from runtime.store.delivery.pauses import pause, paused
from runtime.store.delivery.previews import detach, drop, preview
from runtime.store.delivery.standing import standing
from runtime.store.observer import PartOutcome
from runtime.store.protocol import Duty, Lane, NewDelivery, OpenDelivery, Previewed
from runtime.store.protocol.outbox import ChangeTarget
from runtime.store.sql.base import Base


class OutboxStore(Base):
    """Implements `protocol.Outbox`."""

    async def enqueue(self, delivery: NewDelivery) -> bool:
        now = self.now()
        return await self._driver.write(lambda: enqueue(delivery, now))

    async def standing(self, origin: str) -> PostStanding | None:
        """State of the first delivery of an origin."""
        return await self._driver.read(lambda: standing(origin))

    async def asked_in(self, run: RunId, room: Address) -> ChangeTarget | None:
        return await self._driver.read(lambda: asked_in(run, room))

    async def posted_as(self, origin: str, room: Address) -> ChangeTarget | None:
        return await self._driver.read(lambda: posted_as(origin, room))

    async def last_answer(self, session: SessionKey, room: Address) -> ChangeTarget | None:
        return await self._driver.read(lambda: last_answer(session, room))

    async def put_change(self, delivery: NewDelivery, *, most: int) -> bool:
        now = self.now()
        return await self._driver.write(lambda: change_shown(delivery, most, now))

    async def open_rooms(self, channel: str, account: str) -> list[Address]:
        return await self._driver.read(lambda: rooms(channel, account))

    async def open_deliveries(self, address: Address, *, limit: int = 20) -> list[OpenDelivery]:
        found = await self._driver.read(lambda: open_at(address, limit), is_brief=True)
        self._observer.opened(found)
        return found

    async def adopt(self, duty: Duty, channel: str, account: str, look_after: timedelta) -> bool:
        now = self.now()
        in_doubt = await self._driver.write(lambda: adopt(duty, channel, account, look_after, now))
        if in_doubt:
            self._observer.adopted(channel, account, in_doubt)
        return in_doubt is not None

    async def render(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], *, mark: bool, floor: str = ""
    ) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: render(duty, delivery, wires, mark, floor, now))
        if done:
            self._observer.rendered(delivery, len(wires))
        return done

    async def render_shown(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], receipts: Sequence[Receipt]
    ) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: render_shown(duty, delivery, wires, receipts, now))
        if done:
            self._observer.rendered(delivery, len(wires))
            for ordinal, _ in enumerate(receipts, 1):
                self._observer.shown(duty, delivery, ordinal)
        return done

    async def mark(self, duty: Duty, delivery: DeliveryId, ordinal: int, *, floor: str = "") -> bool:
        now = self.now()
        return await self._driver.write(lambda: mark(duty, delivery, ordinal, floor, now))

    async def checkpoint(self, duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: checkpoint(duty, delivery, ordinal, receipt, now))
        if done:
            self._observer.shown(duty, delivery, ordinal)
        return done

    async def retry(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        event, now = PartEvent.RETRY, self.now()
        done = await self._driver.write(lambda: change(duty, delivery, ordinal, event, reason, now, at=at))
        return self._moved(duty, delivery, PartOutcome.RETRIED, done)

    async def doubt(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        event, now = PartEvent.DOUBT, self.now()
        done = await self._driver.write(lambda: change(duty, delivery, ordinal, event, reason, now, at=at))
        return self._moved(duty, delivery, PartOutcome.UNCERTAIN, done)

    async def look_again(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, *, counted: bool) -> bool:
        now = self.now()
        return await self._driver.write(lambda: look_again(duty, delivery, ordinal, at, counted, now))

    async def absent(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: change(duty, delivery, ordinal, PartEvent.ABSENT, "", now))
        return self._moved(duty, delivery, PartOutcome.ABSENT, done)

    async def repeat(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: change(duty, delivery, ordinal, PartEvent.REPEAT, "", now))
        return self._moved(duty, delivery, PartOutcome.REPEATED, done)

    async def plain(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str = "") -> bool:
        now = self.now()
        done = await self._driver.write(lambda: plain(duty, delivery, ordinal, reason, now))
        return self._moved(duty, delivery, PartOutcome.PLAIN, done)

    async def hold(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        now, events = self.now(), (PartEvent.HOLD, DeliveryEvent.HOLD)
        done = await self._driver.write(lambda: end(duty, delivery, ordinal, events, reason, now, self._new_id))
        return self._moved(duty, delivery, PartOutcome.HELD, done)

    async def give_up(self, duty: Duty, delivery: DeliveryId, ordinal: int | None, reason: str) -> bool:
        now, events = self.now(), (PartEvent.GIVE_UP, DeliveryEvent.GIVE_UP)
        done = await self._driver.write(lambda: end(duty, delivery, ordinal, events, reason, now, self._new_id))
        return self._moved(duty, delivery, PartOutcome.DEAD, done)

    def _moved(self, duty: Duty, delivery: DeliveryId, outcome: PartOutcome, done: bool) -> bool:
        if done:
            self._observer.moved(duty, delivery, outcome)
        return done

    async def preview(self, lane: Lane, run: RunId, new: NewDelivery) -> Previewed | None:
        now = self.now()
        return await self._driver.write(lambda: preview(lane, run, new, now))

    async def drop(self, duty: Duty, delivery: DeliveryId, ordinal: int, event: PartEvent, reason: str) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: drop(duty, delivery, ordinal, event, reason, now))
        return self._moved(duty, delivery, PartOutcome.DROPPED, done)

    async def detach(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        now = self.now()
        done = await self._driver.write(lambda: detach(duty, delivery, ordinal, reason, now))
        return self._moved(duty, delivery, PartOutcome.RETRIED, done)

    async def pause(self, duty: Duty, channel: str, account: str, room: str, until: datetime) -> bool:
        now = self.now()
        return await self._driver.write(lambda: pause(duty, channel, account, room, until, now))

    async def paused(self, channel: str, account: str) -> Mapping[str, datetime]:
        now = self.now()
        return await self._driver.read(lambda: paused(channel, account, now))
