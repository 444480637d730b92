"""An adapter whose platform is a list in this process: each send ends as the script says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from runtime.contract import (
    CONNECTED,
    Attempt,
    ConnectionStatus,
    Delivery,
    Features,
    Part,
    Receipt,
    Settled,
    SettleResult,
    Shown,
    Sink,
    Wire,
)
from runtime.errors import Rejected, Retryable, Uncertain
from tests.contract.courier.stage import ACCOUNT


class End(StrEnum):
    """How a send ends."""

    SHOWN = "shown"
    RETRYABLE = "retryable"
    APPLIED = "uncertain, applied"
    NOT_APPLIED = "uncertain, not applied"
    LATE = "uncertain, applied before the first look"
    LATER = "uncertain, applied between the looks"
    REJECTED = "rejected"
    BUG = "bug"


@dataclass
class ScriptedAdapter:
    """Shows parts in `screen`, in order. `ends` gives the ending of each send; then all are shown."""

    ends: Iterable[End] = ()
    channel: str = "fake"
    account: str = ACCOUNT
    identity: str = ACCOUNT
    offers: Features = Features(settles=True)  # noqa: RUF009 - frozen
    screen: list[Part] = field(default_factory=list)
    before: Callable[[Part], None] = lambda part: None
    looks: int = 0

    def __post_init__(self) -> None:
        self._ends = iter(self.ends)
        self._coming: dict[str, int] = {}  # parts that appear at a later look

    @property
    def texts(self) -> list[str]:
        return [part.body for part in self.screen]

    def features(self) -> Features:
        return self.offers

    async def listen(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, delivery: Delivery) -> list[Wire]:
        return [Wire(piece) for piece in delivery.content.text.split("|")]

    async def show(self, part: Part) -> Receipt:
        self.before(part)
        await asyncio.sleep(0)
        match next(self._ends, End.SHOWN):
            case End.SHOWN:
                return self._put(part)
            case End.RETRYABLE:
                raise Retryable("not now")
            case End.REJECTED:
                raise Rejected("not here")
            case End.BUG:
                self._put(part)
                raise KeyError("a bug")
            case End.APPLIED:
                self._put(part)
            case End.LATE:
                self._coming[part.id] = 1
            case End.LATER:
                self._coming[part.id] = 2
            case End.NOT_APPLIED:
                pass
        raise Uncertain("cut")

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return receipt

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        self.looks += 1
        if self._coming.get(part.id) == 1:
            self._put(part)
        self._coming[part.id] = self._coming.get(part.id, 0) - 1
        shown = [at for at, other in enumerate(self.screen) if other.id == part.id]
        return Shown(Receipt(str(shown[0]))) if shown else SettleResult.ABSENT

    def standing(self) -> ConnectionStatus:
        return CONNECTED

    def _put(self, part: Part) -> Receipt:
        self.screen.append(part)
        return Receipt(str(len(self.screen) - 1))
