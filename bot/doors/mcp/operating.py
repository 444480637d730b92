"""Tools of operators: runs, approvals and schedules. Each is an operation that is declared elsewhere already."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from bot.doors.forms import Strict
from bot.doors.mcp.offers import Call, Offer, Told
from bot.doors.operations import OperationDoor
from bot.doors.rooms import ProgramRooms
from bot.operator.api import OPERATIONS
from bot.operator.context import OperatorContext
from runtime.contract import Role

LISTED_MOST: Final = 100
StateField = Annotated[str, Field(description="Only those in this state; empty: all.", max_length=40)]
RoomField = Annotated[str, Field(description="Only those of this room.", max_length=300)]
LimitField = Annotated[int, Field(ge=1, le=LISTED_MOST)]
NameField = Annotated[str, Field(description="Name or id of the schedule.", min_length=1, max_length=100)]


class ListRuns(Strict):
    state: StateField = ""
    room: RoomField = ""
    limit: LimitField = 20


class ListApprovals(Strict):
    state: StateField = "pending"
    room: RoomField = ""
    limit: LimitField = 20


class Decide(Strict):
    id: Annotated[str, Field(description="Id of the approval.", max_length=64)]
    choice: Annotated[
        str, Field(description="`approve` or `deny`, or an answer that the question names.", max_length=200)
    ]
    reason: Annotated[str, Field(max_length=500)] = ""


class ListSchedules(Strict):
    state: StateField = ""
    room: RoomField = ""


class AddSchedule(Strict):
    name: NameField
    when: Annotated[str, Field(description='When, such as "0 9 * * 1-5" or "every 2h".', max_length=200)]
    prompt: Annotated[str, Field(description="What the agent is asked then.", min_length=1, max_length=10_000)]
    to: Annotated[list[str], Field(description="Rooms that get the answer.", min_length=1, max_length=10)]
    zone: Annotated[str, Field(description="Its time zone, such as Europe/Berlin; empty: yours.", max_length=64)] = ""


class OneSchedule(Strict):
    name: NameField


class PauseSchedule(Strict):
    name: NameField
    reason: Annotated[str, Field(max_length=200)] = ""


class OperatingOffers:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._context = context
        self._rooms = rooms

    def offers(self) -> list[Offer]:
        lists: list[tuple[str, str, str, type[BaseModel], Callable[[Any], list[Any]]]] = [
            ("runs", "runs", "Work of agents, newest first.", ListRuns, lambda one: [one.state, one.limit, one.room]),
            (
                "approvals_list",
                "approvals",
                "Questions to people, newest first: those that wait, unless you name another state.",
                ListApprovals,
                lambda one: [one.state, one.limit, one.room],
            ),
            (
                "schedules_list",
                "schedules",
                "All that is planned, by what is due next.",
                ListSchedules,
                lambda one: [one.state, one.room],
            ),
        ]
        named = [("schedules_resume", "resume_schedule", "Let a paused schedule go on.")]
        named += [("schedules_remove", "remove_schedule", "Remove a schedule.")]
        named += [("schedules_run", "run_schedule", "Begin one occurrence of a schedule now.")]
        return [
            *(self._offer(name, done, words, form, values) for name, done, words, form, values in lists),
            self._offer(
                "decide",
                "decide",
                "Answer a question to people, as a click in its room would.",
                Decide,
                lambda one: [one.id, one.choice, one.reason],
                is_open=self._context.decides_over_mcp,
            ),
            self._offer("schedules_add", "add_schedule", "Plan work.", AddSchedule, lambda one: [fields_of(one)]),
            self._offer(
                "schedules_pause",
                "pause_schedule",
                "Pause a schedule.",
                PauseSchedule,
                lambda one: [one.name, one.reason],
            ),
            *(self._offer(name, done, words, OneSchedule, lambda one: [one.name]) for name, done, words in named),
        ]

    def _offer(
        self,
        name: str,
        done: str,
        words: str,
        form: type[BaseModel],
        values: Callable[[Any], list[Any]],
        is_open: Callable[[], bool] = lambda: True,
    ) -> Offer:
        operation = OPERATIONS[done]
        return Offer(
            name=name,
            words=words,
            form=form,
            serve=self._served(done, values),
            role=max(operation.role, Role.OPERATOR),
            reads=operation.method == "GET",
            is_open=is_open,
        )

    def _served(self, done: str, values: Callable[[Any], list[Any]]) -> Callable[[Call, Any], Awaitable[Told]]:
        async def serve(call: Call, asked: Any) -> Told:
            door = OperationDoor(OPERATIONS[done], self._context, self._rooms)
            found = await door.called(call.caller, values(asked))
            data = {"rows": found} if door.lists else dict(found)
            return Told(json.dumps(found, ensure_ascii=False, default=str), data)

        return serve


def fields_of(asked: AddSchedule) -> dict[str, Any]:
    """A schedule as the operators' form has it."""
    return {name: value for name, value in asked.model_dump().items() if value}
