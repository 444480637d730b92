"""The seam to a channel: one account on one chat platform."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from runtime.contract.deliveries import Attempt, Delivery, Part, Receipt, Settled, Wire
from runtime.contract.features import Features
from runtime.contract.signals import Sink


class Connection(StrEnum):
    """Connection of an account to its platform."""

    CONNECTING = "connecting"  # not yet since the start
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"  # it was, and will be again by itself
    DEAF = "deaf"  # the connection looks open, and nothing was heard for longer than can be
    REFUSED = "refused"  # the platform said no: a person must mend it; tried again now and then


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """`reason` names the account, what is wrong and the fix; empty when connected."""

    connection: Connection
    reason: str = ""

    @property
    def trouble(self) -> str | None:
        """None when connected, else what is wrong in words."""
        return None if self.connection is Connection.CONNECTED else self.reason or self.connection.value


CONNECTED: Final = ConnectionStatus(Connection.CONNECTED)


IN_TIME: Final[ContextVar[Callable[[], bool]]] = ContextVar("in_time", default=lambda: True)
"""Tells whoever shows a part whether it may still leave.

A process may stand still between its decision to send and the send, while a connection is made say, for longer than its
lease: others may have looked for the part meanwhile, and sent it.
"""
TOO_LATE: Final = "this process may not send now: it stood still, or serves the account no more"


def leaves_in_time() -> bool:
    """True if what shows a part may leave now; an adapter asks as late as it can, and sends nothing (Retryable) otherwise."""
    return IN_TIME.get()()


class ChannelAdapter(Protocol):
    """One account on one chat platform. All that is optional is told by `features`.

    `channel` is the platform's word (`web`, `slack`), `account` the account's name in the settings, `identity` the
    account's own identity at its platform, under which rows are stored.
    """

    channel: str
    account: str

    @property
    def identity(self) -> str:
        """Empty only until the platform has told it, see `Features.learn`."""

    def features(self) -> Features:
        """Tell what it offers beside the least: the same whenever it is asked."""

    async def listen(self, sink: Sink) -> None:
        """Hand each event to `sink` until cancelled; acknowledge it only once `sink` returns its Verdict."""

    def render(self, delivery: Delivery) -> list[Wire]:
        """Cut `delivery` into wire messages, each valid alone. Pure: called once, the result is stored."""

    async def show(self, part: Part) -> Receipt:
        """Show `part`, or raise Retryable, Uncertain or Rejected."""

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Replace what `receipt` shows by `part`. Repeatable. Raises as `show` does. Only with `edits`."""

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Find out whether an uncertain `part` is on screen. Raises Retryable when the platform is away."""

    def standing(self) -> ConnectionStatus:
        """Connection of the account at this moment, with its reason; asks nobody and raises nothing."""
