"""Tasks for operators: what is worked on in the background, what waits, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.cluster.topics import LANES
from runtime.contract import QUESTIONS, Address, Notifier, PostedTask, RunId, TaskState
from runtime.domain.agents.tasks import short_id
from runtime.http.errors import Refusal
from runtime.store.tasks.store import TaskStore
from runtime.store.tasks.turning import Turned
from runtime.text.words import marked


@dataclass(frozen=True, slots=True)
class TaskOperations:
    """Tasks as operators call things. `stop` ends a run at work here, and `nudge` wakes the courier of a room."""

    tasks: TaskStore
    notifier: Notifier
    stop: Callable[[RunId], object]
    nudge: Callable[[Address], None]
    named: Named
    called: Named
    mask: Callable[[str], str]

    async def listed(self, state: TaskState | None, room: Address | None) -> list[View]:
        """Newest first."""
        return [self._view(one) for one in await self.tasks.tasks(room, state)]

    async def shown(self, name: str) -> View:
        found = await self.tasks.task(name)
        if found is None:
            raise Refusal(
                404,
                marked("No task is called {name}. The end of its id is enough, four characters or more.").format(
                    name=repr(name)
                ),
            )
        return self._view(found)

    async def drop_task(self, name: str, actor: Actor) -> View:
        turned = _turned(await self.tasks.drop_task(name, actor.person))
        return self._after(turned, f"Dropped: {turned.task.title}.")

    async def retry_task(self, name: str, actor: Actor) -> View:
        turned = _turned(await self.tasks.retry_task(name, actor.person))
        return self._after(turned, f"Started again: {turned.task.title}.")

    def _after(self, turned: Turned, told: str) -> View:
        """Wake whoever has work from it."""
        if turned.lane_ready:
            self.notifier.notify(LANES)
        for run in turned.stop_runs:
            self.stop(run)
        for room in turned.rooms:
            self.nudge(room)
        if turned.ended:
            self.notifier.notify(QUESTIONS)
        return {**self._view(turned.task), "told": self.mask(told)}

    def _view(self, one: PostedTask) -> View:
        return {
            "id": one.id,
            "short": short_id(one.id),
            "title": self.mask(one.title),
            "state": one.state,
            "asks": one.asks,
            "goal": self.mask(one.goal),
            "criteria": self.mask(one.criteria),
            "input": self.mask(one.input),
            "result": self.mask(one.result),
            "room": self.called(one.room),
            "address": self.named(one.room),
            "agent": one.agent,
            "owner": one.owner,
            "by": one.posted_by,
            "run": one.run_id,
            "attempts": one.attempts,
            "due_at": at(one.due_at),
            "created_at": at(one.created_at),
            "ended_at": at(one.ended_at),
        }


def _turned(found: Turned | str) -> Turned:
    if isinstance(found, str):
        raise Refusal(409, found)
    return found


@by_role
class TasksApi(PartialApi):
    """Tasks of rooms."""

    async def tasks(self, state: str = "", room: str = "") -> list[View]:
        """Tasks of all rooms, or of one, newest first."""
        rows = await self._tasks.listed(word_of(TaskState, state), await self._room_meant(room))
        return await self._entitled(rows)

    async def task(self, name: str) -> View:
        """One, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._tasks.shown(name))

    async def drop_task(self, name: str) -> View:
        return await self._tasks.drop_task(name, self.actor)

    async def retry_task(self, name: str) -> View:
        return await self._tasks.retry_task(name, self.actor)

    @property
    def _tasks(self) -> TaskOperations:
        has = self._context
        return TaskOperations(has.store.tasks, has.notifier, has.stop, has.nudge, has.named, has.called, has.mask)
