"""`signalbox schedules next`, as a process of its own in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from tests.fakes import forked
from tests.fakes.fresh import SERVING, AllFresh

ROOT = Path(__file__).parents[4]
WRONG_USE = 2
BERLIN = ("--zone", "Europe/Berlin", "--from", "2026-03-28T00:00:00Z")


def upcoming(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    environment = {**kept, "PYTHONPATH": str(ROOT), "HOME": str(folder), "COLUMNS": "200"}
    ended = forked.run("bot", "schedules", "next", *arguments, folder=folder, environment=environment, seconds=30)
    out, err = ended.stdout.decode(), ended.stderr.decode()
    assert "Traceback" not in err
    assert list(folder.iterdir()) == []  # neither settings nor a store
    return subprocess.CompletedProcess(arguments, ended.returncode, out, err)


def told(*arguments: str) -> str:
    """In the test's own process."""
    ended = CliRunner().invoke(cli, ["schedules", "next", *arguments])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_instants_are_told_in_the_zone_and_in_utc(tmp_path: Path) -> None:
    ended = upcoming(tmp_path, "30 2 * * *", *BERLIN, "--count", "3")
    assert ended.returncode == 0
    assert ended.stderr == "every day at 02:30 (Europe/Berlin)\n"
    assert ended.stdout.splitlines() == [
        "Sat 2026-03-28 02:30:00 CET  2026-03-28T01:30:00Z",
        "Sun 2026-03-29 03:30:00 CEST  2026-03-29T01:30:00Z",
        "Mon 2026-03-30 02:30:00 CEST  2026-03-30T00:30:00Z",
    ]


def test_programs_get_a_list_of_instants_in_utc(tmp_path: Path) -> None:
    ended = upcoming(tmp_path, "30 2 * * *", *BERLIN, "--count", "2", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout) == ["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0 0 30 2 *"], "No year has day 30 of month 2"),
        (["every 0 minutes"], '"0" is not a whole number from 1 up'),
        (["daily", "--zone", "Europe/Berln"], "did you mean Europe/Berlin"),
        (["daily", "--from", "yesterday"], '--from: "yesterday" isn\'t a date and time'),
    ],
)
def test_what_is_refused_ends_with_the_reason_and_an_example(tmp_path: Path, arguments: list[str], words: str) -> None:
    ended = upcoming(tmp_path, *arguments)
    assert (ended.returncode, ended.stdout) == (WRONG_USE, "")
    assert words in ended.stderr
    assert "For example: " in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["daily", "--count", "0"],
        ["daily", "--count", "1001"],
        ["daily", "--count", "many"],
        ["daily", "--from", "1969-12-31T00:00:00Z"],
        ["daily", "--from", "9999-12-31T23:59:59-12:00"],
        ["daily", "--zone", ""],
        ["0", "9", "*", "*", "1-5"],
    ],
)
def test_wrong_use_exits_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(cli, ["schedules", "next", *arguments]).exit_code == WRONG_USE


def test_a_zone_in_the_words_wins() -> None:
    named = json.loads(told("daily at 9 in Tokyo", *BERLIN, "--json", "--count", "1"))
    assert named == ["2026-03-29T00:00:00Z"]


def test_an_instant_without_a_distance_is_read_in_the_zone() -> None:
    same = json.loads(told("@hourly", "--zone", "Asia/Tokyo", "--from", "2026-03-28T09:30", "--json", "--count", "1"))
    assert same == ["2026-03-28T01:00:00Z"]


def test_without_a_beginning_it_is_now() -> None:
    before = datetime.now(UTC)
    first = datetime.fromisoformat(json.loads(told("every minute", "--json", "--count", "1"))[0])
    assert before - timedelta(seconds=1) < first <= datetime.now(UTC) + timedelta(minutes=1)


def test_as_many_as_a_thousand() -> None:
    assert len(json.loads(told("every 5 minutes", "--count", "1000", "--json"))) == 1000


@pytest.mark.xdist_group("fresh")
def test_starting_loads_no_scheduler(fresh: AllFresh) -> None:
    code = "import sys, runtime.calendar; print([name for name in sys.modules if 'apscheduler' in name])"
    ended = fresh.after(*SERVING).run(code)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
