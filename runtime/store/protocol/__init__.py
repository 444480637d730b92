"""The store as the runtime sees it: whole transactions, grouped by who calls them.

A write is one transaction. A duplicate, a lost lease and a lost race are return values; StoreError means that nothing
is known to have been written. An owner's write repeats its fence; `False` or `None` where a fence was refused means
"this is no longer yours: drop the work".
"""

from __future__ import annotations

from runtime.store.protocol.approvals import (
    Answering,
    Approvals,
    Asked,
    AskedBack,
    AskingBack,
    Calling,
    Changed,
    Decided,
    Due,
    Undoing,
    UndosToDo,
)
from runtime.store.protocol.cluster import Cluster
from runtime.store.protocol.failover import Failover
from runtime.store.protocol.grants import Granted, Grants
from runtime.store.protocol.intake import Accept, Ended, Gate, Intake, Offer, TakeIn, Taken
from runtime.store.protocol.leases import Duty, Lane, Lease
from runtime.store.protocol.operations import (
    Audit,
    AuditCheckpoint,
    AuditRow,
    DeliveryRow,
    Head,
    Operations,
    RoomWork,
    RunRow,
    StepRow,
    Traces,
)
from runtime.store.protocol.outbox import KeptRoom, OpenDelivery, OpenPart, Outbox
from runtime.store.protocol.people import Known, Paired, Pairing, People, Unmoved, Unpaired
from runtime.store.protocol.retention import Quiet, Stock, Sweeping, Swept
from runtime.store.protocol.runs import (
    NO_BOARD,
    NOTHING_AROUND,
    Around,
    Board,
    Claim,
    Further,
    History,
    NewDelivery,
    NewStep,
    Previewed,
    Question,
    Recorded,
    Released,
    Rendered,
    Runs,
    SettledCall,
    Summary,
    SummaryKind,
    ToolStep,
    WaitingCall,
)
from runtime.store.protocol.schedules import Schedules

__all__ = [
    "NOTHING_AROUND",
    "NO_BOARD",
    "Accept",
    "Answering",
    "Approvals",
    "Around",
    "Asked",
    "AskedBack",
    "AskingBack",
    "Audit",
    "AuditCheckpoint",
    "AuditRow",
    "Board",
    "Calling",
    "Changed",
    "Claim",
    "Cluster",
    "Decided",
    "DeliveryRow",
    "Due",
    "Duty",
    "Ended",
    "Failover",
    "Further",
    "Gate",
    "Granted",
    "Grants",
    "Head",
    "History",
    "Intake",
    "KeptRoom",
    "Known",
    "Lane",
    "Lease",
    "NewDelivery",
    "NewStep",
    "Offer",
    "OpenDelivery",
    "OpenPart",
    "Operations",
    "Outbox",
    "Paired",
    "Pairing",
    "People",
    "Previewed",
    "Question",
    "Quiet",
    "Recorded",
    "Released",
    "Rendered",
    "RoomWork",
    "RunRow",
    "Runs",
    "Schedules",
    "SettledCall",
    "StepRow",
    "Stock",
    "Summary",
    "SummaryKind",
    "Sweeping",
    "Swept",
    "TakeIn",
    "Taken",
    "ToolStep",
    "Traces",
    "Undoing",
    "UndosToDo",
    "Unmoved",
    "Unpaired",
    "WaitingCall",
]
