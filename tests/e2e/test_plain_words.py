"""Mistakes at the real command line: one plain line says what is wrong, in the words that were typed, and what helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.house import House, environment
from tests.e2e.terminal import Terminal

pytestmark = [pytest.mark.xdist_group("e2e-bad-input"), pytest.mark.timeout(120)]

FAILED, WRONG_USE = 1, 2
SLACK: Final = "xoxb-1-2-abcdefgh"


# ------------------------------------------------------------------------------------------------------------ wrong use


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("run --port eighty", '--port: got "eighty"; expected a whole number. See: signalbox run --help'),
        (
            "schedules next daily --count 0",
            '--count: got "0"; expected at least 1. See: signalbox schedules next --help',
        ),
        ("ask", "There is no question. Write it as TEXT, or name a file with --prompt-file FILE"),
        ("migrate", "BOT is missing. See: signalbox migrate --help"),
        ("people role ada", "ROLE is missing. See: signalbox people role --help"),
        ("config show --yaml", "There is no option --yaml. See: signalbox config show --help"),
        (
            "schedules add x --catchup 3",
            "There is no option --catchup; did you mean --catch-up? See: signalbox schedules",
        ),
        ("outbox list --state", "--state needs a value. See: signalbox outbox"),
        (
            "ask hello world",
            'Too many words: "world". Put quotes around words that belong together. See: signalbox ask',
        ),
        ("people lst", "No such command 'lst'. Did you mean 'list'? See: signalbox people --help"),
        ("--nope", "There is no option --nope. See: signalbox --help"),
    ],
)
def test_wrong_use_is_one_line_with_what_was_typed(tmp_path: Path, typed: str, told: str) -> None:
    ended = House(tmp_path).command(*typed.split())
    assert (ended.returncode, ended.stdout) == (WRONG_USE, "")
    assert ended.stderr.startswith(f"signalbox: {told}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ([], "--to is missing"),
        (
            ["--to", "web:main/r1r1r1", "--jitter-seconds", "-1"],
            "--jitter-seconds: got a number -1.0; expected at least 0",
        ),
        (["--to", "web:main/r1r1r1", "--misfire", "never"], '--misfire: got text "never"; expected'),
        (["--to", "web:main/r1r1r1", "--report", "cost"], "TASK and --report are both given"),
    ],
)
def test_a_schedule_that_lacks_something_is_told_by_its_flags(lived_in: House, flags: list[str], told: str) -> None:
    ended = lived_in.command("schedules", "add", "every day at 9", "look", *flags)
    assert ended.returncode == FAILED
    assert ended.stderr.startswith(f"signalbox: {told}")
    assert ended.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A folder in which somebody asked something."""
    house = House(tmp_path_factory.mktemp("lived"))
    assert house.command("ask", "hello").returncode == 0
    return house


# ------------------------------------------------------------------------------------------------- what cannot be undone


@pytest.mark.parametrize(
    "command",
    [
        ["people", "remove", "bob"],
        ["people", "merge", "bob", "owner"],
        ["schedules", "remove", "news"],
        ["outbox", "discard", "0123"],
        ["secrets", "remove", "OPENAI_API_KEY"],
    ],
)
def test_without_a_terminal_nothing_is_destroyed_unasked(lived_in: House, command: list[str]) -> None:
    ended = lived_in.command(*command)
    assert ended.returncode == WRONG_USE
    assert ended.stderr.count("\n") == 1
    assert "There's no terminal to ask on, so nothing was done. Add --yes" in ended.stderr
    assert "Add --yes" not in lived_in.command(*command, "--yes").stderr


def test_whoever_sits_at_the_terminal_is_asked(lived_in: House) -> None:
    lived_in.command("people", "add", "Carol")
    with Terminal(["people", "remove", "Carol"], lived_in.folder, environment(lived_in.folder)) as person:
        person.reads("Remove Carol, who will have to be let in again? [y/N]")
        person.types("n")
        person.reads("Aborted")
    assert "Carol" in lived_in.command("people", "list").stdout
    assert lived_in.command("people", "remove", "Carol", "--yes").returncode == 0
    assert "Carol" not in lived_in.command("people", "list").stdout


def test_of_two_people_the_missing_one_is_named(lived_in: House) -> None:
    for pair, missing in ((["owner", "zed"], '"zed"'), (["zed", "owner"], '"zed"'), (["yan", "zed"], '"yan" or "zed"')):
        ended = lived_in.command("people", "merge", *pair, "--yes")
        assert (ended.returncode, ended.stderr) == (FAILED, f"signalbox: There is nobody named {missing}.\n")


# ------------------------------------------------------------------------------------------------------------- settings


HOOK: Final = '[[hooks]]\nname = "x"\nto = "web:main/deploys"\n'
BOT: Final = f'[[accounts]]\nname = "tg"\nchannel = "telegram"\ntoken = "7000:{"A" * 35}"\n'


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ('[web]\ntoken = "x"\n', "web.token"),
        ('[metrics]\ntoken = "fifteen-letters"\n', "metrics.token"),
        (f'{HOOK}secret = "x"\n', "hooks[1].secret"),
        (f'{BOT}webhook_secret = "x"\n', "accounts[1].webhook_secret"),
    ],
)
def test_a_secret_that_can_be_guessed_is_refused(tmp_path: Path, text: str, setting: str) -> None:
    ended = House(tmp_path, text).command("run", "--port", "0")
    assert ended.returncode == WRONG_USE
    [line] = [line for line in ended.stderr.splitlines() if setting in line]
    assert "expected at least 16 characters; make one with: openssl rand -hex 32" in line
    assert "fifteen-letters" not in ended.stderr


def test_what_has_no_effect_is_told_at_the_start_and_by_doctor(tmp_path: Path) -> None:
    variables = {"SLACK_BOT_TOKEN": SLACK, "DATABASE_URL": "postgresql://ada@db/x"}
    house = House(tmp_path, '[model]\nname = "opnai/gpt"\n', variables=variables).start()
    assert house.leave() == 0
    warned = [json.loads(line) for line in house.log().splitlines() if '"warning"' in line]
    assert [one["event"] for one in warned if "fix" in one] == [
        "SLACK_BOT_TOKEN is set but SLACK_APP_TOKEN is not, so there's no Slack account",
        'there is no provider "opnai"; did you mean openai/gpt?',
        "DATABASE_URL is set but not used",
    ]
    told = json.loads(house.command("doctor", "--json").stdout)
    found = {one["id"]: one for one in told["findings"]}
    assert found["model.name"]["level"] == "error"
    assert found["slack"]["level"] == found["settings.unused_database"]["level"] == "warning"
    assert not told["healthy"]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"SLACK_APP_TOKEN": "xapp-1-abcdefgh"}, "SLACK_APP_TOKEN is set but SLACK_BOT_TOKEN is not"),
        (
            {"SLACK_SIGNING_SECRET": "0" * 32},
            "SLACK_SIGNING_SECRET is set but SLACK_BOT_TOKEN and SLACK_APP_TOKEN are not",
        ),
    ],
)
def test_each_half_of_an_account_is_told(tmp_path: Path, variables: dict[str, str], told: str) -> None:
    assert told in House(tmp_path, variables=variables).command("doctor").stdout


def test_a_database_that_is_set_otherwise_is_told_by_doctor_alone(tmp_path: Path) -> None:
    house = House(tmp_path, 'database_url = "sqlite:///mine.db"\n', variables={"DATABASE_URL": "postgresql://ada@db/x"})
    assert "DATABASE_URL is set but not used" in house.command("doctor").stdout
    house.start().leave()
    assert "DATABASE_URL" not in house.log()
    named = House(tmp_path, 'database_url_env = "DATABASE_URL"\n', variables={"DATABASE_URL": "sqlite:///mine.db"})
    assert "not used" not in named.command("doctor").stdout


# ---------------------------------------------------------------------------------------------------------------- hints


def test_init_needs_no_force_where_no_file_is(tmp_path: Path) -> None:
    house = House(tmp_path)
    (tmp_path / "signalbox.toml").unlink()
    assert "To fix it: signalbox init, or set model.name" in house.command("doctor").stdout


@pytest.mark.parametrize("where", [["--config", "my own.toml"], ["--config=my own.toml"]])
def test_hints_name_the_settings_they_are_about(tmp_path: Path, where: list[str]) -> None:
    house = House(tmp_path)
    (tmp_path / "my own.toml").write_text('data_dir = "elsewhere"\n')
    mine = "signalbox --config 'my own.toml'"
    assert f"To fix it: {mine} init --force" in house.command("doctor", *where).stdout
    assert f"Start it: {mine} run" in house.command(*where, "chat").stderr
    assert f"To begin: {mine} secrets set" in house.command("secrets", "list", *where).stdout
    assert f"{mine} run" in house.command("people", "add", "Ada", *where).stderr
    assert "To begin: signalbox secrets set" in house.command("secrets", "list").stdout
