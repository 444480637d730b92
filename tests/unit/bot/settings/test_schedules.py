"""`[[schedules]]` and `[planning]`: what is taken, what is refused with its fix, and what becomes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.settings.schedules import Planning, ScheduleTable, TermsTable
from bot.settings.settings import Settings
from runtime.contract import DataCall, Misfire, Task, TaskKind, Terms, Thread
from tests.unit.bot.settings.test_settings import faults, read

LEAST = '[[schedules]]\nname = "morning"\nwhen = "0 9 * * 1-5"\nprompt = "What is new?"\nto = ["web:main/reports"]\n'
SHEET = "+++\n[[data]]\nname = 'costs'\ntool = 'costs'\n+++\n{{ costs }}\n"


def table(folder: Path, more: str = "", text: str = LEAST) -> ScheduleTable:
    settings: Settings = read(folder, text + more)
    return settings.schedules[0]


def test_four_lines_are_a_schedule(tmp_path: Path) -> None:
    least = table(tmp_path)
    assert (least.name, least.to, least.terms) == ("morning", ("web:main/reports",), Terms())
    assert least.task() == Task(TaskKind.PROMPT, "What is new?")
    assert (str(least.rule("Europe/Berlin")), least.rule("Europe/Berlin").zone) == ("0 9 * * 1-5", "Europe/Berlin")
    assert least.span("UTC") == (None, None)


def test_everything_can_be_said(tmp_path: Path) -> None:
    more = (
        'zone = "new york"\nmisfire = "window"\ncatch_up = 3\nwindow_minutes = 90\njitter_seconds = 30\nthread = "running"\n'
        "quiet = true\nmax_cost = 0.5\nstarts = 2026-12-01\nends = 2026-12-24T18:00:00\n"
    )
    whole = table(tmp_path, more)
    assert whole.terms == Terms(
        Misfire.WINDOW, 3, timedelta(minutes=90), timedelta(seconds=30), Thread.RUNNING, quiet=True, most_micros=500_000
    )
    assert TermsTable.of(whole.terms).terms == whole.terms
    assert whole.rule("UTC").zone == "America/New_York"
    assert whole.span("America/New_York") == (
        datetime(2026, 12, 1, 5, tzinfo=UTC),
        datetime(2026, 12, 24, 23, tzinfo=UTC),
    )


def test_a_day_that_ends_it_is_the_whole_day(tmp_path: Path) -> None:
    _, ends = table(tmp_path, 'ends = "2026-12-24"\n').span("Europe/Berlin")
    assert ends == datetime(2026, 12, 24, 23, tzinfo=UTC) - timedelta(microseconds=1)


def test_a_zone_among_the_words_is_before_the_others(tmp_path: Path) -> None:
    said = table(tmp_path, text=LEAST.replace("0 9 * * 1-5", "every weekday at 9 in Tokyo"), more='zone = "Berlin"\n')
    assert said.rule("UTC").zone == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("lines", "task"),
    [
        ('template = """\n{{ now }}\n"""', Task(TaskKind.TEMPLATE, "{{ now }}\n")),
        ('template_file = "daily.md"', Task(TaskKind.TEMPLATE, SHEET)),
        ('report = "cost"\noptions = { days = 7 }', Task(TaskKind.REPORT, "cost", options={"days": 7})),
        (
            'template = "{{ x }}"\ndata = [{ name = "x", tool = "list_files", arguments = { path = "." } }]',
            Task(TaskKind.TEMPLATE, "{{ x }}", (DataCall("x", "list_files", {"path": "."}),)),
        ),
    ],
)
def test_what_needs_no_model(tmp_path: Path, lines: str, task: Task) -> None:
    (tmp_path / "daily.md").write_text(SHEET)
    made = table(tmp_path, text=LEAST.replace('prompt = "What is new?"', lines)).task()
    assert made == task
    assert Task.from_json(made.to_json()) == made, "what is compared after a restart is the same"


def test_an_instant_that_is_over_is_no_fault(tmp_path: Path) -> None:
    once = table(tmp_path, text=LEAST.replace("0 9 * * 1-5", "2020-02-03 at 9:00"))
    assert str(once.rule("UTC")) == "at 2020-02-03T09:00"


def test_what_people_may_plan_has_bounds_of_its_own(tmp_path: Path) -> None:
    assert read(tmp_path, "").planning == Planning(zone="UTC", per_person=50, per_room=100, least_interval_minutes=1)
    limits = read(tmp_path, '[planning]\nzone = "tokyo"\nper_person = 3\nleast_interval_minutes = 15\n').planning
    assert (limits.zone, limits.per_person, limits.least_interval) == ("Asia/Tokyo", 3, timedelta(minutes=15))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('when = "0 9 * * 1-5"', 'when = "every fooday"'), ["schedules[1].when", "every fooday", '"every 2 hours"']),
        (('when = "0 9 * * 1-5"', 'when = "0 0 30 2 *"'), ["schedules[1].when", "For example"]),
        (('when = "0 9 * * 1-5"', 'when = "tomorrow at 9"'), ["schedules[1].when", '"2026-12-24 at 18:00"']),
        (('when = "0 9 * * 1-5"', 'when = "in 20 minutes"'), ["schedules[1].when", '"2026-12-24 at 18:00"']),
        (('name = "morning"', 'name = "a\\nb"'), ["schedules[1].name", "one line", '"morning"']),
        (('name = "morning"', f'name = "{"x" * 61}"'), ["schedules[1].name", "60"]),
        (("quiet", 'zone = "Europe/Berln"'), ['schedules[1].zone ("morning")', "did you mean Europe/Berlin"]),
        (("quiet", 'misfire = "never"'), ["schedules[1].misfire", '"never"', '"skip", "once", "all" or "window"']),
        (("quiet", "max_cost = -1"), ["schedules[1].max_cost", "at least 0"]),
        (("quiet", 'report = "cost"'), ["schedules[1].report", "prompt too; keep one of them"]),
        (("quiet", 'starts = "soon"'), ["schedules[1].starts", '"2026-12-24"']),
        (("quiet", 'data = [{ name = "x", tool = "y" }]'), ["schedules[1].data", "only for a template"]),
        (
            ("quiet", "options = { days = 7 }"),
            ["schedules[1].options", "only go with a template, a report or a workflow"],
        ),
        (('prompt = "What is new?"', ""), ["schedules[1].prompt", "template, template_file, report or workflow"]),
        (('prompt = "What is new?"', 'report = "costs"'), ["schedules[1].report", "cost, dead-letters, feedback"]),
        (('prompt = "What is new?"', 'template = "+++\\nx"'), ["schedules[1].template", "header"]),
        (('prompt = "What is new?"', 'template_file = "gone.md"'), ["schedules[1].template_file", "gone.md"]),
        (
            (
                'prompt = "What is new?"',
                'template = "x"\ndata = [{ name = "x", tool = "y", arguments = { a = 2026-01-01 } }]',
            ),
            ["schedules[1].data[1].arguments", "dates in quotes"],
        ),
        (('["web:main/reports"]', "[]"), ["schedules[1].to", "is empty", "web:main/reports"]),
        (('["web:main/reports"]', '"web:main/reports"'), ["schedules[1].to", "a list"]),
        (('["web:main/reports"]', '["web:main/R!"]'), ["schedules[1].to[1]", "lowercase letters and digits"]),
        (('["web:main/reports"]', '["web:main/reports", "slack:work/C1"]'), ["schedules[1].to[2]", "[[accounts]]"]),
        (('["web:main/reports"]', '["web:mian/reports"]'), ["schedules[1].to[1]", "did you mean web:main?"]),
    ],
)
def test_what_is_wrong_is_told_with_its_fix(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    old, new = change
    text = LEAST.replace(old, new) if old in LEAST else f"{LEAST}{new}\n"
    told = faults(tmp_path, text)
    assert [word for word in words if word not in told] == []


def test_a_name_is_given_once(tmp_path: Path) -> None:
    told = faults(tmp_path, LEAST + LEAST)
    assert 'schedules[2].name ("morning"): schedules[1] has this name too' in told


def test_each_fault_of_the_bounds_is_told(tmp_path: Path) -> None:
    told = faults(tmp_path, '[planning]\nzone = "Mars"\nper_person = -1\nleast_interval_minutes = "x"\n')
    assert [line.split(":")[0].strip() for line in told.splitlines()[1:]] == [
        "planning.zone",
        "planning.per_person",
        "planning.least_interval_minutes",
    ]
