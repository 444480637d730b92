"""An observer of the store: told what each transaction did, once it is committed, from what it returned.

So nothing more is asked of the database, and whatever part of the program makes a change, it is told here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from runtime.contract import DeliveryId, ModelReply, RunId, Signal
from runtime.domain.runs import RunState
from runtime.domain.schedules import Firing
from runtime.store.protocol import (
    Claim,
    Decided,
    Duty,
    NewDelivery,
    NewStep,
    OpenDelivery,
    Question,
    Released,
    Taken,
)


class PartOutcome(StrEnum):
    """A part's attempt, other than on screen."""

    RETRIED = "retried"
    PLAIN = "plain"
    UNCERTAIN = "uncertain"
    ABSENT = "absent"
    REPEATED = "repeated"
    HELD = "held"
    DROPPED = "dropped"
    DEAD = "dead"


class Observer:
    """Sees nothing. One that counts says what it wants to see.

    Nothing that was refused is told: no lost lease, no lost race. A method is cheap and never raises.
    """

    def accepted(self, signal: Signal, taken: Taken) -> None:
        """A signal was taken in, or refused: `taken` has the verdict, and the parked runs that it ended."""

    def expired(self, expired: Sequence[Decided], now: datetime) -> None:
        """Questions that nobody answered in time."""

    # --------------------------------------------------------------------------------------------------------- runs

    def claimed(self, claim: Claim) -> None:
        """A run was begun or taken up again by a worker that asked for one."""

    def recorded(self, calls: Sequence[NewStep]) -> None:
        """A model call that asked for tools."""

    def tool_finished(self) -> None:
        """A tool's result was recorded."""

    def parked(self, run: RunId, questions: Sequence[Question], released: Released) -> None:
        """A run asks people, and gave its lane up."""

    def finished(
        self,
        run: RunId,
        reply: ModelReply | None,
        state: RunState,
        deliveries: Sequence[NewDelivery],
        released: Released,
    ) -> None:
        """A run came to its end."""

    # ---------------------------------------------------------------------------------------------------- schedules

    def fired(self, firing: Firing, now: datetime, *, started: bool) -> None:
        """Instants were written; `started` tells whether a lane became ready."""

    def tried(self) -> None:
        """One more try of an occurrence, or a manual one, was started."""

    # ----------------------------------------------------------------------------------------------------- delivery

    def opened(self, found: Sequence[OpenDelivery]) -> None:
        """A courier read what is to be shown."""

    def adopted(self, channel: str, account: str, in_doubt: int) -> None:
        """A courier took over; so many parts had been cut by the end of the one before."""

    def rendered(self, delivery: DeliveryId, parts: int) -> None:
        """A delivery was cut into so many parts."""

    def shown(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> None:
        """A part is on screen."""

    def moved(self, duty: Duty, delivery: DeliveryId, outcome: PartOutcome) -> None:
        """A part was tried, and is not on screen by this."""

    # ------------------------------------------------------------------------------------------------------ cluster

    def joined(self) -> None:
        """This node joined."""

    def left(self) -> None:
        """This node left."""

    def lost(self) -> None:
        """This node was declared dead."""

    def reaped(self, count: int) -> None:
        """So many other nodes were declared dead."""

    def took(self, role: str, duty: Duty | None) -> None:
        """An exclusive role was asked for; None where another node has it."""


UNOBSERVED: Final = Observer()
