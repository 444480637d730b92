"""`signalbox report`: with a process that runs, without one, and wrongly used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.report import code_of, in_words
from bot.cli.root import cli
from tests.unit.bot.cli.test_cli import running, signalbox

pytestmark = pytest.mark.xdist_group("cli")  # one process of the program for all of them

TOLD: dict[str, Any] = {
    "id": "r1",
    "name": "cost",
    "to": ["slack:work/C1", "web:main/team42"],
    "state": "working",
    "reason": "",
    "runs": True,
    "shown": 1,
    "wanted": 2,
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a process running in it."""
    folder = tmp_path_factory.mktemp("house")
    with running(folder):
        begun(folder)
        yield folder


def begun(folder: Path) -> None:
    """A room of the page is there once something was said in it."""
    assert signalbox(folder, "ask", "--room", "team42", "help").returncode == 0


def test_a_report_is_shown_in_a_room_and_waited_for(house: Path) -> None:
    ended = signalbox(house, "report", "activity", "--to", "web:main/team42", "--option", "hours=48")
    assert (ended.returncode, ended.stdout) == (0, "activity: shown in web:main/team42.\n"), ended.stderr
    told = json.loads(signalbox(house, "report", "cost", "--to", "web:main/team42", "--json").stdout)
    assert (told["state"], told["shown"], told["wanted"]) == ("shown", 1, 1)
    assert json.loads(signalbox(house, "outbox", "list", "--json").stdout)[0]["kind"] == "report"


def test_a_report_is_printed(house: Path) -> None:
    ended = signalbox(house, "report", "cost", "--print", "--option", "hours=48")
    assert ended.returncode == 0
    assert ended.stdout.startswith(("## No cost in the last 2 days", "## Cost of the last 2 days: nothing"))


def test_a_report_calls_a_conversation_of_the_page_by_its_first_words(house: Path) -> None:
    printed = signalbox(house, "report", "activity", "--print").stdout
    assert "help (page)" in printed
    assert "web:main/team42" not in printed


def test_reports_are_listed(house: Path) -> None:
    told = json.loads(signalbox(house, "report", "--list", "--json").stdout)
    assert [one["name"] for one in told] == ["activity", "approvals", "cost", "dead-letters", "feedback"]
    assert "hours=24, chart=true" in signalbox(house, "report", "--list").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["costs", "--print"],
            "There is no report 'costs'. There are: activity, approvals, cost, dead-letters, feedback.",
        ),
        (
            ["cost", "--print", "--option", "hours=soon"],
            "Cost: option hours is a whole number, such as 24; not 'soon'.",
        ),
        (["cost", "--to", "slack:work/C1"], '"slack:work/C1": no account here is called that'),
        (["cost", "--to", "here"], "No room is called 'here': give its name, or write channel:account/room"),
    ],
)
def test_what_cannot_be_made_is_told(house: Path, arguments: list[str], words: str) -> None:
    ended = signalbox(house, "report", *arguments)
    assert ended.returncode == 1
    assert words in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Which report? For example: signalbox report cost --print"),
        (["nonsense"], "There is no report 'nonsense'. There are: activity, approvals, cost, dead-letters, feedback."),
        (["cost"], "Give either --to ADDRESS or --print, for example: signalbox report cost --to"),
        (["cost", "--print", "--to", "web:main/team42"], "Give either --to ADDRESS or --print"),
        (["cost", "--list"], "--list takes nothing else"),
        (["cost", "--print", "--option", "hours"], '--option: "hours" is not KEY=VALUE, such as hours=48'),
    ],
)
def test_wrong_use_is_told(arguments: list[str], words: str) -> None:
    ended = CliRunner().invoke(cli, ["report", *arguments])
    assert ended.exit_code == 2
    assert words in ended.output


def test_without_a_process_it_is_printed_or_waits_for_the_next_start(tmp_path: Path) -> None:
    with running(tmp_path):
        begun(tmp_path)
    refused = signalbox(tmp_path, "report", "cost", "--to", "web:main/nobody42")
    assert (refused.returncode, "There is no such conversation" in refused.stderr) == (1, True)
    assert signalbox(tmp_path, "report", "approvals", "--print").stdout == "Nothing is waiting for a decision.\n"
    ended = signalbox(tmp_path, "report", "cost", "--to", "web:main/team42")
    assert ended.returncode == 0
    assert "no Signalbox is running with this data_dir. The next start shows it in web:main/team42" in ended.stdout
    with running(tmp_path):
        for _ in range(100):
            every = json.loads(signalbox(tmp_path, "outbox", "list", "--json").stdout)
            rows = [row for row in every if row["kind"] == "report"]
            if rows and rows[0]["state"] == "shown":
                break
    assert [(row["kind"], row["state"]) for row in rows] == [("report", "shown")]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"state": "shown", "shown": 2}, 0, "cost: shown in slack:work/C1, web:main/team42."),
        ({"state": "failed", "reason": "It broke."}, 1, "cost: couldn't be made. It broke."),
        ({"state": "stuck", "reason": "C1: no"}, 1, "cost: made, but it couldn't be shown everywhere: C1: no"),
        ({"state": "waiting"}, 3, "cost: waiting for an approval in slack:work/C1"),
        ({}, 4, "cost: not shown everywhere yet (1 of 2). Signalbox is still working on it."),
        ({"runs": False}, 0, "cost: no Signalbox is running with this data_dir"),
    ],
)
def test_every_ending_has_its_words_and_its_exit_code(change: dict[str, Any], code: int, words: str) -> None:
    told = {**TOLD, **change}
    assert code_of(told) == code
    assert in_words(told)[0].startswith(words)
    assert in_words(told)[1] is (code == 0)
