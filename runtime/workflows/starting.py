"""Starts workflows for tools and operators: each is work with a session of its own, whose report comes into a room."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol

from runtime.contract import Address, Identity, OccurrenceId, Report, Task, TaskActor, TaskKind
from runtime.contract.agents.workflows import OfferedFlow
from runtime.domain.ids import derived
from runtime.domain.workflows.asking import Flows, found
from runtime.domain.workflows.definition import STARTS_MAX
from runtime.domain.workflows.reading import WorkflowError, inputs_of
from runtime.errors import ToolFailed, ToolRetry
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.guard.stored import Form, looked_at

UTC_ZONE: Final = "UTC"
TOO_MANY_BEGUN: Final = "{most} workflows were begun in this room within an hour, so agents begin no more for now. People still can: /workflow."


class Book(Protocol):
    """The store, as a start needs it."""

    async def begin_report(self, report: Report, by: str) -> None: ...

    async def zone_of(self, person: str, room: str) -> str: ...


class StartedFlows:
    """Implements `contract.Workflows`. `begun` wakes whoever works on lanes. Inputs pass the leak guard.

    `lately` counts those begun in a room; at `most` of them none is begun.
    """

    def __init__(
        self,
        *,
        book: Book,
        flows: Callable[[], Flows],
        begun: Callable[[], None],
        lately: Callable[[Address], Awaitable[int]],
        most: int = STARTS_MAX,
        door: Callable[[], Door] = lambda: OPEN_DOOR,
    ) -> None:
        self._book = book
        self._door = door
        self._flows = flows
        self._begun = begun
        self._lately = lately
        self._most = most

    def offered(self) -> list[OfferedFlow]:
        return [
            OfferedFlow(flow.name, flow.about, len(flow.steps), {one.name: one.default for one in flow.inputs})
            for _, flow in sorted(self._flows().items())
        ]

    async def start(self, name: str, inputs: Mapping[str, Any], by: TaskActor, agent: str) -> str:
        try:
            flow = found(name, self._flows())
            values = inputs_of(flow, inputs)
        except WorkflowError as error:
            raise ToolRetry(f"{str(error)[:1].upper()}{str(error)[1:]} Nothing was begun.") from error
        if await self._lately(by.room) >= self._most:
            raise ToolFailed(TOO_MANY_BEGUN.format(most=self._most))
        person = by.person
        room = str(by.room)
        cleaned = self._clean(values, by.room)
        report = Report(
            id=OccurrenceId(derived(by.run_id, by.key)),
            name=flow.name,
            task=Task(TaskKind.WORKFLOW, flow.name, options=cleaned, chain=by.above),
            to=(by.room,),
            zone=(await self._book.zone_of(person.id if person else "", room)) or UTC_ZONE,
            agent=flow.agent or agent,
            actor=Identity(f"web:{person.id}" if person else ""),
            owner=person,
        )
        await self._book.begin_report(report, person.name if person else agent)
        self._begun()
        return report.id

    def _clean(self, values: Mapping[str, Any], room: Address) -> Mapping[str, Any]:
        door = self._door()
        check = partial(door.check, gate=Gate.TOOL_ARGUMENTS, room=door.room(room))
        rest, found_there = looked_at(json.dumps(dict(values), ensure_ascii=False), Form.JSON, check)
        cleaned: Mapping[str, Any] = json.loads(rest) if found_there else values
        return cleaned
