"""Reports without a model: made by the real agent over the real store, rendered in the real process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text

from adapters.web.errors import Refusal
from bot.console.actor import Actor
from bot.reports import FOLDER, LateReporters, ReportDesk, figure_tools
from runtime.contract import (
    Address,
    Asker,
    Choice,
    DataCall,
    Effect,
    Identity,
    Json,
    Occurrence,
    OccurrenceState,
    Person,
    Role,
    Schedule,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    ToolContext,
    ToolSpec,
    Wanted,
)
from runtime.errors import ToolFailed
from runtime.heartbeat import heartbeat
from runtime.ids import new_id
from runtime.models.templates import NOTHING
from runtime.reports import Catalogue, Reporters
from runtime.schedules import WAITS
from runtime.store.driver import Op
from runtime.templating.renderer import Renderer
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    UMA,
    FakeTool,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.fakes.models import Scripted
from tools.chart import chart_tool
from tools.charting.easel import Easel

HOUR: Final = timedelta(hours=1)
HOME: Final = address("r1")
ELSEWHERE: Final = address("r2")
QUIET: Final = Terms(quiet=True)


@dataclass
class Gauge:
    """A tool that gives listed answers, a failure among them as an error."""

    answers: Sequence[str | Exception]
    name: str = "gauge"
    effect: Effect = Effect.READ
    calls: list[Mapping[str, Json]] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "A gauge.", {"type": "object"}, self.effect)

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(arguments)
        self.contexts.append(context)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def caution(self) -> str:
        return ""


@dataclass
class Desk:
    """A process without a word from any model, and a person who plans reports."""

    stage: Stage
    process: Process

    async def plan(
        self,
        task: Task,
        *,
        terms: Terms | None = None,
        to: Sequence[Address] = (),
        who: Identity = ADA,
        zone: str = "",
        name: str = "Morning",
    ) -> Schedule:
        asker = Asker(await self.stage.store.identified(who), who, HOME)
        wanted = Wanted(name=name, when="every hour", task=task, terms=terms, to=to, zone=zone)
        return await self.process.booking.add(wanted, asker)

    async def fire(self, after: timedelta = HOUR) -> None:
        self.stage.clock.advance(after)
        await self.process.timer.look()
        await self.process.answer_all()

    async def newest(self, schedule: Schedule) -> Occurrence:
        return (await self.process.booking.history(schedule.id, most=1))[0]

    async def shown(self, room: str = "r1") -> list[str]:
        return await self.stage.screen(room)


async def desk(stage: Stage, *tools: Any, **more: Any) -> Desk:
    reporter = LateReporters(stage.clock)
    return Desk(stage, await stage.process(Scripted([]), tools, reporter=reporter, **more))


def template(text: str, *data: DataCall, **options: Json) -> Task:
    return Task(TaskKind.TEMPLATE, text, data, options)


LOOK: Final = DataCall("seen", "gauge", {"deep": 1})


# ---------------------------------------------------------------------------------------------------------- templates


async def test_a_template_tells_what_tools_told_and_no_model_is_asked(any_stage: Stage) -> None:
    at = await desk(any_stage, gauge := Gauge(['{"total": 3, "word": "# a|b"}']))
    planned = await at.plan(template("**{{ name }}**: {{ seen.total }} {{ seen.word }}", LOOK), to=[HOME, ELSEWHERE])
    await at.fire()
    for room in ("r1", "r2"):
        assert await at.shown(room) == [r"**Morning**: 3 \# a\|b"]
    assert gauge.calls == [{"deep": 1}]
    assert gauge.contexts[0].scheduled
    assert (await at.newest(planned)).state is OccurrenceState.DONE
    assert await any_stage.rows("SELECT kind, tool FROM steps ORDER BY number") == [
        ("model", "template"),
        ("tool", "gauge"),
        ("model", "template"),
    ]


@pytest.mark.parametrize(
    "point", ["model-answered", "step-recorded", "tool-marked", "tool-finished", "delivery-stored"]
)
async def test_killed_anywhere_it_is_made_and_shown_once(any_stage: Stage, point: str) -> None:
    first = await desk(any_stage, Gauge(["fine"]), probe=crash_at(point))
    await first.plan(template("all is {{ seen }}", LOOK))
    any_stage.clock.advance(HOUR)
    await first.process.timer.look()
    await first.process.until_crash()
    second = await desk(any_stage, Gauge(["fine"]))
    await second.process.answer_all()
    assert await second.shown() == ["all is fine"]
    assert await any_stage.rows("SELECT COUNT(*) FROM deliveries") == [(1,)]


async def test_a_call_with_effects_is_asked_about_and_its_outcome_told(stage: Stage) -> None:
    at = await desk(stage, Gauge(["rotated"], effect=Effect.WRITE))
    await at.plan(template("{% if data.seen.failed %}no: {{ data.seen.error }}{% else %}{{ seen }}{% endif %}", LOOK))
    await at.fire()
    [asked] = await stage.pending()
    async with at.process.running():
        await at.process.click(asked.id)
        await at.process.rest()
    assert (await at.shown())[-1] == "rotated"
    await at.fire()
    [asked] = await stage.pending()
    async with at.process.running():
        await at.process.click(asked.id, Choice.DENY, "not today")
        await at.process.rest()
    assert (await at.shown())[-1].startswith("no: denied: ")
    assert "not today" in (await at.shown())[-1]


async def test_data_that_fails_fails_the_report_with_words_unless_the_template_handles_it(stage: Stage) -> None:
    at = await desk(stage, Gauge([ToolFailed("no answer from the gauge")]))
    planned = await at.plan(template("all is\n{{ seen }}", LOOK))
    await at.fire()
    made = await at.newest(planned)
    assert made.state is OccurrenceState.PLANNED
    assert made.reason == (
        "Template Morning, line 2: its data 'seen' could not be had: gauge: error: no answer from the gauge"
    )
    assert await at.shown() == []


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (template("\n\n{{ costs }}", LOOK), "Template Morning, line 3: 'costs' is undefined"),
        (template("+++\n[[data]]\nname = 'a'\n+++\n"), "Template Morning: a table data needs a tool, as a text."),
        (template("{{ seen }}", replace(LOOK, tool="nobody")), "gauge"),
        (
            Task(TaskKind.REPORT, "nobody"),
            "There is no report 'nobody'; there are activity, approvals, cost, dead-letters.",
        ),
        (
            Task(TaskKind.REPORT, "cost", options={"hour": 3}),
            "Cost has no option 'hour'; its options are: hours, chart.",
        ),
    ],
)
async def test_what_is_wrong_is_told_tried_again_and_given_up(stage: Stage, task: Task, reason: str) -> None:
    at = await desk(stage, Gauge(["fine"]))
    planned = await at.plan(task, terms=Terms())
    await at.fire()
    made = await at.newest(planned)
    assert made.state is OccurrenceState.PLANNED
    assert reason in made.reason
    await at.fire(WAITS[0])
    assert (await at.newest(planned)).attempts == 2


async def test_a_template_that_never_ends_fails_its_occurrence_alone(stage: Stage) -> None:
    renderer = Renderer(processor=timedelta(seconds=1))
    reporter = Reporters(Catalogue(FOLDER), renderer=renderer, now=stage.clock)
    at = Desk(stage, await stage.process(Scripted([]), reporter=reporter))
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    endless, other = await at.plan(template(loops)), await at.plan(template("all is well"), name="Evening")
    await at.fire()
    assert "did not end within 1 seconds" in (await at.newest(endless)).reason
    assert (await at.newest(other)).state is OccurrenceState.DONE
    assert await at.shown() == ["all is well"]


async def test_text_that_is_blank_is_silence_where_that_is_wanted(stage: Stage) -> None:
    at = await desk(stage, Gauge(["0", "0", "2"]))
    body = "{% if seen %}{{ seen }} wait{% endif %}"
    planned = await at.plan(template(body, LOOK), terms=QUIET)
    await at.fire()
    assert ((await at.newest(planned)).silent, await at.shown()) == (True, [])
    asker = Asker(await stage.store.identified(ADA), ADA, HOME)
    await at.process.booking.change(planned.id, Wanted(terms=Terms()), asker)
    await at.fire()
    assert await at.shown() == [NOTHING]
    await at.fire()
    assert await at.shown() == [NOTHING, "2 wait"]


async def test_a_report_knows_what_was_shown_before_and_when(stage: Stage) -> None:
    at = await desk(stage, Gauge(["1", "0", "3"]))
    body = (
        "{% if seen %}now {{ seen }}{% if previous_at %}, at {{ previous_at | local('%H:%M') }}: {{ previous }}{% endif %}"
        "{% endif %}"
    )
    await at.plan(template(body, LOOK), terms=QUIET, zone="Europe/Berlin")
    for _ in range(3):
        await at.fire()
    first = (stage.clock.at - 2 * HOUR).hour + 1  # in Berlin's winter
    assert await at.shown() == ["now 1", f"now 3, at {first}:00: now 1"], "the silent one in between is none"


# ----------------------------------------------------------------------------------------------------------- heartbeats


async def test_a_heartbeat_speaks_only_when_there_is_news(any_stage: Stage) -> None:
    gone = ToolFailed("no answer after 3 s")
    gauge = Gauge(["up", "up", gone, ToolFailed("no answer after 4 s"), "up", "up", "slow"])
    at = await desk(any_stage, gauge)
    planned = await at.plan(heartbeat("gauge", {"deep": 1}), terms=QUIET)
    silent = []
    for _ in gauge.answers:
        await at.fire()
        silent.append((await at.newest(planned)).silent)
    assert await at.shown() == [
        "**Morning**: up",
        "**Morning** fails: error: no answer after 3 s",
        "**Morning** works again: up",
        "**Morning**: slow",
    ]
    assert silent == [False, True, False, True, False, True, False]


async def test_a_heartbeat_may_tell_of_every_failure(stage: Stage) -> None:
    at = await desk(stage, Gauge([ToolFailed("away")]))
    await at.plan(heartbeat("gauge", {}, every_failure=True), terms=QUIET)
    await at.fire()
    await at.fire()
    assert await at.shown() == ["**Morning** fails: error: away"] * 2


async def test_a_long_answer_of_a_heartbeat_stands_in_a_block(stage: Stage) -> None:
    at = await desk(stage, Gauge(["one\n# two\n```"]))
    await at.plan(heartbeat("gauge", {}), terms=QUIET)
    await at.fire()
    assert await at.shown() == ["**Morning**:\n````\none\n# two\n```\n````"]


# --------------------------------------------------------------------------------------------------------- the reports


async def spend(stage: Stage, room: str, dollars: int) -> None:
    """Usage of an earlier run, as a model call leaves it."""
    await _write(
        stage,
        "INSERT INTO usage VALUES (:run, 1, 'main', :room, NULL, 'openai/x', 12345, 67, :micros, :at) RETURNING 1",
        run=new_id(),
        room=str(address(room)),
        micros=dollars * 1_000_000,
        at=_micros(stage),
    )


async def _write(stage: Stage, sql: str, **given: object) -> None:
    def write() -> Op[Any]:
        return (yield text(sql), given)

    await stage.store._driver.write(write)


def _micros(stage: Stage) -> int:
    return int(stage.clock().timestamp() * 1_000_000)


def every_tool(stage: Stage) -> list[Any]:
    return list(figure_tools(stage.store, stage.clock, str).values())


async def test_the_cost_report_brings_its_chart(stage: Stage, tmp_path: Path) -> None:
    chart = chart_tool(Easel(tmp_path / "fonts"))
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


async def test_a_chart_that_cannot_be_drawn_leaves_the_report(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage), Gauge([ToolFailed("no fonts")], name="chart"))
    await spend(stage, "ops", 12)
    await at.plan(Task(TaskKind.REPORT, "cost"))
    await at.fire()
    [shown] = await at.shown()
    assert "$12.00" in shown
    assert shown.endswith("The chart could not be drawn: error: no fonts")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("activity", "## What went on in the last 24 hours"),
        ("approvals", "Nothing waits for a decision."),
        ("cost", "No model was asked."),
        ("dead-letters", "Every message got to its room."),
    ],
)
async def test_every_report_is_made_where_nothing_happened_and_is_silent_where_that_is_wanted(
    stage: Stage, name: str, words: str
) -> None:
    at = await desk(stage, *every_tool(stage), fake_tool("chart", Effect.READ))
    loud = await at.plan(Task(TaskKind.REPORT, name))
    await at.fire()
    assert words in (await at.shown())[0]
    asker = Asker(await stage.store.identified(ADA), ADA, HOME)
    await at.process.booking.change(loud.id, Wanted(terms=QUIET), asker)
    await at.fire(timedelta(hours=1))
    is_news = name == "activity"  # the report before was something that went on
    assert ((await at.newest(loud)).silent, len(await at.shown())) == (not is_news, 1 + is_news)


async def test_what_waits_and_what_died_is_in_the_reports(stage: Stage) -> None:
    at = await desk(stage, *every_tool(stage), FakeTool(ToolSpec("shell", "Runs.", {"type": "object"}, Effect.DANGER)))
    await _write(
        stage,
        "INSERT INTO approvals VALUES ('a1', 'call', 'pending', 'r', 1, 's', 'page:main/ops', 'shell', 'danger', "
        "'{\"command\": \"rm | x\"}', '', '', '', NULL, :at, :later, NULL, '', NULL, NULL, '') RETURNING 1",
        at=_micros(stage),
        later=_micros(stage) + 12 * 3_600_000_000,
    )
    await at.plan(Task(TaskKind.REPORT, "approvals"), terms=QUIET)
    await at.fire()
    [shown] = await at.shown()
    assert "## 1 approval waits" in shown
    assert '**shell** in page:main/ops, asked 1 h ago; it expires in 11 h. `{"command": "rm | x"}`' in shown


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
    asker = Asker(await stage.store.identified(OTTO), OTTO, ELSEWHERE)
    await other.booking.add(Wanted(name="All", when="every hour", task=task), asker)
    await Desk(stage, other).fire()
    assert "$13.00" in (await at.shown("r2"))[-1]


# ------------------------------------------------------------------------------------------------------ made by command


async def report_desk(at: Desk) -> tuple[ReportDesk, Actor]:
    def room(text: str) -> Address | None:
        found = Address.parse(text)
        return found if found.channel == "page" else None

    stage = at.stage
    tools = figure_tools(stage.store, stage.clock, str)
    person = await stage.store.identified(ADA)
    assert person
    made = ReportDesk(stage.store, LateReporters(stage.clock), room, str, stage.clock, new_id, tools=tools)
    return made, Actor(person, ADA)


async def test_a_report_is_made_at_once_and_no_list_has_it(any_stage: Stage) -> None:
    at = await desk(any_stage, *every_tool(any_stage), fake_tool("chart", Effect.READ))
    reports, ada = await report_desk(at)
    begun = await reports.begin("cost", [str(HOME), str(ELSEWHERE), str(HOME)], {"hours": "48"}, ada)
    assert (begun["state"], begun["to"], begun["wanted"]) == ("working", [str(HOME), str(ELSEWHERE)], 2)
    assert await any_stage.store.schedules() == []
    await at.process.answer_all()
    ended = await reports.state(begun["id"])
    assert (ended["state"], ended["shown"]) == ("shown", 2)
    for room in ("r1", "r2"):
        assert "last 2 days" in (await at.shown(room))[0]
    kept = await any_stage.store.schedule(begun["id"])
    assert kept
    assert (kept.state, kept.owner) == (ScheduleState.REMOVED, ada.person)


async def test_a_report_that_fails_says_so_and_is_not_tried_again(stage: Stage) -> None:
    at = await desk(stage)  # where there is no tool `costs`
    reports, ada = await report_desk(at)
    begun = await reports.begin("cost", [str(HOME)], {}, ada)
    await at.process.answer_all()
    ended = await reports.state(begun["id"])
    assert ended["state"] == "failed"
    assert "its data 'costs' could not be had: costs: error: there is no tool 'costs'" in ended["reason"]


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
    }
    assert set(listed) == {path.name.removesuffix(".md.j2") for path in FOLDER.iterdir()}
    assert all(one["about"] for one in await reports.listed())


@pytest.mark.parametrize(
    ("name", "to", "options", "words"),
    [
        ("costs", [str(HOME)], {}, "There is no report 'costs'; there are activity, approvals, cost, dead-letters."),
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
