"""`signalbox schedules`: with a process at work, and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.house import House, open_house

pytestmark = pytest.mark.xdist_group("cli")  # one process of the program for all of them

TEXT: Final = (
    '[planning]\nzone = "Europe/Berlin"\n[[schedules]]\nname = "morning"\nwhen = "0 9 * * 1-5"\n'
    'prompt = "Good morning.\\n\\n# A heading"\nto = ["web:main/reports"]\n'
)
TO: Final = ("--to", "web:main/cli001")
FAILED, WRONG_USE = 1, 2


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), TEXT) as house:
        assert house.command("ask", "hello", "--room", "cli001").returncode == 0  # now that room is there
        yield house


def done(house: House, *arguments: str) -> str:
    """What a command says that went well."""
    ended = house.command("schedules", *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def told(house: House, *arguments: str) -> Any:
    return json.loads(done(house, *arguments, "--json"))


def refused(house: House, *arguments: str, code: int = FAILED) -> str:
    ended = house.command("schedules", *arguments)
    assert (ended.returncode, ended.stdout) == (code, "")
    return ended.stderr


def test_what_is_planned_is_listed_and_shown(house: House) -> None:
    listed = done(house, "list")
    assert "every weekday at 09:00 (Europe/Berlin)" in listed
    assert "settings file" in listed
    shown = done(house, "show", "morning")
    assert shown.count("09:00:00 CE") == 5, "the next five, by its own clocks"
    assert "Good morning.\n\n# A heading" in shown
    assert "It hasn't been due yet." in shown
    [row] = [row for row in told(house, "list") if row["name"] == "morning"]
    shown_row = told(house, "show", "morning")
    assert shown_row.pop("source").endswith("signalbox.toml:4"), "where it is planned"
    assert {**row, "history": []} == shown_row


def test_one_is_planned_changed_turned_and_removed(house: House) -> None:
    options = ("--name", "news", "--quiet", "--misfire", "all", "--catch-up", "3", "--max-cost", "0.25")
    said = done(house, "add", "every weekday at 7:30", "What is new?", *TO, *options)
    assert said.startswith("news: active, every weekday at 07:30 (Europe/Berlin). Next: ")
    changed = told(house, "change", "news", "--when", "every 2 hours", "--no-quiet", "--zone", "Asia/Tokyo")
    assert (changed["when"], changed["zone"], changed["task"]) == ("every 2 hours", "Asia/Tokyo", "What is new?")
    assert (changed["terms"]["quiet"], changed["terms"]["catch_up"], changed["terms"]["max_cost"]) == (False, 3, 0.25)
    assert done(house, "pause", "news", "--reason", "holiday") == "news: paused, every 2 hours.\n"
    assert "holiday" in done(house, "show", "news")
    assert done(house, "resume", "news").startswith("news: active, every 2 hours. Next: ")
    assert done(house, "remove", "news", "--yes") == "news: removed.\n"
    assert "There is no schedule called 'news'" in refused(house, "show", "news")


def test_one_is_run_at_once_and_its_history_tells_so(house: House) -> None:
    assert "started. To follow it: signalbox trace" in done(house, "run", "morning")
    [begun] = told(house, "history", "morning")
    assert (begun["manual"], begun["attempts"]) == (True, 1)
    assert "run by hand" in done(house, "history", "morning", "--limit", "1")


def test_a_report_or_a_template_is_planned_in_place_of_a_task(house: House) -> None:
    made = told(house, "add", "every monday at 9", *TO, "--report", "cost", "--option", "days=7")
    assert (made["kind"], made["task"], made["options"]) == ("report", "cost", {"days": "7"})
    file = house.folder / "daily.md"
    file.write_text("It is {{ now }}.\n")
    made = told(house, "add", "every day at 9", *TO, "--template-file", str(file), "--name", "daily")
    assert (made["kind"], made["task"]) == ("template", "It is {{ now }}.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["add", "every foo", "x", *TO], FAILED, '"every foo" is not understood. For example:'),
        (["add", "every day at 9", "x"], FAILED, "--to is missing"),
        (["add", "every day at 9", "x", "--to", "slack:work/C1"], FAILED, "No account here serves slack:work/C1"),
        (["add", "every day at 9", *TO], FAILED, "Say what the agent should do"),
        (["add", "every day at 9", "x", *TO, "--misfire", "never"], FAILED, 'expected "skip", "once"'),
        (["add", "every day at 9", *TO, "--template-file", "gone.md"], WRONG_USE, "--template-file: gone.md"),
        (["add", "every day at 9", "x", *TO, "--option", "days"], WRONG_USE, '"days" is not NAME=VALUE'),
        (["change", "morning", "--when", "every day at 9"], FAILED, "is in the settings file"),
        (["change", "morning"], WRONG_USE, "Say what to change"),
        (["remove", "morning", "--yes"], FAILED, "is in the settings file"),
        (["pause", "evening"], FAILED, "There is no schedule called 'evening'"),
    ],
)
def test_what_cannot_be_is_one_sentence(house: House, arguments: list[str], code: int, words: str) -> None:
    assert words in refused(house, *arguments, code=code)


def test_without_a_process_the_book_is_opened_and_the_next_start_goes_by_it(tmp_path: Path) -> None:
    house = House(tmp_path, TEXT)
    assert "there is no owner yet" in refused(house, "list").lower()
    house.start()
    assert house.command("ask", "hello", "--room", "cli001").returncode == 0
    assert house.leave() == 0
    made = told(house, "add", "every day at 7", "What is new?", "--to", "web:main/cli001", "--name", "news")
    assert made["next"][0].endswith(("05:00:00+00:00", "06:00:00+00:00")), "planning.zone is where clocks are read"
    assert done(house, "pause", "morning").startswith("morning: paused")
    assert "started" in done(house, "run", "news")
    house.start()
    try:
        names = {row["name"]: row["state"] for row in told(house, "list")}
        assert names == {"news": "active", "morning": "paused"}, "a restart does not resume what somebody paused"
    finally:
        house.kill()
