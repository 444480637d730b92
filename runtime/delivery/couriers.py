"""All couriers of this process: the one place that knows which accounts are served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from runtime.contract import Address, Features, Progress, RunId
from runtime.delivery.courier import Courier
from runtime.delivery.sent_files import SentFiles
from runtime.errors import Rejected
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.store.protocol import Claim, KeptRoom, NewDelivery, Outbox


class ServedAccounts(Protocol):
    """Accounts that are served, though no courier here has their identity at this moment."""

    def expected(self, channel: str, account: str) -> str:
        """The identity of an account here, by its name: until its platform told it, that of its last start, or none."""

    def is_elsewhere(self, address: Address) -> bool:
        """True if another node serves it, as far as that was looked at."""

    async def look(self) -> None:
        """Look which accounts other nodes serve."""


class OnlyHere:
    """Implements `ServedAccounts` where each account has its identity, and no other node can be."""

    def expected(self, channel: str, account: str) -> str:
        return ""

    def is_elsewhere(self, address: Address) -> bool:
        return False

    async def look(self) -> None: ...


class Couriers:
    """Finds the courier of an address. `call` reaches the other nodes, for rooms that are not served from here."""

    def __init__(
        self,
        couriers: Iterable[Courier],
        outbox: Outbox,
        call: Callable[[Address], None] = lambda address: None,
        door: Door = OPEN_DOOR,
        files: SentFiles | None = None,
        accounts: ServedAccounts | None = None,
    ) -> None:
        self._door = door
        self._files = files
        self._accounts = accounts or OnlyHere()
        self._couriers = tuple(couriers)
        self._outbox = outbox
        self._call = call
        self._overhearing: Callable[[Claim, Progress], None] | None = None

    def _of(self, address: Address) -> Courier | None:
        """Asked anew each time, since an account may learn its identity late."""
        here = (c for c in self._couriers if c.adapter.channel == address.channel)
        return next((c for c in here if c.adapter.identity == address.account), None)

    def _starting(self, address: Address) -> Courier | None:
        """The courier of an account that is about to learn this identity."""
        expected, served = self._accounts.expected, (address.channel, address.account)
        found = ((c.adapter.channel, expected(c.adapter.channel, c.adapter.account), c) for c in self._couriers)
        return next((c for *place, c in found if tuple(place) == served), None)

    def __iter__(self) -> Iterator[Courier]:
        return iter(self._couriers)

    def serves(self, address: Address) -> bool:
        """True if what is stored for `address` would ever be shown."""
        return bool(self._of(address) or self._starting(address)) or self._accounts.is_elsewhere(address)

    async def _check(self, address: Address) -> None:
        """Errors: Rejected if no account serves it, here or at another node."""
        if self.serves(address):
            return
        await self._accounts.look()
        if not self.serves(address):
            raise Rejected(f"No account here serves {address}: is its account in the settings?")

    async def post(self, delivery: NewDelivery) -> bool:
        """Put something into the outbox that no run made; False when its (origin, ordinal) is there already.

        Errors: Rejected when no account serves its address; nothing is stored then.
        """
        await self._check(delivery.address)
        fresh = await self._outbox.enqueue(await self._cleaned(delivery))
        self.nudge(delivery.address)
        return fresh

    async def change(self, delivery: NewDelivery, most: int) -> bool:
        """Put a change of something shown into the outbox; False where its run made `most` of them already. Errors: as `post`."""
        await self._check(delivery.address)
        made = await self._outbox.put_change(await self._cleaned(delivery), most=most)
        self.nudge(delivery.address)
        return made

    def features(self, address: Address) -> Features | None:
        """Abilities of the channel there; None where no account here serves it."""
        courier = self._of(address) or self._starting(address)
        return courier.features if courier else None

    async def prepare(self, new: NewDelivery, claim: Claim) -> NewDelivery:
        """Prepare what a run is about to commit: over its preview, and rendered if its courier is here and its room free."""
        courier, new = self._of(new.address), await self._cleaned(new)
        if courier is None:
            return new
        new = courier.live_status.last_word(new, claim)
        return replace(new, rendered=await courier.prepare(new))

    async def _cleaned(self, new: NewDelivery) -> NewDelivery:
        """The last gate before a table and a chat: what comes here is clean already, but for what tools and templates made."""
        room, content = self._door.room(new.address), new.content
        if self._files and (content.files or content.text_file):
            content = await self._files.cleaned(new.id, new.address, content)
            new = replace(new, content=content)
        text, folded = (self._door.clean(one, Gate.DELIVERY, room) for one in (content.text, content.folded))
        if (text, folded) == (content.text, content.folded):
            return new
        return replace(new, content=replace(content, text=text, folded=folded))

    def carry_on(self, new: NewDelivery, run_id: RunId, *, begun: bool) -> None:
        """Carry on with a prepared delivery: `begun` with its commit, or it waits its turn, or was never stored."""
        courier = self._of(new.address)
        if courier and begun:
            courier.begin(new, run_id)
        elif not (courier and new.rendered and courier.let_go(new.address)):
            self.nudge(new.address)

    def keep(self, room: Address) -> KeptRoom | None:
        """Keep a room for a change that is about to be committed, if its courier is here and nothing else goes there."""
        courier = self._of(room)
        return courier.keep(room) if courier else None

    def nudge(self, address: Address) -> None:
        """Something waits for this room."""
        courier = self._of(address)
        if not (courier and courier.nudge(address)):
            self._call(address)

    def called(self, address: Address) -> None:
        """Another node put something into the outbox for this room."""
        courier = self._of(address)
        if courier and courier.on_duty:
            courier.nudge(address)

    def look_around(self) -> None:
        """Other nodes may have put something into the outbox for any room."""
        for courier in self:
            courier.look_around()

    def overhear(self, told: Callable[[Claim, Progress], None]) -> None:
        """Tell `told`, too, of live progress in every room."""
        self._overhearing = told

    def progress(self, claim: Claim, event: Progress) -> None:
        """Show live progress: by the channel's own means, else as its courier can."""
        if self._overhearing:
            self._overhearing(claim, event)
        courier = self._of(claim.address)
        if courier is None:
            return
        if show := courier.features.progress:
            show(claim.address, event)
        else:
            courier.live_status.note(claim, event)
