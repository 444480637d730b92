"""Previews of one account: messages that show a growing reply until the final one replaces them.

Only the first showing of a preview is a delivery. Its later texts are edits that nobody stores and nobody repeats, so this
module knows what the store does not: which of them may still be on their way. One that was cut can arrive late and cover
what was said in its place; whoever says that says it once more when nothing can arrive any longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.contract import (
    Address,
    ChannelAdapter,
    Content,
    Delivery,
    DeliveryId,
    Kind,
    NewId,
    Part,
    Receipt,
    RunId,
    Wire,
)
from runtime.delivery.retry_policy import RetryPolicy
from runtime.domain.agents.manifest import MAIN
from runtime.errors import Rejected, Retryable
from runtime.store.protocol import Claim, NewDelivery, Previewed
from runtime.text.glyphs import head

log = structlog.get_logger("previews")

PREVIEW_MAX_CHARS: Final = 1500
"""Characters of a text that a preview shows: within one message on every platform, and cheap to render often."""
REMEMBERED: Final = 1000
"""Runs of which it is known that they may have one: many times those that are at work."""
GROWING: Final = " …"
FENCE: Final = "```"
PREVIEW_CHANGE_TIMEOUT: Final = timedelta(seconds=1)
"""How long what takes a preview's place waits for a change of it that is on its way."""


def origin_of(run: RunId) -> str:
    """Under which the previews of a run are stored."""
    return f"run:{run}:preview"


def shortened(text: str) -> str:
    """The text of a reply so far, as a preview shows it: never what the whole reply will be."""
    if len(text) <= PREVIEW_MAX_CHARS:
        return text.rstrip() + GROWING
    begun = head(text, PREVIEW_MAX_CHARS).rstrip()
    fence = f"\n{FENCE}" if begun.count(FENCE) % 2 else ""
    return f"{begun}{GROWING}{fence}\n\n*Still writing: {len(text):,} characters so far*{GROWING}"


@dataclass(slots=True)
class Preview:
    """One that this process knows. `fixed`: the platform does not let us change it."""

    delivery: Delivery
    body: str = ""
    receipt: Receipt | None = None
    fixed: bool = False

    @property
    def changes(self) -> bool:
        """True if it can be changed at this moment."""
        return self.receipt is not None and not self.fixed


class Previews:
    """Makes them, changes them, and tells when one may be replaced."""

    def __init__(
        self,
        *,
        adapter: ChannelAdapter,
        pace: RetryPolicy,
        ticks: Callable[[], timedelta],
        new_id: NewId,
        heed: Callable[[Address, Retryable], Awaitable[None]],
    ) -> None:
        self._adapter = adapter
        self._pace = pace
        self._ticks = ticks
        self._new_id = new_id
        self._heed = heed
        self._tried: dict[RunId, None] = {}
        self.start()

    def start(self) -> None:
        """From here on this process sends for the account. What others had on its way may arrive for a while."""
        self._began = self._ticks()
        self._of_run: dict[RunId, Preview] = {}
        self._by_id: dict[DeliveryId, Preview] = {}
        self._ours: set[DeliveryId] = set()
        self._unsure: dict[DeliveryId, timedelta] = {}
        self._on_its_way: dict[DeliveryId, asyncio.Event] = {}

    # --------------------------------------------------------------------------------------------- what a run shows

    def of(self, run: RunId) -> Preview | None:
        return self._of_run.get(run)

    def trying(self, run: RunId) -> None:
        """A preview of this run is about to be stored; from here on there may be one."""
        self._tried[run] = None
        if len(self._tried) > REMEMBERED:
            del self._tried[next(iter(self._tried))]

    def tried(self, run: RunId) -> bool:
        return run in self._tried

    def new(self, claim: Claim, text: str) -> NewDelivery:
        """A preview to be stored and shown."""
        words = Content(shortened(text), speaker="" if claim.agent == MAIN else claim.agent)
        made, origin = DeliveryId(self._new_id()), origin_of(claim.run_id)
        return NewDelivery(made, origin, 0, Kind.PROGRESS, claim.address, words, reply_to=claim.reply_to)

    def keep(self, run: RunId, new: NewDelivery, made: Previewed) -> None:
        """It is stored, now or in an earlier life."""
        about = Delivery(made.id, new.origin, 0, new.kind, new.address, new.content, None, new.reply_to)
        body = new.rendered.wires[0].body if made.begun and new.rendered else ""
        self._of_run[run] = self._by_id[made.id] = Preview(about, body, made.receipt)
        if made.begun:
            self._ours.add(made.id)

    def shown(self, preview: DeliveryId, receipt: Receipt) -> None:
        """It is on screen: from now on it can be changed."""
        if known := self._by_id.get(preview):
            known.receipt = receipt

    def receipt(self, preview: DeliveryId) -> Receipt | None:
        """Receipt of it on screen, if it is ours and known to be there."""
        known = self._by_id.get(preview)
        return known.receipt if known else None

    def forget(self, run: RunId) -> None:
        """The run says nothing more about itself."""
        if known := self._of_run.pop(run, None):
            self._by_id.pop(known.delivery.id, None)

    def rendered(self, delivery: Delivery) -> Wire:
        """The one message that a preview is. What is refused of it is not worth another form."""
        return Wire(self._adapter.render(delivery)[0].body)

    # --------------------------------------------------------------------------------------------------- its changes

    async def change(self, preview: Preview, text: str) -> None:
        """Have it show `text`, once and best effort."""
        if preview.receipt is None or preview.fixed:
            return
        about = preview.delivery
        wire = self.rendered(replace(about, content=replace(about.content, text=shortened(text))))
        if wire.body == preview.body:
            return
        arrived = self._on_its_way[about.id] = asyncio.Event()
        try:
            await self._edit(preview, preview.receipt, Part(about.id, 1, about.address, wire.body))
        finally:
            del self._on_its_way[about.id]
            arrived.set()

    async def _edit(self, preview: Preview, receipt: Receipt, part: Part) -> None:
        try:
            async with asyncio.timeout(self._pace.glance.total_seconds()):
                preview.receipt = await self._adapter.edit(receipt, part)
        except Retryable as error:
            await self._heed(part.address, error)
        except Rejected as error:
            log.debug("a preview cannot be changed", preview=part.delivery_id, reason=str(error))
            preview.fixed = True
        except BaseException:
            # It may have gone out: also where this process is told to leave in the middle of it.
            self._doubt(part.delivery_id)
            raise
        else:
            preview.body = part.body

    # ------------------------------------------------------------------------------------------------ in its place

    async def still(self, preview: DeliveryId) -> None:
        """Return once no change of it is on its way, or after a moment."""
        if arrived := self._on_its_way.get(preview):
            try:
                async with asyncio.timeout(PREVIEW_CHANGE_TIMEOUT.total_seconds()):
                    await arrived.wait()
            except TimeoutError:
                self._doubt(preview)

    def unsure_for(self, preview: DeliveryId) -> timedelta:
        """Time in which an interrupted edit of `preview` may still arrive; zero if none can."""
        now = self._ticks()
        until = self._unsure.get(preview, self._began)
        if preview not in self._ours:  # another process changed it, perhaps until its end
            until = max(until, self._began + self._pace.settle_second)
        self._tidy(now)
        return max(until - now, timedelta())

    def _doubt(self, preview: DeliveryId) -> None:
        self._unsure[preview] = self._ticks() + self._pace.settle_second

    def _tidy(self, now: timedelta) -> None:
        """Forget what can make no difference any more."""
        self._unsure = {preview: until for preview, until in self._unsure.items() if until > now}
        if now > self._began + self._pace.settle_second:
            self._ours.clear()
