"""The list of runs shows what people call the work, whatever its model reads around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.console.runs.called import called
from runtime.contract import Address, Identity, OccurrenceId, Order, Report, Task, TaskKind, Trigger
from runtime.domain.agents.delegation import first_words, handed_over
from runtime.domain.schedules import said

REPORT = Report(
    OccurrenceId("o"),
    'Mo\'s "week"',
    Task(TaskKind.PROMPT, "Sum it up."),
    (Address("web", "main", "r1"),),
    "UTC",
    "main",
    Identity("web:1"),
)


def row(text: str, trigger: Trigger) -> dict[str, object]:
    return {"signals": [text], "trigger": trigger}


def test_work_by_the_clock_is_called_by_its_schedule() -> None:
    built_in = replace(REPORT, task=Task(TaskKind.REPORT, "cost"))
    for work in (REPORT, built_in):
        text = said(work, "Monday, 2026-11-30 08:00 (UTC)", "Nothing.")
        assert called(row(text, Trigger.SCHEDULE)) == 'Schedule “Mo\'s "week"”'


@pytest.mark.parametrize("kind", [TaskKind.WORKFLOW, TaskKind.GOAL])
def test_work_that_a_person_began_is_no_schedules(kind: TaskKind) -> None:
    text = said(replace(REPORT, task=Task(kind, "tidy")), "Monday, 2026-11-30 08:00 (UTC)", "")
    assert called(row(text, Trigger.MANUAL)) == f'{kind.name.capitalize()} “Mo\'s "week"”'


def test_work_that_a_trigger_began_is_called_by_it() -> None:
    text = said(replace(REPORT, because="a file came"), "Monday", "")
    assert called(row(text, Trigger.MANUAL)) == 'Trigger “Mo\'s "week"”'


@pytest.mark.parametrize("sources", [(), ("example.org",)])
def test_work_that_was_handed_on_is_called_by_its_goal(sources: tuple[str, ...]) -> None:
    assert (
        called(row(first_words(Order(agent="ops", goal="list the files"), ["main", "ops"], sources), Trigger.CHILD))
        == "list the files"
    )
    assert called(row(handed_over("Go on.", ["main"]), Trigger.HAND_OVER)) == "Go on."


def test_what_a_person_wrote_stays_as_they_wrote_it() -> None:
    text = said(REPORT, "Monday", "")
    assert called(row(text, Trigger.MESSAGE)) == text
