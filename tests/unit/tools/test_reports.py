"""Tools that tell what went on: whom they tell of what, and what their numbers become."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runtime.contract import (
    Activity,
    Address,
    Cost,
    Costs,
    DayCost,
    Effect,
    Failure,
    Opinion,
    Opinions,
    Pending,
    Person,
    PersonId,
    Role,
    RunId,
    SessionKey,
    Stuck,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from tools.reports import DRAWN, OTHER_ROOMS, Named, by_address, by_room, chart_of, report_tools, with_names

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROOM = Address("slack", "T1", "C1", "17.0")


class Books:
    """Figures that note what they are asked about."""

    def __init__(self, rows: Sequence[Cost] = ()) -> None:
        self.rows = tuple(rows)
        self.asked: list[tuple[datetime | None, Address | None]] = []

    async def activity(self, since: datetime, *, room: Address | None = None, most: int = 10) -> Activity:
        self.asked.append((since, room))
        failure = Failure("r1", Address("slack", "T1", "C9"), "broke", NOW)
        return Activity({"consumed": 2, "merged": 1}, {"done": 1}, rooms=((ROOM, 3),), failures=(failure,))

    async def costs(self, since: datetime, *, room: Address | None = None, most: int = 1000) -> Costs:
        self.asked.append((since, room))
        return Costs(1, 2, 3, 4, 5, self.rows)

    async def cost_by_day(self, first: datetime, days: int) -> list[DayCost]:
        return []

    async def pending_approvals(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Pending]]:
        self.asked.append((None, room))
        return 7, [Pending("a1", "shell", "{}", "danger", ROOM, "Ada", NOW, NOW + timedelta(hours=1))]

    async def feedback(self, since: datetime, *, room: Address | None = None, most: int = 50) -> Opinions:
        self.asked.append((since, room))
        return Opinions(2, 1, (Opinion("Uma", "down", "too long", "hello", ROOM, "r1", NOW),))

    async def dead_letters(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Stuck]]:
        self.asked.append((None, room))
        return 1, [Stuck("d1", "dead", "final", ROOM, "no", "hello", NOW)]


def named(address: Address) -> str:
    return f"work/{address.room}"


async def naming(rooms: Collection[Address], context: ToolContext) -> Named:
    """Names of the rooms that are asked about, and of no other."""
    names = {room: named(room) for room in rooms}
    return lambda room: names[room]


def tools(books: Books) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in report_tools(books, now=lambda: NOW, naming=naming)}


def context(role: Role | None, *, scheduled: bool = False, address: Address | None = ROOM) -> ToolContext:
    person = None if role is None else Person(PersonId("p"), "Ada", role)
    return ToolContext(Path(), SessionKey("s"), RunId("r"), "c", address, person, scheduled=scheduled)


async def told(tool: Tool, arguments: dict[str, Any], where: ToolContext) -> Any:
    return json.loads(await tool.call(arguments, where))


@pytest.mark.parametrize("name", ["activity", "costs", "pending_approvals", "dead_letters"])
@pytest.mark.parametrize(
    ("role", "scheduled", "sees_all"),
    [
        (Role.OWNER, False, True),
        (Role.OPERATOR, True, True),
        (Role.USER, False, False),
        (Role.USER, True, False),
        (Role.VIEWER, False, False),
        (None, True, True),  # what stands in the settings file
        (None, False, False),  # what another program said
    ],
)
async def test_operators_are_told_of_all_rooms_and_others_of_theirs(
    name: str, role: Role | None, scheduled: bool, sees_all: bool
) -> None:
    made = tools(books := Books())
    told_of = (await told(made[name], {}, context(role, scheduled=scheduled)))["about"]
    room = Address("slack", "T1", "C1")
    assert books.asked[0][1] == (None if sees_all else room)
    assert told_of == ("all rooms" if sees_all else "work/C1")


async def test_without_a_room_a_user_is_told_nothing() -> None:
    with pytest.raises(ToolRetry, match="the room it's asked in"):
        await tools(Books())["costs"].call({}, context(Role.USER, address=None))


def test_they_only_read() -> None:
    assert {tool.spec.effect for tool in tools(Books()).values()} == {Effect.READ}


@pytest.mark.parametrize("hours", [0, -1, 24 * 366 + 1])
async def test_hours_out_of_bounds_are_told(hours: int) -> None:
    with pytest.raises(ToolRetry, match=r"is not from 1 to 8,784\. A day is 24, a week 168"):
        await tools(Books())["activity"].call({"hours": hours}, context(Role.OWNER))


async def test_rooms_are_written_as_people_do_and_times_in_utc() -> None:
    made = tools(books := Books())
    activity = await told(made["activity"], {"hours": 48}, context(Role.OWNER))
    assert books.asked[0][0] == NOW - timedelta(hours=48)
    assert activity["since"] == "2026-02-27T12:00:00Z"
    assert activity["messages"] == {"total": 3, "consumed": 2, "merged": 1}
    assert activity["approvals"] == {"total": 0}
    assert activity["rooms"] == [{"room": "work/C1", "runs": 3}]
    assert activity["failures"] == [{"run": "r1", "room": "work/C9", "reason": "broke", "at": "2026-03-01T12:00:00Z"}]
    waiting = await told(made["pending_approvals"], {}, context(Role.OWNER))
    assert (waiting["count"], waiting["approvals"][0]["room"]) == (7, "work/C1")
    assert waiting["approvals"][0]["expires_at"] == "2026-03-01T13:00:00Z"
    assert (await told(made["dead_letters"], {}, context(Role.OWNER)))["letters"][0]["text"] == "hello"


def cost(room: str, micros: int, agent: str = "main") -> Cost:
    return Cost(agent, Address("slack", "T1", *room.split("/")), 1, 1, 10, 1, micros)


async def test_threads_are_summed_with_their_room() -> None:
    books = Books([cost("C1", 5), cost("C1/17", 7), cost("C2", 9), cost("C1", 2, "second")])
    found = await told(tools(books)["costs"], {}, context(Role.OWNER))
    rows = [(row["agent"], row["room"], row["runs"], row["cost_micros"]) for row in found["rows"]]
    assert rows == [("main", "work/C1", 2, 12), ("main", "work/C2", 1, 9), ("second", "work/C1", 1, 2)]
    assert found["total"] == {
        "runs": 1,
        "calls": 2,
        "input_tokens": 3,
        "output_tokens": 4,
        "cost_micros": 5,
        "cached_tokens": 0,
        "fallbacks": 0,
    }


def test_rooms_of_one_name_stay_apart() -> None:
    rows = with_names(
        by_room([cost("C1", 5), cost("C2", 9), cost("C3", 1), cost("C1", 2, "second")]),
        lambda room: "#x" if room.room < "C3" else "#y",
    )
    assert [row["room"] for row in rows] == ["#x C2", "#x C1", "#x C1", "#y"]
    assert chart_of(rows)["labels"] == ["#x C2", "#x C1", "#y"]


async def test_where_nobody_knows_names_a_room_is_its_address() -> None:
    assert (await by_address([ROOM], context(Role.OWNER)))(ROOM) == str(ROOM)


def test_a_chart_has_a_series_an_agent_and_what_is_too_much_in_one_bar() -> None:
    rows: list[dict[str, Any]] = [
        {"agent": "main", "room": f"r{n}", "cost_micros": (100 - n) * 1_000_000} for n in range(DRAWN + 5)
    ]
    made = chart_of([*rows, {"agent": "second", "room": "r0", "cost_micros": 1_000_000}])
    assert made["labels"] == [*(f"r{n}" for n in range(DRAWN)), OTHER_ROOMS]
    main, second = made["series"]
    assert (main["name"], second["name"]) == ("main", "second")
    assert main["values"][0] == 100
    assert main["values"][-1] == sum(100 - n for n in range(DRAWN, DRAWN + 5))
    assert second["values"] == [1, *[0] * DRAWN]


def test_where_nothing_was_spent_there_is_nothing_to_draw() -> None:
    assert chart_of([{"agent": "main", "room": "r", "cost_micros": 0}]) == {"labels": [], "series": []}


async def test_feedback_is_for_its_readers_and_tells_ratings_with_words() -> None:
    books = Books()
    made = tools(books)["feedback"]
    shown = await told(made, {"hours": 24}, context(Role.OPERATOR))
    assert (shown["up"], shown["down"], shown["count"]) == (2, 1, 3)
    assert shown["ratings"][0] == {
        "person": "Uma",
        "value": "down",
        "words": "too long",
        "text": "hello",
        "room": "work/C1",
        "run": "r1",
        "at": "2026-03-01T12:00:00Z",
    }
    for asker in (context(Role.USER), context(None)):
        with pytest.raises(ToolFailed, match=r"feedback\.readers"):
            await made.call({}, asker)
    assert (await told(made, {}, context(None, scheduled=True)))["about"] == "all rooms"
