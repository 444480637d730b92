"""All couriers of this process: the one place that knows which accounts are served."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runtime.contract import Address, Capability, Progress
from runtime.courier import Courier
from runtime.errors import Rejected
from runtime.store.protocol import NewDelivery, Outbox


class Couriers:
    """Finds the courier of an address."""

    def __init__(self, couriers: Iterable[Courier], outbox: Outbox) -> None:
        self._by_account = {(c.adapter.channel, c.adapter.identity): c for c in couriers}
        self._outbox = outbox

    def __iter__(self) -> Iterator[Courier]:
        return iter(self._by_account.values())

    def serves(self, address: Address) -> bool:
        """Whether what is stored for `address` would ever be shown from here."""
        return (address.channel, address.account) in self._by_account

    async def post(self, delivery: NewDelivery) -> bool:
        """Put something into the outbox that no run made; False when its (origin, ordinal) is there already.

        Errors: Rejected when no account here serves its address; nothing is stored then.
        """
        if not self.serves(delivery.address):
            raise Rejected(f"No account here serves {delivery.address}: is its account in the settings?")
        fresh = await self._outbox.enqueue(delivery)
        self.nudge(delivery.address)
        return fresh

    def nudge(self, address: Address) -> None:
        """Something waits for this room."""
        courier = self._by_account.get((address.channel, address.account))
        if courier:
            courier.nudge(address)

    def progress(self, address: Address, event: Progress) -> None:
        """Show live progress where the channel can."""
        courier = self._by_account.get((address.channel, address.account))
        if courier and Capability.PROGRESS in courier.adapter.capabilities:
            courier.adapter.progress(address, event)
