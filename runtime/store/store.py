"""The store over either engine: a record of its aggregates, and how it is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from runtime.contract import Figures, History, NewId, Now
from runtime.domain.ids import new_id as fresh_id
from runtime.errors import StoreError
from runtime.policy.budgets import Budgets
from runtime.store.agents.store import AgentLifeStore
from runtime.store.approvals.store import ApprovalStore
from runtime.store.budgets.store import BudgetStore
from runtime.store.cluster.cooldowns import CooldownStore
from runtime.store.cluster.store import ClusterStore
from runtime.store.delegation.store import DelegationStore
from runtime.store.delivery.store import OutboxStore
from runtime.store.events.store import EventStore, FeedbackStore
from runtime.store.forgetting.store import ForgettingStore
from runtime.store.goals.store import GoalStore
from runtime.store.intake.places import PlaceStore
from runtime.store.intake.signals import IntakeStore
from runtime.store.knowledge.vectors import CHUNK_VECTORS
from runtime.store.late import late
from runtime.store.memory.finding.vectors import MEMORY_VECTORS
from runtime.store.memory.store import MemoryStore
from runtime.store.memory.summaries import PersonSummaryStore
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.operations.audit import AuditStore
from runtime.store.operations.history import HistoryStore
from runtime.store.operations.operators import OperationStore
from runtime.store.operations.queue_depths import QueueStore
from runtime.store.operations.trail import TraceStore
from runtime.store.people.store import PeopleStore
from runtime.store.programs.peers import PeerTaskStore
from runtime.store.programs.pushes import PushStore
from runtime.store.protocol import (
    Approvals,
    Audit,
    Budgeting,
    Cooling,
    Intake,
    Operations,
    Outbox,
    People,
    Runs,
    Schedules,
    Sweeping,
    Texts,
    Traces,
)
from runtime.store.protocol.agents import AgentLives
from runtime.store.runs.store import RunStore
from runtime.store.schedules.store import ScheduleStore
from runtime.store.schema import nodes
from runtime.store.skills.store import SkillLockStore
from runtime.store.sql.driver import OPERATION_TIMEOUT, UNWATCHED, Driver, Op, Watch
from runtime.store.sql.sqlite import MEMORY_DATABASE, SqliteDriver, connect, explain, system_now
from runtime.store.tasks.store import TaskStore
from runtime.store.triggers.store import TriggerStore
from runtime.store.upgrade import upgrade_postgres, upgrade_sqlite
from runtime.store.vectors.store import VectorStore
from runtime.store.workflows.store import WorkflowStore

if TYPE_CHECKING:
    from runtime.store.cluster.roster import NodeRoster
    from runtime.store.cluster.support import SupportStore
    from runtime.store.knowledge.store import KnowledgeStore
    from runtime.store.logins.store import LoginStore
    from runtime.store.memory.finding.messages import MessageSearchStore
    from runtime.store.memory.finding.words import MemorySearchStore
    from runtime.store.memory.values import StateValueStore
    from runtime.store.processes.store import ProcessStore
    from runtime.store.programs.store import ProgramStore
    from runtime.store.shelf.search import ShelfStore
    from runtime.store.vectors.costs import EmbeddingCostStore
    from runtime.store.web_push.store import WebPushStore

SQLITE: Final = "sqlite:///"
POSTGRES: Final = ("postgresql://", "postgres://")

LATE_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "shelf": ("shelf.search", "ShelfStore"),
    "retention": ("operations.retention", "RetentionStore"),
    "figures": ("operations.figures", "FigureStore"),
    "texts": ("operations.texts", "TextStore"),
    "processes": ("processes.store", "ProcessStore"),
    "knowledge": ("knowledge.store", "KnowledgeStore"),
    "memory_search": ("memory.finding.words", "MemorySearchStore"),
    "message_search": ("memory.finding.messages", "MessageSearchStore"),
    "embedding_costs": ("vectors.costs", "EmbeddingCostStore"),
    "state_values": ("memory.values", "StateValueStore"),
    "logins": ("logins.store", "LoginStore"),
    "programs": ("programs.store", "ProgramStore"),
    "web_push": ("web_push.store", "WebPushStore"),
    "roster": ("cluster.roster", "NodeRoster"),
    "support": ("cluster.support", "SupportStore"),
}
"""Parts that are loaded with their first use: the module, and the class there."""

CHECK = select(nodes.c.id).limit(1)


@dataclass(frozen=True, slots=True)
class Store:
    """One database, an object for each aggregate: whoever needs one is handed that one."""

    driver: Driver
    now: Now
    """The store's clock: the database's on PostgreSQL, the process's on SQLite."""
    intake: Intake
    places: PlaceStore
    runs: Runs
    approvals: Approvals
    outbox: Outbox
    schedules: Schedules
    people: People
    cluster: ClusterStore
    cooldowns: Cooling
    budgets: Budgeting
    operations: Operations
    history: History
    shelf: ShelfStore
    traces: Traces
    audit: Audit
    retention: Sweeping
    figures: Figures
    queues: QueueStore
    texts: Texts
    lives: AgentLives
    tasks: TaskStore
    processes: ProcessStore
    delegation: DelegationStore
    workflows: WorkflowStore
    goals: GoalStore
    knowledge: KnowledgeStore
    memories: MemoryStore
    memory_search: MemorySearchStore
    memory_vectors: VectorStore
    knowledge_vectors: VectorStore
    message_search: MessageSearchStore
    embedding_costs: EmbeddingCostStore
    state_values: StateValueStore
    person_summaries: PersonSummaryStore
    skills: SkillLockStore
    logins: LoginStore
    triggers: TriggerStore
    events: EventStore
    feedback: FeedbackStore
    programs: ProgramStore
    pushes: PushStore
    web_push: WebPushStore
    peer_tasks: PeerTaskStore
    forgettings: ForgettingStore
    roster: NodeRoster
    support: SupportStore

    @classmethod
    def over(cls, driver: Driver, new_id: NewId, observer: Observer = UNOBSERVED) -> Store:
        given = driver, new_id, observer, Budgets()
        return cls(
            driver=driver,
            now=driver.now,
            intake=IntakeStore(*given),
            places=PlaceStore(*given),
            runs=RunStore(*given),
            approvals=ApprovalStore(*given),
            outbox=OutboxStore(*given),
            schedules=ScheduleStore(*given),
            people=PeopleStore(driver, new_id, observer),
            cluster=ClusterStore(*given),
            cooldowns=CooldownStore(*given),
            budgets=BudgetStore(*given),
            operations=OperationStore(*given),
            history=HistoryStore(*given),
            traces=TraceStore(*given),
            audit=AuditStore(*given),
            queues=QueueStore(*given),
            lives=AgentLifeStore(*given),
            tasks=TaskStore(*given),
            delegation=DelegationStore(*given),
            workflows=WorkflowStore(*given),
            goals=GoalStore(*given),
            memories=MemoryStore(*given),
            memory_vectors=VectorStore(MEMORY_VECTORS, driver, new_id, observer),
            knowledge_vectors=VectorStore(CHUNK_VECTORS, driver, new_id, observer),
            person_summaries=PersonSummaryStore(*given),
            skills=SkillLockStore(*given),
            triggers=TriggerStore(*given),
            events=EventStore(*given),
            feedback=FeedbackStore(*given),
            pushes=PushStore(*given),
            peer_tasks=PeerTaskStore(*given),
            forgettings=ForgettingStore(*given),
            **{part: late(f"runtime.store.{module}", name, *given) for part, (module, name) in LATE_PARTS.items()},
        )

    async def check(self) -> None:
        """Read something. Errors: StoreError in words for an operator."""
        # A full disk still reads. Heartbeats write all the time, so this is never old news.
        if self.driver.trouble:
            raise self.driver.trouble
        await self.driver.read(_check)

    async def save(self, folder: Path) -> Path | None:
        """A copy of a database whose files are gone, in `folder`; None while they are in their place."""
        return await self.driver.save(folder)

    def prepare(self) -> None:
        """Have the statements of a plain message compiled, so that the first one need not wait for it. For any thread."""
        from runtime.store.first_message import FIRST_MESSAGE

        self.driver.compile(FIRST_MESSAGE)

    async def close(self) -> None:
        await self.driver.close()


def _check() -> Op[None]:
    yield CHECK, {}


async def open_store(
    url: str,
    *,
    now: Now | None = None,
    new_id: NewId = fresh_id,
    watch: Watch = UNWATCHED,
    observer: Observer = UNOBSERVED,
    within: timedelta = OPERATION_TIMEOUT,
) -> Store:
    """The store at `url`, brought to the newest schema.

    Units:  `within` is how long what is written may take.
    Shape:  "sqlite:///relative/or//absolute.db", "sqlite:///:memory:" or "postgresql://user:pass@host/db".
    Errors: StoreError in words: away, locked, read-only, full, damaged, or newer than this program.
    """
    if url.startswith(SQLITE):
        return Store.over(_open_sqlite(url.removeprefix(SQLITE), now, watch, within), new_id, observer)
    if url.startswith(POSTGRES):
        return Store.over(await _open_postgres(url, now, watch, within), new_id, observer)
    raise StoreError('database_url must begin with "sqlite:///" or "postgresql://".')


def _open_sqlite(path: str, now: Now | None, watch: Watch, within: timedelta) -> Driver:
    path = path or MEMORY_DATABASE
    connection = connect(path)
    try:
        upgrade_sqlite(connection)
        _claim_write(connection)
    except Exception as error:
        connection.close()
        cause = error.__cause__ if isinstance(error.__cause__, sqlite3.Error) else error
        if isinstance(cause, sqlite3.Error):
            raise explain(cause, path) from error
        raise
    return SqliteDriver(path, connection, now=now or system_now, watch=watch, within=within)


def _claim_write(connection: sqlite3.Connection) -> None:
    """Begin to write and leave it: a store that cannot be written is told at the start, not at the first message."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")


async def _open_postgres(url: str, now: Now | None, watch: Watch, within: timedelta) -> Driver:
    # asyncpg is not loaded for an embedded store
    from runtime.store.sql.postgres import PostgresDriver, open_pool, with_bounds

    pool = await open_pool(url, init=with_bounds(within))
    try:
        await upgrade_postgres(url, pool)
    except BaseException:
        await pool.close()
        raise
    return await PostgresDriver.over(pool, now=now, watch=watch, within=within)
