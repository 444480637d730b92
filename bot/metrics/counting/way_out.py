"""What happens to parts, counted by what the outbox's transactions return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.metrics.counting.answers import ADOPTED
from bot.metrics.counting.base import Counting
from runtime.contract import Address, DeliveryId, Kind, Receipt, Wire
from runtime.domain.deliveries import PartEvent
from runtime.store.delivery.outbox import ABANDONED, OutboxStore
from runtime.store.delivery.previews import PreviewStore
from runtime.store.protocol import Duty, OpenDelivery
from runtime.store.sql.driver import Op


def _cut(channel: str, account: str) -> Op[int]:
    return len((yield ABANDONED, {"c": channel, "a": account}))


class CountedOutbox(Counting, OutboxStore, PreviewStore):
    async def open_deliveries(self, address: Address, *, limit: int = 20) -> list[OpenDelivery]:
        found = await super().open_deliveries(address, limit=limit)
        for open_ in found:
            if open_.run_id and open_.delivery.kind is Kind.FINAL:
                self._answers.expect(open_.delivery.id, open_.run_id, ADOPTED, len(open_.parts))
        return found

    async def adopt(self, duty: Duty, channel: str, account: str, look_after: timedelta) -> bool:
        """Parts whose courier ended between sending and checkpoint become uncertain here."""
        cut = await self._driver.read(lambda: _cut(channel, account))
        done = await super().adopt(duty, channel, account, look_after)
        if done and cut:
            self._meters.parts.add(*self._labels.account(channel, account), "uncertain", by=cut)
        return done

    async def render(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], *, mark: bool, floor: str = ""
    ) -> bool:
        done = await super().render(duty, delivery, wires, mark=mark, floor=floor)
        if done:
            self._answers.rendered(delivery, len(wires))
        return done

    async def render_shown(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], receipts: Sequence[Receipt]
    ) -> bool:
        done = await super().render_shown(duty, delivery, wires, receipts)
        if done:
            self._answers.rendered(delivery, len(wires))
            for ordinal, _ in enumerate(receipts, 1):
                self._shown(self._labels.courier(duty.role), delivery, ordinal)
        return done

    async def checkpoint(self, duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        done = await super().checkpoint(duty, delivery, ordinal, receipt)
        if done:
            self._shown(self._labels.courier(duty.role), delivery, ordinal)
        return done

    async def retry(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        return self._told(duty, "retried", await super().retry(duty, delivery, ordinal, at, reason))

    async def doubt(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        return self._told(duty, "uncertain", await super().doubt(duty, delivery, ordinal, at, reason))

    async def absent(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool:
        return self._told(duty, "absent", await super().absent(duty, delivery, ordinal))

    async def repeat(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool:
        return self._told(duty, "repeated", await super().repeat(duty, delivery, ordinal))

    async def plain(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str = "") -> bool:
        """It may take more parts than were rendered; the courier reads them before it goes on, see `open_deliveries`."""
        return self._told(duty, "plain", await super().plain(duty, delivery, ordinal, reason))

    async def drop(self, duty: Duty, delivery: DeliveryId, ordinal: int, event: PartEvent, reason: str) -> bool:
        return self._told(duty, "dropped", await super().drop(duty, delivery, ordinal, event, reason))

    async def detach(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        return self._told(duty, "retried", await super().detach(duty, delivery, ordinal, reason))

    async def hold(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        self._answers.forget(delivery)
        return self._told(duty, "held", await super().hold(duty, delivery, ordinal, reason))

    async def give_up(self, duty: Duty, delivery: DeliveryId, ordinal: int | None, reason: str) -> bool:
        self._answers.forget(delivery)
        return self._told(duty, "dead", await super().give_up(duty, delivery, ordinal, reason))

    def _told(self, duty: Duty, outcome: str, done: bool) -> bool:
        if done:
            self._meters.parts.add(*self._labels.courier(duty.role), outcome)
        return done
