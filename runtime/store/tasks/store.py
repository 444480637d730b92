"""Tasks and checklists as tools, commands and operators see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from runtime.contract import Address, Person, PlanStep, PostedTask, TaskActor, TaskRequest, TaskState
from runtime.store.sql.base import Base
from runtime.store.tasks.board import claim, complete, found, listed, post
from runtime.store.tasks.plans import set_plan
from runtime.store.tasks.turning import Turned, drop, retry

NO_HAND_OVERS: Final[Mapping[str, Collection[str]]] = {}


class TaskStore(Base):
    """Tasks of this database. What could not be done comes back as words."""

    async def post(
        self, wanted: TaskRequest, by: TaskActor, hands_to: Mapping[str, Collection[str]] = NO_HAND_OVERS
    ) -> PostedTask | str:
        now = self.now()
        return await self._driver.write(lambda: post(wanted, by, hands_to, now, self._new_id))

    async def tasks(self, room: Address | None = None, state: TaskState | None = None) -> list[PostedTask]:
        """Newest first: of a room and its threads, or all."""
        now = self.now()
        return await self._driver.write(lambda: listed(room, state, now))

    async def task(self, name: str, room: Address | None = None) -> PostedTask | None:
        """The newest one with that id, or whose id ends so."""
        return await self._driver.write(lambda: found(name, room))

    async def claim(self, task: str, by: TaskActor) -> tuple[PostedTask, str] | str:
        now = self.now()
        return await self._driver.write(lambda: claim(task, by, now))

    async def complete(self, task: str, result: str, by: TaskActor, *, failed: bool = False) -> PostedTask | str:
        now = self.now()
        return await self._driver.write(lambda: complete(task, result, by, now, self._new_id, failed=failed))

    async def drop_task(self, task: str, who: Person, room: Address | None = None) -> Turned | str:
        now = self.now()
        return await self._driver.write(lambda: drop(task, room, who, now, self._new_id))

    async def retry_task(self, task: str, who: Person, room: Address | None = None) -> Turned | str:
        now = self.now()
        return await self._driver.write(lambda: retry(task, room, who, now, self._new_id))

    async def plan(self, steps: Sequence[PlanStep], by: TaskActor) -> bool:
        now = self.now()
        return await self._driver.write(lambda: set_plan(steps, by, now, self._new_id))
