"""The reports that come along, by schedule and by command."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text

from bot.operator.actor import Actor
from bot.operator.reports import REPORTS_FOLDER, LateReporters, ReportOperations, figure_tools
from bot.testing.scripted import Scripted
from runtime.contract import (
    Address,
    Asker,
    Effect,
    OccurrenceState,
    Person,
    Role,
    ScheduleRequest,
    Task,
    TaskKind,
    ToolSpec,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.errors import ToolFailed
from runtime.http.errors import Refusal
from runtime.store.sql.driver import Op
from tests.contract.runtime.planning import ELSEWHERE, HOME
from tests.contract.runtime.reporting import QUIET, Desk, Gauge, desk
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    UMA,
    FakeTool,
    Stage,
    address,
    fake_tool,
)
from tools.charting.chart import chart_tool
from tools.charting.renderer import ChartRenderer
from tools.reports import by_address, operators_read

# ---------------------------------------------------------------------------------------------------------- the reports


async def spend(stage: Stage, room: str, dollars: int) -> None:
    """Usage of an earlier run, as a model call leaves it."""
    await _write(
        stage,
        "INSERT INTO usage VALUES (:run, 1, 'main', :room, NULL, 'openai/x', 12345, 67, :micros, :at, 0, '', 0) RETURNING 1",
        run=new_id(),
        room=str(address(room)),
        micros=dollars * 1_000_000,
        at=_micros(stage),
    )


async def _write(stage: Stage, sql: str, **given: object) -> None:
    def write() -> Op[Any]:
        return (yield text(sql), given)

    await stage.store.driver.write(write)


def _micros(stage: Stage) -> int:
    return int(stage.clock().timestamp() * 1_000_000)


def every_tool(stage: Stage) -> list[Any]:
    return list(figure_tools(stage.store.figures, stage.clock, by_address, operators_read).values())


async def test_the_cost_report_brings_its_chart(stage: Stage, tmp_path: Path) -> None:
    chart = chart_tool(ChartRenderer(tmp_path / "fonts"))
    at = await desk(stage, *every_tool(stage), chart)
    await spend(stage, "sales", 3)
    await spend(stage, "ops", 12)
    await at.plan(Task(TaskKind.REPORT, "cost", options={"hours": 48}), to=[HOME, ELSEWHERE])
    await at.fire()
    for room in ("r1", "r2"):
        [shown] = await at.shown(room)
        assert "## Cost of the last 2 days: $15.00" in shown
        assert "| main | page:main/ops | 1 | 12,345 | 67 | $12.00 |\n| main | page:main/sales |" in shown
        rows = await stage.rows("SELECT content FROM deliveries WHERE address = :room", room=str(address(room)))
        [file] = json.loads(rows[0][0])["files"]
        assert file[0] == "cost-by-room-last-2-days.png"
        with stage.workspaces.open(address(room), file[1]) as picture:
            assert picture.read(8) == b"\x89PNG\r\n\x1a\n"


async def test_the_cost_report_tells_of_caches_and_fallbacks(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage))
    await spend(stage, "ops", 12)
    await _write(stage, "UPDATE usage SET cached_tokens = 12000, instead_of = 'first'")
    await at.plan(Task(TaskKind.REPORT, "cost"))
    await at.fire()
    [shown] = await at.shown()
    assert "12,345 tokens in (12,000 from the vendor's cache) and 67 out." in shown
    assert "1 call went to another model, since the first one failed." in shown


async def test_a_chart_that_cannot_be_drawn_leaves_the_report(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage), Gauge([ToolFailed("no fonts")], name="chart"))
    await spend(stage, "ops", 12)
    await at.plan(Task(TaskKind.REPORT, "cost"))
    await at.fire()
    [shown] = await at.shown()
    assert "$12.00" in shown
    assert shown.endswith("The chart couldn't be drawn: error: no fonts")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("activity", "## Activity in the last 24 hours"),
        ("approvals", "Nothing is waiting for a decision."),
        ("cost", "## No cost in the last 24 hours\n\nNo model was called."),
        ("dead-letters", "No messages are stuck."),
        ("feedback", "Nobody rated a message in the last 7 days."),
    ],
)
async def test_every_report_is_made_where_nothing_happened_and_is_silent_where_that_is_wanted(
    stage: Stage, name: str, words: str
) -> None:
    at = await desk(stage, *every_tool(stage), fake_tool("chart", Effect.READ))
    loud = await at.plan(Task(TaskKind.REPORT, name))
    await at.fire()
    assert words in (await at.shown())[0]
    asker = Asker(await stage.store.people.identified(ADA), ADA, HOME)
    await at.process.booking.change(loud.id, ScheduleRequest(terms=QUIET), asker)
    await at.fire(timedelta(hours=1))
    is_news = name == "activity"  # the report before was something that went on
    assert ((await at.newest(loud)).silent, len(await at.shown())) == (not is_news, 1 + is_news)


async def test_what_waits_and_what_died_is_in_the_reports(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage), FakeTool(ToolSpec("shell", "Runs.", {"type": "object"}, Effect.DANGER)))
    await _write(
        stage,
        "INSERT INTO approvals VALUES ('a1', 'call', 'pending', 'r', 1, 's', 'page:main/ops', 'shell', 'danger', "
        "'{\"command\": \"rm | x\"}', '', '', '', NULL, :at, :later, NULL, '', NULL, NULL, '', '', '', '', '', '', '', 0, NULL) RETURNING 1",
        at=_micros(stage),
        later=_micros(stage) + 12 * 3_600_000_000,
    )
    await at.plan(Task(TaskKind.REPORT, "approvals"), terms=QUIET)
    await at.fire()
    [shown] = await at.shown()
    assert "## 1 approval is waiting" in shown
    assert '**shell** in page:main/ops, asked 1 h ago; it expires in 11 h. `{"command": "rm | x"}`' in shown


STATES: Final = {
    "messages": ("waiting", "consumed", "decided", "merged", "observed", "stale", "refused", "forgotten"),
    "runs": tuple(RunState),
    "approvals": tuple(ApprovalState),
    "deliveries": tuple(DeliveryState),
    "occurrences": tuple(OccurrenceState),
}
INSIDE: Final = (
    "consumed|decided|merged|observed|stale|forgotten|running|parked|ready|pending|void|queued|open|held|dead|discarded|"
    "planned|started"
)
"""States whose words people outside the code don't use so."""


async def test_what_became_of_things_is_told_in_words(stage: Stage) -> None:
    counts = {name: {"total": len(states), **dict.fromkeys(states, 1)} for name, states in STATES.items()}
    at = await desk(stage, Gauge([json.dumps({**counts, "rooms": [], "failures": []})], name="activity"))
    await at.plan(Task(TaskKind.REPORT, "activity"))
    await at.fire()
    [shown] = await at.shown()
    assert "- **Messages**: 8 (1 waiting, 1 worked on, 1 carried out at once, 1 repeated, 1 kept as context" in shown
    assert re.findall(rf"\b({INSIDE})\b", shown) == []


async def test_a_user_is_told_of_their_room_and_operators_of_all(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage), fake_tool("chart", Effect.READ))
    await spend(stage, "r1", 1)
    await spend(stage, "ops", 12)
    task = Task(TaskKind.REPORT, "cost", options={"chart": False})
    await at.plan(task, who=UMA)
    await at.fire()
    assert "$1.00" in (await at.shown())[-1]
    assert "page:main/ops" not in (await at.shown())[-1]
    other = await stage.process(Scripted([]), at.process.tools.values(), reporter=LateReporters(stage.clock))
    asker = Asker(await stage.store.people.identified(OTTO), OTTO, ELSEWHERE)
    await other.booking.add(ScheduleRequest(name="All", when="every hour", task=task), asker)
    await Desk(stage, other).fire()
    assert "$13.00" in (await at.shown("r2"))[-1]


# ------------------------------------------------------------------------------------------------------ made by command


async def report_desk(at: Desk) -> tuple[ReportOperations, Actor]:
    async def room(text: str) -> Address | None:
        found = Address.parse(text)
        return found if found.channel == "page" else None

    stage = at.stage
    tools = figure_tools(stage.store.figures, stage.clock, by_address, operators_read)
    person = await stage.store.people.identified(ADA)
    assert person
    made = ReportOperations(
        stage.store, LateReporters(stage.clock), room, str, stage.clock, new_id, "main", tools=tools
    )
    return made, Actor(person, ADA)


async def test_a_report_is_made_at_once_and_no_list_has_it(any_stage: Stage) -> None:
    at = await desk(any_stage, *every_tool(any_stage), fake_tool("chart", Effect.READ))
    reports, ada = await report_desk(at)
    begun = await reports.begin("cost", [str(HOME), str(ELSEWHERE), str(HOME)], {"hours": "48"}, ada)
    assert (begun["state"], begun["to"], begun["wanted"]) == ("working", [str(HOME), str(ELSEWHERE)], 2)
    assert await any_stage.store.schedules.schedules() == []
    await at.process.answer_all()
    ended = await reports.state(begun["id"])
    assert (ended["state"], ended["shown"]) == ("shown", 2)
    for room in ("r1", "r2"):
        assert "last 2 days" in (await at.shown(room))[0]
    assert await any_stage.rows("SELECT * FROM schedules") == []
    assert await any_stage.rows("SELECT trigger, requester FROM runs") == [("manual", ada.person.id)]


async def test_a_report_that_fails_says_so_and_is_not_tried_again(stage: Stage) -> None:
    at = await desk(stage)  # where there is no tool `costs`
    reports, ada = await report_desk(at)
    begun = await reports.begin("cost", [str(HOME)], {}, ada)
    await at.process.answer_all()
    ended = await reports.state(begun["id"])
    assert ended["state"] == "failed"
    assert "its data 'costs' couldn't be fetched: costs: error: there is no tool 'costs'" in ended["reason"]


async def test_a_report_is_printed_for_whoever_asks_and_shown_to_nobody(stage: Stage) -> None:
    at = await desk(stage)
    reports, ada = await report_desk(at)
    await spend(stage, "ops", 12)
    told = await reports.text("cost", {"hours": "1"}, ada)
    assert "## Cost of the last 1 hour: $12.00" in told["text"]
    assert await stage.rows("SELECT 1 FROM occurrences") == []
    assert await at.shown() == []


async def test_reports_are_listed_with_what_they_tell_and_their_options(stage: Stage) -> None:
    reports, _ = await report_desk(await desk(stage))
    listed = {one["name"]: one["options"] for one in await reports.listed()}
    assert listed == {
        "activity": {"hours": 24},
        "approvals": {},
        "cost": {"hours": 24, "chart": True},
        "dead-letters": {},
        "feedback": {"hours": 168},
    }
    assert set(listed) == {path.name.removesuffix(".md.j2") for path in REPORTS_FOLDER.iterdir()}
    assert all(one["about"] for one in await reports.listed())


@pytest.mark.parametrize(
    ("name", "to", "options", "words"),
    [
        (
            "costs",
            [str(HOME)],
            {},
            "There is no report 'costs'. There are: activity, approvals, cost, dead-letters, feedback.",
        ),
        ("cost", [str(HOME)], {"hours": "soon"}, "Cost: option hours is a whole number, such as 24; not 'soon'."),
        ("cost", ["nowhere"], {}, "--to: 'nowhere' is not an address"),
        ("cost", ["slack:work/C1"], {}, '--to: "slack:work/C1": no account here is called that'),
        ("cost", [], {}, "A report needs a room"),
    ],
)
async def test_wrong_wishes_are_refused_in_words(
    stage: Stage, name: str, to: Sequence[str], options: Mapping[str, str], words: str
) -> None:
    reports, ada = await report_desk(await desk(stage))
    with pytest.raises(Refusal) as told:
        await reports.begin(name, to, options, ada)
    assert words in str(told.value)
    with pytest.raises(Refusal, match="operator"):
        await reports.begin("cost", [str(HOME)], {}, Actor(Person(ada.person.id, "Uma", Role.USER), UMA))
