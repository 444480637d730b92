"""The store as the runtime sees it: whole transactions, grouped by who calls them.

A write is one transaction. A duplicate, a lost lease and a lost race are return values; StoreError means that nothing
is known to have been written. An owner's write repeats its fence; `False` or `None` where a fence was refused means
"this is no longer yours: drop the work".
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from runtime.contract import Figures, History, Places
from runtime.store.protocol.desk import Decided, Desk
from runtime.store.protocol.failover import Failover
from runtime.store.protocol.intake import Gate, Intake, Offer, Taken
from runtime.store.protocol.lanes import (
    Claim,
    Lanes,
    NewDelivery,
    NewStep,
    Previewed,
    Question,
    Recorded,
    Released,
    Rendered,
    ToolStep,
)
from runtime.store.protocol.leases import Duty, Lane, Lease
from runtime.store.protocol.operators import (
    AuditBook,
    AuditCheckpoint,
    AuditRow,
    DeliveryRow,
    Head,
    Operators,
    RoomWork,
    RunRow,
    StepRow,
    Traces,
)
from runtime.store.protocol.outbox import OpenDelivery, OpenPart, Outbox
from runtime.store.protocol.people import Known, Paired, Pairing, People, Unmoved, Unpaired
from runtime.store.protocol.registry import Registry
from runtime.store.protocol.schedules import ScheduleBook
from runtime.store.protocol.upkeep import Quiet, Stock, Swept, Upkeep

__all__ = [
    "AuditBook",
    "AuditCheckpoint",
    "AuditRow",
    "Claim",
    "Decided",
    "DeliveryRow",
    "Desk",
    "Duty",
    "Failover",
    "Gate",
    "Head",
    "Intake",
    "Known",
    "Lane",
    "Lanes",
    "Lease",
    "NewDelivery",
    "NewStep",
    "Offer",
    "OpenDelivery",
    "OpenPart",
    "Operators",
    "Outbox",
    "Paired",
    "Pairing",
    "People",
    "Previewed",
    "Question",
    "Quiet",
    "Recorded",
    "Registry",
    "Released",
    "Rendered",
    "RoomWork",
    "RunRow",
    "StepRow",
    "Stock",
    "Store",
    "Swept",
    "Taken",
    "ToolStep",
    "Traces",
    "Unmoved",
    "Unpaired",
    "Upkeep",
]


class Store(
    Intake,
    Lanes,
    Desk,
    Outbox,
    Registry,
    Failover,
    People,
    Operators,
    Traces,
    AuditBook,
    Upkeep,
    History,
    Places,
    ScheduleBook,
    Figures,
    Protocol,
):
    """Everything one database does."""

    def now(self) -> datetime:
        """The store's clock: the database's on PostgreSQL, the process's on SQLite."""

    async def check(self) -> None:
        """Read something. Errors: StoreError in words for an operator."""

    async def close(self) -> None: ...
