"""Pages of lists reach far back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from aiohttp.test_utils import make_mocked_request

from bot.doors.callers import Caller
from bot.doors.operations import OperationDoor
from bot.doors.rooms import ProgramRooms
from bot.doors.table import Asked
from bot.operator.api import OPERATIONS
from bot.operator.context import OperatorContext
from runtime.contract import Person, PersonId, Role
from runtime.domain.programs.token import ProgramToken

ROWS = 12_000


class ManyRuns(OperationDoor):
    """The runs of a store with many rows."""

    async def called(self, caller: Caller, values: Sequence[Any], wanted: str | None = None) -> Any:
        _state, limit, _room = values
        return [{"id": f"run-{number}"} for number in range(min(limit, ROWS))]


async def test_a_cursor_leads_through_more_rows_than_one_look_finds() -> None:
    nothing = cast(OperatorContext, None)
    operation = OPERATIONS["runs"]
    door = ManyRuns(operation, nothing, ProgramRooms(nothing))
    person = Person(PersonId("p1"), "ci", Role.OPERATOR)
    token = ProgramToken(name="ci", role=Role.OPERATOR)

    async def still() -> tuple[ProgramToken, Person]:
        return token, person

    caller = Caller(token, person, still)
    asked = Asked(make_mocked_request("GET", "/api/v1/runs"), caller, {})
    seen = []
    for cursor in ("", "run-499", "run-4999", "run-11990"):
        page = await door.page(asked, 500, cursor)
        seen.append((page["data"][0]["id"], len(page["data"]), page["next"]))
    assert seen == [
        ("run-0", 500, "run-499"),
        ("run-500", 500, "run-999"),
        ("run-5000", 500, "run-5499"),
        ("run-11991", 9, None),
    ]
