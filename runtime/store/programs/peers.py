"""Tasks of ours at peers, as far as their calls need to know them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, literal_column, select

from runtime.store.common import put
from runtime.store.schema import peer_tasks, runs
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros

PEER_TASKS_KEPT: Final = timedelta(days=30)
"""As long as a question may wait."""
PEER_COLUMNS: Final = (
    peer_tasks.c.key,
    peer_tasks.c.run_id,
    peer_tasks.c.peer,
    peer_tasks.c.task,
    peer_tasks.c.context,
    peer_tasks.c.sealed,
    peer_tasks.c.asks,
)
TASK_OF_CALL = select(*PEER_COLUMNS).where(peer_tasks.c.key == bindparam("k"))
TASKS_OF_RUN = select(*PEER_COLUMNS).where(peer_tasks.c.run_id == bindparam("run")).order_by(peer_tasks.c.key)
STOPPED_MAX: Final = 20
"""As many are looked at together; the others come next."""
STOPPED_TASKS = (
    select(*PEER_COLUMNS)
    .join(runs, runs.c.id == peer_tasks.c.run_id)
    .where(is_word(runs.c.state, "stopped"), peer_tasks.c.task != literal_column("''"))
    .order_by(peer_tasks.c.kept_at)
    .limit(STOPPED_MAX)
)
PUT_TASK = put(peer_tasks)
DROP_OLD_TASKS = delete(peer_tasks).where(peer_tasks.c.kept_at < bindparam("before"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPeerTask:
    """A row. `sealed` is the question for whose answer the peer waits."""

    key: str
    run: str
    peer: str
    task: str
    context: str
    sealed: str = field(default="", repr=False)
    asks: int = 0


def task_of_call(key: str) -> Op[KeptPeerTask | None]:
    rows = yield TASK_OF_CALL, {"k": key}
    return _kept(rows[0]) if rows else None


def tasks_of_run(run: str) -> Op[list[KeptPeerTask]]:
    return [_kept(row) for row in (yield TASKS_OF_RUN, {"run": run})]


def stopped_tasks() -> Op[list[KeptPeerTask]]:
    """Of runs that people stopped, whose peers were not told yet; the oldest first."""
    return [_kept(row) for row in (yield STOPPED_TASKS, {})]


def keep_task(task: KeptPeerTask, now: datetime) -> Op[None]:
    yield (
        PUT_TASK,
        {
            "key": task.key,
            "run_id": task.run,
            "peer": task.peer,
            "task": task.task,
            "context": task.context,
            "sealed": task.sealed,
            "asks": task.asks,
            "kept_at": micros(now),
        },
    )
    yield DROP_OLD_TASKS, {"before": micros(now - PEER_TASKS_KEPT)}


def _kept(row: Sequence[Any]) -> KeptPeerTask:
    key, run, peer, task, context, sealed, asks = row
    return KeptPeerTask(key=key, run=run, peer=peer, task=task, context=context, sealed=sealed, asks=asks)


class PeerTaskStore(Base):
    """Tasks of ours at peers, over an engine."""

    async def task_of_call(self, key: str) -> KeptPeerTask | None:
        return await self._driver.read(lambda: task_of_call(key))

    async def tasks_of_run(self, run: str) -> list[KeptPeerTask]:
        return await self._driver.read(lambda: tasks_of_run(run))

    async def stopped_tasks(self) -> list[KeptPeerTask]:
        return await self._driver.read(stopped_tasks)

    async def keep_task(self, task: KeptPeerTask) -> None:
        now = self.now()
        await self._driver.write(lambda: keep_task(task, now))
