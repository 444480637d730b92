"""Tasks for tools: what they post, claim and complete passes the leak guard, and wakes whoever has work from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from runtime.contract import (
    Address,
    PlanStep,
    PostedTask,
    TaskActor,
    TaskRequest,
    TaskState,
)
from runtime.domain.agents.tasks import MYSELF, STEP_TEXT_MAX_CHARS, TASK_TEXT_MAX_CHARS, TITLE_MAX_CHARS
from runtime.errors import ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.text.glyphs import clip

Got = TypeVar("Got")


class Tasks(Protocol):
    """Tasks in the store. What could not be done comes back as words."""

    async def post(
        self, wanted: TaskRequest, by: TaskActor, hands_to: Mapping[str, Collection[str]]
    ) -> PostedTask | str: ...

    async def tasks(self, room: Address | None = None, state: TaskState | None = None) -> list[PostedTask]: ...

    async def claim(self, task: str, by: TaskActor) -> tuple[PostedTask, str] | str: ...

    async def complete(self, task: str, result: str, by: TaskActor, *, failed: bool = False) -> PostedTask | str: ...

    async def plan(self, steps: Sequence[PlanStep], by: TaskActor) -> bool: ...


class ToolBoard:
    """Implements `contract.TaskBoard`. `begun` and `nudge` wake the dispatcher and couriers.

    `hands_to` are the agents here, each with those to which it may hand work; they are made of the tools, and so of this.
    """

    def __init__(
        self,
        *,
        tasks: Tasks,
        begun: Callable[[], None],
        nudge: Callable[[Address], None],
        door: Callable[[], Door],
    ) -> None:
        self._tasks = tasks
        self.hands_to: Callable[[], Mapping[str, Collection[str]]] = dict
        self._begun = begun
        self._nudge = nudge
        self._door = door

    async def post(self, wanted: TaskRequest, by: TaskActor) -> PostedTask:
        hands_to = self.hands_to()
        if wanted.agent not in ("", MYSELF) and wanted.agent not in hands_to:
            raise ToolRetry(f"There is no agent called {wanted.agent!r} here.")
        made = done(await self._tasks.post(self._cleaned(wanted, by.room), by, hands_to))
        if wanted.agent:
            self._begun()
        return made

    async def listed(self, by: TaskActor, state: TaskState | None = None) -> list[PostedTask]:
        return await self._tasks.tasks(by.room, state)

    async def claim(self, task: str, by: TaskActor) -> tuple[PostedTask, str]:
        return done(await self._tasks.claim(task, by))

    async def complete(self, task: str, result: str, by: TaskActor, *, failed: bool = False) -> PostedTask:
        words = self._clean(result, by.room, TASK_TEXT_MAX_CHARS)
        ended = done(await self._tasks.complete(task, words, by, failed=failed))
        self._begun()  # a trigger may wait for that
        return ended

    async def plan(self, steps: Sequence[PlanStep], by: TaskActor) -> bool:
        told = [replace(step, text=self._clean(step.text, by.room, STEP_TEXT_MAX_CHARS)) for step in steps]
        if is_new := await self._tasks.plan(told, by):
            self._nudge(by.room)
        return is_new

    def _cleaned(self, wanted: TaskRequest, room: Address) -> TaskRequest:
        return replace(
            wanted,
            title=self._clean(" ".join(wanted.title.split()), room, TITLE_MAX_CHARS),
            goal=self._clean(wanted.goal, room, TASK_TEXT_MAX_CHARS),
            input=self._clean(wanted.input, room, TASK_TEXT_MAX_CHARS),
            criteria=self._clean(wanted.criteria, room, TASK_TEXT_MAX_CHARS),
        )

    def _clean(self, text: str, room: Address, most: int) -> str:
        door = self._door()
        return clip(door.clean(text.strip(), Gate.HANDED_ON, door.room(room)), most)


def done(found: Got | str) -> Got:
    """Outcome of a call of the store. Errors: ToolRetry with its words where it did nothing."""
    if isinstance(found, str):
        raise ToolRetry(found)
    return found
