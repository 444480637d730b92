"""Reports without a model: templates with data of tools, and heartbeats that speak only of news."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.operator.reports import REPORTS_FOLDER
from bot.testing.scripted import Scripted
from runtime.contract import (
    UNDECLARED,
    Asker,
    Choice,
    Effect,
    OccurrenceState,
    ScheduleRequest,
    Task,
    TaskKind,
    Terms,
)
from runtime.domain.schedules import WAITS
from runtime.errors import ToolFailed
from runtime.policy.rules import Rule, Ruling
from runtime.reports.catalogue import Catalogue, Reporters
from runtime.reports.change_watch import heartbeat
from runtime.reports.templates import NOTHING_TO_TELL
from runtime.templating.renderer import Renderer
from tests.contract.runtime.planning import ELSEWHERE, HOME, HOUR
from tests.contract.runtime.reporting import LOOK, QUIET, Desk, Gauge, desk, template
from tests.contract.runtime.stage import (
    ADA,
    Stage,
    crash_at,
)

# ------------------------------------------------------------------------------------------------------------ templates


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
        "Template Morning, line 2: its data 'seen' couldn't be fetched: gauge: error: no answer from the gauge"
    )
    assert await at.shown() == []


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (template("\n\n{{ costs }}", LOOK), "Template Morning, line 3: 'costs' is undefined"),
        (template("+++\n[[data]]\nname = 'a'\n+++\n"), "Template Morning: a table data needs a tool, as text."),
        (template("{{ seen }}", replace(LOOK, tool="nobody")), "gauge"),
        (
            Task(TaskKind.REPORT, "nobody"),
            "There is no report 'nobody'. There are: activity, approvals, cost, dead-letters, feedback.",
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
    reporter = Reporters(Catalogue(REPORTS_FOLDER), renderer=renderer, now=stage.clock)
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
    asker = Asker(await stage.store.people.identified(ADA), ADA, HOME)
    await at.process.booking.change(planned.id, ScheduleRequest(terms=Terms()), asker)
    await at.fire()
    assert await at.shown() == [NOTHING_TO_TELL]
    await at.fire()
    assert await at.shown() == [NOTHING_TO_TELL, "2 wait"]


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
        "**Morning** is failing: error: no answer after 3 s",
        "**Morning** works again: up",
        "**Morning**: slow",
    ]
    assert silent == [False, True, False, True, False, True, False]


async def test_a_heartbeat_may_tell_of_every_failure(stage: Stage) -> None:
    at = await desk(stage, Gauge([ToolFailed("away")]))
    await at.plan(heartbeat("gauge", {}, every_failure=True), terms=QUIET)
    await at.fire()
    await at.fire()
    assert await at.shown() == ["**Morning** is failing: error: away"] * 2


async def test_a_long_answer_of_a_heartbeat_stands_in_a_block(stage: Stage) -> None:
    at = await desk(stage, Gauge(["one\n# two\n```"]))
    await at.plan(heartbeat("gauge", {}), terms=QUIET)
    await at.fire()
    assert await at.shown() == ["**Morning**:\n````\none\n# two\n```\n````"]


async def test_words_from_outside_are_reported_as_they_are_and_stop_no_call_of_a_template(stage: Stage) -> None:
    """No model reads them there: its calls are written down."""
    gauge = Gauge(["up", "up", ToolFailed("away"), "down"], effect=Effect.WRITE, flow=UNDECLARED)
    at = await desk(stage, gauge, rules=[Rule(Ruling.ALLOW, "gauge")])
    planned = await at.plan(heartbeat("gauge", {}), terms=QUIET)
    for _ in gauge.answers:
        await at.fire()
    assert (await at.newest(planned)).silent is False
    assert await at.shown() == [
        "**Morning**: up",
        "**Morning** is failing: error: away",
        "**Morning** works again: down",
    ]
    assert await stage.pending() == []
