"""The tools for schedules: what they understand, whom they work for, and the words of their results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from bot.testing.clocks import HandClock
from runtime.contract import (
    Address,
    Effect,
    Json,
    Occurrence,
    OccurrenceId,
    OccurrenceState,
    Person,
    Role,
    RunId,
    Schedule,
    ScheduleId,
    SessionKey,
    Terms,
    Tool,
    ToolContext,
)
from runtime.domain.ids import new_id
from runtime.errors import ToolRetry
from runtime.policy.rules import OWN_PLANS, SHIPPED, Ask, Policy, Ruling
from runtime.schedules.service import Quotas, ScheduleService
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tools.schedules import LISTED, brief, listing, outcome, schedule_tools

NOW: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROOM: Final = Address("slack", "T1", "C1")
THREAD: Final = replace(ROOM, thread="17.0")
OTHER: Final = Address("slack", "T1", "C2")
NAMES: Final = {"slack:work/C1": ROOM, "slack:work/C2": OTHER}


class NamedRooms:
    def known(self, text: str) -> Address | None:
        Address.parse(text)
        return NAMES.get(text)

    async def found(self, text: str) -> Address | None:
        return self.known(text)


def named(address: Address) -> str:
    return next((name for name, one in NAMES.items() if one == address), str(address))


@dataclass
class Desk:
    """The tools over a real timetable, and the people who use them."""

    store: Store
    tools: Mapping[str, Tool] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)

    async def call(
        self,
        tool: str,
        who: str = "Uma",
        at: Address | None = ROOM,
        *,
        id: str = "",
        scheduled: bool = False,
        **given: Json,
    ) -> str:
        person = self.people.get(who)
        context = ToolContext(Path(), SessionKey("s"), RunId("r"), id or new_id(), at, person, scheduled=scheduled)
        return await self.tools[tool].call(given, context)

    async def all(self) -> list[Schedule]:
        return await self.store.schedules.schedules()


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    store = memory_store(clock := HandClock())
    booking = ScheduleService(
        agent="main",
        book=store.schedules,
        now=clock,
        new_id=new_id,
        serves=lambda address: address.channel == "slack",
        quotas=lambda: Quotas(per_person=3),
        named=named,
    )
    tools = {tool.spec.name: tool for tool in schedule_tools(booking, rooms=NamedRooms(), named=named)}
    roles = {"Vera": Role.VIEWER, "Uma": Role.USER, "Ugo": Role.USER, "Otto": Role.OPERATOR}
    made = {name: await store.people.add_person(name, role, [], actor="test") for name, role in roles.items()}
    yield Desk(store, tools, {name: person for name, person in made.items() if person})
    await store.close()


# ------------------------------------------------------------------------------------------------------ what they are


async def test_reading_is_a_read_and_what_may_be_repeated_says_so(desk: Desk) -> None:
    reads = {name for name, tool in desk.tools.items() if tool.spec.effect is Effect.READ}
    assert reads == {"schedule_list", "schedule_history"}
    repeatable = {name for name, tool in desk.tools.items() if tool.spec.repeatable}
    assert set(desk.tools) - repeatable == {"schedule_change", "schedule_delete", "schedule_run"}
    assert "DANGER" not in {tool.spec.effect.name for tool in desk.tools.values()}


async def test_own_plans_ask_nobody_and_those_for_another_room_do(desk: Desk) -> None:
    policy = Policy(SHIPPED)
    rulings = {
        name: policy.ruling(Ask(name, tool.spec.effect, {}, "main", "slack:work/C1", frozenset({"Uma"})))
        for name, tool in desk.tools.items()
    }
    assert {name for name, ruling in rulings.items() if ruling is Ruling.ASK} == {"schedule_elsewhere"}
    assert set(OWN_PLANS) <= set(desk.tools)


# ----------------------------------------------------------------------------------------------------------- planning


async def test_it_is_told_what_was_understood_with_the_zone_and_the_next_three_instants(desk: Desk) -> None:
    told = await desk.call("schedule_set", when="weekdays at 9", task="Look at the mail.", zone="berlin", name="mail")
    assert told == (
        'Planned: "mail", every weekday at 09:00 (Europe/Berlin), here. '
        "Next: Monday 2026-03-02 09:00, Tuesday 2026-03-03 09:00, Wednesday 2026-03-04 09:00."
    )
    [one] = await desk.all()
    assert (one.owner, one.to, one.terms) == (desk.people["Uma"], (ROOM,), Terms())
    assert await desk.store.people.identified(one.actor) == desk.people["Uma"]


async def test_an_interval_is_told_by_the_clocks_that_are_meant(desk: Desk) -> None:
    told = await desk.call("schedule_set", when="every 90 minutes", task="Look.", zone="Asia/Tokyo", quiet=True)
    assert told.endswith("every 90 minutes, here. Next: Sunday 2026-03-01 22:30, Monday 2026-03-02 00:00, "
                         "Monday 2026-03-02 01:30 (Asia/Tokyo).")  # fmt: skip
    assert (await desk.all())[0].terms.quiet


@pytest.mark.parametrize(("zone", "hinted"), [("", True), ("UTC", False), ("Europe/Berlin", False)])
async def test_where_no_zone_is_known_that_is_said(desk: Desk, zone: str, hinted: bool) -> None:
    told = await desk.call("schedule_set", when="every hour", task="Look.", zone=zone)
    assert ("until I know your time zone" in told) is hinted


async def test_in_a_thread_the_report_stays_in_it_and_the_room_knows(desk: Desk) -> None:
    assert ", here. Next:" in await desk.call("schedule_set", at=THREAD, when="every hour", task="Look.")
    assert [one.home for one in await desk.all()] == [THREAD]
    assert '"look": every hour' in await desk.call("schedule_list", who="Ugo", at=ROOM)


async def test_the_same_call_again_is_the_same_schedule_and_another_is_not(desk: Desk) -> None:
    """Also where a vendor counts the ids of its calls anew."""
    for _ in range(2):
        await desk.call("schedule_set", id="call_0", when="every hour", task="Look.")
    assert len(await desk.all()) == 1
    await desk.call("schedule_set", id="call_0", when="every hour", task="Look elsewhere.")
    assert len(await desk.all()) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"when": "now and then", "task": "x"}, "is not understood. For example:"),
        ({"when": "every hour", "task": " \n"}, "Say what the agent should do then"),
        ({"when": "every hour", "task": "x", "zone": "Berln"}, "did you mean Europe/Berlin"),
        ({"when": "every hour", "task": "x", "name": "n" * 61}, "at most 60 characters"),
        ({"when": "every hour"}, "The argument 'task' is missing"),
        ({"when": "every hour", "task": "x", "room": "slack:work/C2"}, "There is no argument 'room'"),
        ({"when": "every hour", "task": "x", "quiet": "yes"}, "The argument 'quiet' must be true or false"),
    ],
)
async def test_what_is_wrong_is_said_in_words_for_a_model(desk: Desk, given: dict[str, Json], words: str) -> None:
    with pytest.raises(ToolRetry, match=words.replace("(", r"\(")):
        await desk.call("schedule_set", **given)
    assert await desk.all() == []


async def test_quotas_hold(desk: Desk) -> None:
    for number in range(3):
        await desk.call("schedule_set", when="every hour", task=f"x{number}")
    with pytest.raises(ToolRetry, match="One person may have 3 schedules"):
        await desk.call("schedule_set", when="every hour", task="x")


# -------------------------------------------------------------------------------------------------------------- rooms


async def test_another_room_is_named_as_people_name_it(desk: Desk) -> None:
    told = await desk.call("schedule_elsewhere", when="every hour", task="Look.", room=" slack:work/C2 ")
    assert "every hour (UTC), in slack:work/C2. Next:" in told
    assert [one.to for one in await desk.all()] == [(OTHER,)]


@pytest.mark.parametrize(
    ("room", "words"),
    [
        ("#general", "'#general' is not an address; write channel:account/room"),
        ("slack:nobody/C2", "No account here matches 'slack:nobody/C2'"),
    ],
)
async def test_a_room_that_is_none_is_refused(desk: Desk, room: str, words: str) -> None:
    with pytest.raises(ToolRetry, match=words):
        await desk.call("schedule_elsewhere", when="every hour", task="Look.", room=room)


@pytest.mark.parametrize(
    ("tool", "given"),
    [("schedule_change", {"task": "Shout."}), ("schedule_change", {"when": "every minute"}), ("schedule_run", {})],
)
async def test_what_stands_in_another_room_takes_more_than_a_user_to_make_more_of(
    desk: Desk, tool: str, given: dict[str, Json]
) -> None:
    await desk.call("schedule_elsewhere", when="every hour", task="Look.", room="slack:work/C2", name="n")
    with pytest.raises(ToolRetry, match="is posted in another room"):
        await desk.call(tool, name="n", **given)
    await desk.call(tool, name="n", at=OTHER, **given)  # there it may be said
    await desk.call(tool, who="Otto", name="n", **given)


# ----------------------------------------------------------------------------------------------------------------- who

ACTING: Final[Sequence[tuple[str, dict[str, Json]]]] = [
    ("schedule_set", {"when": "every hour", "task": "x"}),
    ("schedule_elsewhere", {"when": "every hour", "task": "x", "room": "slack:work/C2"}),
    ("schedule_change", {"name": "n", "when": "every day at 9"}),
    ("schedule_pause", {"name": "n"}),
    ("schedule_resume", {"name": "n"}),
    ("schedule_delete", {"name": "n"}),
    ("schedule_run", {"name": "n"}),
    ("set_zone", {"zone": "UTC"}),
]


@pytest.mark.parametrize("who", ["Vera", "nobody"])
@pytest.mark.parametrize(("tool", "given"), ACTING)
async def test_viewers_and_programs_plan_nothing(desk: Desk, tool: str, given: dict[str, Json], who: str) -> None:
    await desk.call("schedule_set", when="every hour", task="x", name="n")
    before = await desk.all()
    with pytest.raises(ToolRetry, match="Only people with the role user"):
        await desk.call(tool, who=who, **given)
    assert await desk.all() == before


@pytest.mark.parametrize(("tool", "given"), ACTING[2:7])
async def test_a_user_changes_only_their_own_and_an_operator_all(desk: Desk, tool: str, given: dict[str, Json]) -> None:
    await desk.call("schedule_set", when="every hour", task="x", name="n")
    before = await desk.all()
    with pytest.raises(ToolRetry, match="was made by somebody else"):
        await desk.call(tool, who="Ugo", **given)
    assert await desk.all() == before
    assert '"n"' in await desk.call(tool, who="Otto", **given)


@pytest.mark.parametrize(("tool", "given"), [ACTING[0], ACTING[1], ACTING[2], ACTING[6]])
async def test_scheduled_work_makes_no_more_of_it(desk: Desk, tool: str, given: dict[str, Json]) -> None:
    await desk.call("schedule_set", when="every hour", task="x", name="n")
    before = await desk.all()
    with pytest.raises(ToolRetry, match="can't schedule more work"):
        await desk.call(tool, scheduled=True, **given)
    assert await desk.all() == before


async def test_scheduled_work_may_end_itself(desk: Desk) -> None:
    await desk.call("schedule_set", when="every hour", task="x", name="n")
    assert "is paused" in await desk.call("schedule_pause", scheduled=True, name="n")
    assert "is deleted" in await desk.call("schedule_delete", scheduled=True, name="n")
    assert await desk.all() == []


@pytest.mark.parametrize(("tool", "given"), [("schedule_list", {}), ACTING[0]])
async def test_without_a_room_there_is_nothing_to_plan_for(desk: Desk, tool: str, given: dict[str, Json]) -> None:
    with pytest.raises(ToolRetry, match="has no room"):
        await desk.call(tool, at=None, **given)


# ------------------------------------------------------------------------------------------------------------ changing


async def test_what_is_left_out_of_a_change_stays(desk: Desk) -> None:
    await desk.call("schedule_set", when="every day at 9", task="Look.", name="n", quiet=True, zone="Europe/Berlin")
    [before] = await desk.all()
    told = await desk.call("schedule_change", name="N", task="Look again.", new_name="m")
    assert told.startswith('Changed: "m", every day at 09:00 (Europe/Berlin), here. Next: Monday 2026-03-02 09:00')
    [after] = await desk.all()
    assert after == replace(before, name="m", task=replace(before.task, text="Look again."))
    await desk.call("schedule_change", name="m", quiet=False)
    assert (await desk.all())[0].terms == replace(before.terms, quiet=False)


async def test_the_same_words_may_be_read_by_other_clocks(desk: Desk) -> None:
    await desk.call("schedule_set", when="every day at 9", task="Look.", name="n")
    told = await desk.call("schedule_change", name="n", zone="New York")
    assert "every day at 09:00 (America/New_York), here. Next: Sunday 2026-03-01 09:00" in told


@pytest.mark.parametrize(
    ("when", "words"),
    [("every day at 9 in Berlin", "names a zone itself"), ("tomorrow at 9", "say again when it should run")],
)
async def test_words_that_do_not_go_with_other_clocks_are_to_be_said_anew(desk: Desk, when: str, words: str) -> None:
    await desk.call("schedule_set", when=when, task="Look.", name="n")
    with pytest.raises(ToolRetry, match=words):
        await desk.call("schedule_change", name="n", zone="Asia/Tokyo")


async def test_a_paused_one_that_is_changed_stays_paused(desk: Desk) -> None:
    await desk.call("schedule_set", when="every day at 9", task="Look.", name="n")
    for _ in range(2):  # a repeat changes nothing
        assert await desk.call("schedule_pause", name="n") == (
            '"n" is paused (by Uma). It won\'t run until you resume it.'
        )
    assert (await desk.call("schedule_change", name="n", when="every hour")).endswith("It's paused (by Uma).")
    for _ in range(2):
        assert "Next: Sunday 2026-03-01 13:00" in await desk.call("schedule_resume", name="n")


async def test_a_zone_is_set_for_a_person_and_by_those_who_lead_for_a_room(desk: Desk) -> None:
    told = await desk.call("set_zone", zone="tokyo", at=THREAD)
    assert told == "From now on, I'll use Asia/Tokyo for times that Uma mentions. Existing schedules keep their zone."
    assert "(Asia/Tokyo)" in await desk.call("schedule_set", when="every day at 9", task="x")
    with pytest.raises(ToolRetry, match="Only an operator or owner can set a whole room's time zone"):
        await desk.call("set_zone", zone="Europe/Berlin", whole_room=True)
    await desk.call("set_zone", who="Otto", zone="Europe/Berlin", whole_room=True, at=THREAD)
    for room in (ROOM, THREAD):
        assert "(Europe/Berlin)" in await desk.call("schedule_set", who="Ugo", at=room, when="every day at 9", task="x")


# ------------------------------------------------------------------------------------------------------------- looking


async def test_a_list_tells_when_what_where_and_by_whom(desk: Desk) -> None:
    await desk.call("schedule_set", when="every day at 9", task="Look\nat  this. " + "x" * 100, name="a")
    await desk.call("schedule_elsewhere", when="every hour", task="y", room="slack:work/C2", name="b")
    await desk.call("schedule_pause", name="a")
    assert await desk.call("schedule_list", who="Ugo") == (
        f'- "a": every day at 09:00 (UTC), here; paused (by Uma); by Uma; task: Look at this. {"x" * 65}…'
    )
    assert (await desk.call("schedule_list")).endswith("1 more in other rooms that the person can see.")
    both = await desk.call("schedule_list", everywhere=True)
    assert '- "b": every hour (UTC), in slack:work/C2; next Sunday 2026-03-01 13:00; task: y' in both.splitlines()


def test_a_long_list_is_cut_and_says_so() -> None:
    told = listing([f"- {number}" for number in range(LISTED + 7)], 0).splitlines()
    assert (len(told), told[-1]) == (LISTED + 1, "… and 7 more")


async def test_a_history_of_nothing_says_so(desk: Desk) -> None:
    await desk.call("schedule_set", when="every hour", task="x", name="n")
    assert (await desk.call("schedule_history", name="n", who="Ugo")).endswith("\n\nIt hasn't been due yet.")


ONE: Final = Occurrence(OccurrenceId("o"), ScheduleId("s"), NOW, OccurrenceState.DONE, attempts=1, shown=1, wanted=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "done, posted"),
        ({"wanted": 2}, "done, posted in 1 of 2 rooms so far"),
        ({"silent": True, "shown": 0, "wanted": 0}, "done, nothing new, so nothing was posted"),
        ({"manual": True, "attempts": 2}, "done after 2 tries, run by hand, posted"),
        ({"state": OccurrenceState.STARTED}, "running"),
        ({"state": OccurrenceState.PLANNED, "reason": "no key"}, "failed, will try again: no key"),
        ({"state": OccurrenceState.SKIPPED, "reason": "missed"}, "skipped: missed"),
        ({"state": OccurrenceState.FAILED, "reason": "no\nkey", "attempts": 3}, "failed after 3 tries: no key"),
    ],
)
def test_what_became_of_an_instant_is_told(changes: dict[str, object], words: str) -> None:
    assert outcome(replace(ONE, **changes)) == words  # type: ignore[arg-type]


def test_a_task_is_told_in_one_short_line() -> None:
    assert brief("a\n b") == "a b"
    assert brief("x" * 81) == "x" * 79 + "…"
