"""`signalbox policy`: what the page shows is what it prints, and wrong use is told with the fix."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from tests.unit.bot.cli.test_cli import ROOT, signalbox

PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
RULES = re.findall(r"```toml file=signalbox.toml\n(.*?)```", PAGE, re.DOTALL)[0]
SHOWN = re.findall(r"```console\n\$ signalbox (.*?)\n(.*?)```", PAGE, re.DOTALL)
WRONG_USE = 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "signalbox.toml"
    place.write_text(RULES + '[[mcp]]\nname = "tracker"\ncommand = "tracker-mcp"\neffect = "danger"\n')
    return place


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, ["policy", *words, "--config", str(file)])
    return ended.exit_code, ended.output


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_the_page_shows_what_is_printed(file: Path, command: str, shown: str) -> None:
    _, *words = shlex.split(command)
    assert told(file, *words) == (0, shown)


def test_every_known_tool_is_listed_with_what_each_role_meets(file: Path) -> None:
    code, printed = told(file, "test", "--all", "--json")
    rows = {row["tool"]: row for row in json.loads(printed)}
    assert code == 0
    assert {"shell", "write_file", "read_file", "schedule_set", "activity", "chart", "http_get"} <= rows.keys()
    assert rows["read_file"]["user"] == rows["read_file"]["owner"] == "allow"
    assert (rows["shell"]["user"], rows["shell"]["operator"]) == ("ask", "ask; may decide it")
    assert rows["shell"]["else"] == 'deny: rule 1 ("no pushes"), allow: rule 2 ("looking around")'
    assert rows["schedule_set"]["rule"] == "a built-in rule"
    assert rows["http_get"]["else"] == 'veto: rule 6 ("no payroll"), allow: rule 5 ("our wiki")'


def test_name_reason_and_limit_of_the_rule_are_told(file: Path) -> None:
    def shown(url: str) -> dict[str, str]:
        return dict(json.loads(told(file, "test", "--tool", "http_get", "--arg", f"url={url}", "--json")[1]))

    wiki, payroll = shown("https://wiki.example.org"), shown("https://payroll.example.org")
    assert [wiki[one] for one in ("ruling", "rule", "limit", "reason")] == ["allow", "our wiki", "60/minute", ""]
    assert [payroll[one] for one in ("ruling", "rule", "reason")] == ["veto", "no payroll", "Ask Ann in person."]


def test_a_mode_comes_before_the_rules_and_no_denial_is_lifted(file: Path) -> None:
    def shown(mode: str, *words: str) -> str:
        return told(file, "test", "--mode", mode, *words)[1].splitlines()[0]

    note, push = ("--tool", "write_file", "--arg", "path=notes/a"), ("--tool", "shell", "--arg", "command=git push")
    assert shown("read-only", *note) == "deny: The mode read-only comes before the rules."
    assert shown("plan", *note) == "ask: The mode plan comes before the rules."
    assert shown("plan", *push) == 'deny: Rule 1 ("no pushes") decides.'
    assert shown("plan", "--tool", "read_file") == "allow: No rule matches, and a tool that only reads is allowed."
    assert '"rule": "the mode read-only"' in told(file, "test", "--all", "--mode", "read-only", "--json")[1]


def test_an_argument_that_is_no_text_is_given_as_json(file: Path) -> None:
    file.write_text('[[policy]]\ntool = "tracker_pay"\nwhere = { amount = { max = 100 } }\nresult = "allow"\n')
    call = ("test", "--tool", "tracker_pay", "--effect", "danger", "--arg")
    assert [told(file, *call, given)[1].partition(":")[0] for given in ("amount:=5", "amount:=500", "amount=5")] == [
        "allow",
        "ask",
        "ask",
    ]


def test_a_question_for_two_people_is_nobodys_alone(file: Path) -> None:
    _, printed = told(file, "test", "--all", "--json", "--room", "slack:work/C1")
    assert {row["tool"]: row["owner"] for row in json.loads(printed)}["shell"] == "ask"


def test_a_tool_of_a_server_that_does_not_run_has_the_effect_of_its_table(file: Path) -> None:
    _, printed = told(file, "test", "--tool", "tracker_close")
    assert "No rule matches, and a tool that may change anything is asked about." in printed


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["test"], "Name a tool with --tool, or take all of them with --all."),
        (["test", "--all", "--tool", "shell"], "Name a tool with --tool, or take all of them with --all."),
        (["test", "--tool", "shel"], "Did you mean shell? Otherwise, say what it may do with --effect."),
        (["test", "--tool", "x", "--effect", "all"], "--effect all: expected read, write, danger."),
        (["test", "--tool", "shell", "--arg", "ls"], "--arg ls: expected NAME=VALUE, such as command=ls."),
        (
            ["test", "--tool", "shell", "--arg", "comand=ls"],
            "--arg comand: shell has no such argument. It takes: command.",
        ),
        (["test", "--tool", "shell", "--room", "general"], "--room general: expected an address"),
        (["test", "--tool", "shell", "--arg", "command:=[5"], "--arg command:=[5: expected JSON after :=, such as 5"),
        (["test", "--tool", "shell", "--mode", "trusted"], "--mode trusted: expected normal, read-only or plan."),
        (["explain"], "Name one question, or take the newest with --last."),
    ],
)
def test_wrong_use_is_told_with_the_fix(file: Path, words: list[str], fix: str) -> None:
    code, printed = told(file, *words)
    assert code == WRONG_USE
    assert fix in printed


@pytest.mark.xdist_group("cli")
def test_people_are_those_that_are_known(file: Path, tmp_path: Path) -> None:
    file.write_text(
        '[[policy]]\ntool = "shell"\nperson = "slack:T1/U1"\nresult = "allow"\n[[policy]]\nperson = "crew"\nresult = "deny"\n'
    )
    given, call = ["--config", str(file)], ["policy", "test", "--tool", "shell"]
    unknown = signalbox(tmp_path, *call, "--person", "Annn", *given)
    assert (unknown.returncode, unknown.stdout) == (WRONG_USE, "")
    assert "--person Annn: I don't know anybody by that name. " in unknown.stderr
    assert not (tmp_path / "var").exists()  # nothing was made for that
    signalbox(tmp_path, "ask", "hello", "--room", "peopleroom1", *given)
    signalbox(tmp_path, "people", "add", "Ann", "--role", "owner", "--identity", "slack:T1/U1", *given)
    assert "Did you mean Ann?" in signalbox(tmp_path, *call, "--person", "Annn", *given).stderr
    for known, ruling in (("Ann", "allow"), ("slack:T1/U1", "allow"), ("crew", "deny"), ("slack:T1/U9", "ask")):
        assert signalbox(tmp_path, *call, "--person", known, *given).stdout.startswith(f"{ruling}: "), known


@pytest.mark.xdist_group("cli")
def test_a_mode_is_set_and_listed(file: Path, tmp_path: Path) -> None:
    given = ["--config", str(file)]
    signalbox(tmp_path, "ask", "hello", "--room", "moderoom1", *given)
    assert signalbox(tmp_path, "policy", "modes", *given).stdout == "Every conversation is in normal mode.\n"
    made = signalbox(tmp_path, "policy", "mode", "web:main/moderoom1", "read-only", *given)
    assert made.stdout.endswith(": read-only: I look things up, and change nothing.\n"), made
    denied = signalbox(tmp_path, "ask", "write hello to a.txt", "--room", "moderoom1", *given)
    assert "which I don't have here" in denied.stdout, denied
    listed = signalbox(tmp_path, "policy", "modes", "--json", *given)
    assert [(row["mode"], row["until"]) for row in json.loads(listed.stdout)] == [("read-only", None)]
    assert "web:main/moderoom1" in listed.stdout
    assert "read-only" in signalbox(tmp_path, "policy", "modes", *given).stdout
    assert signalbox(tmp_path, "policy", "mode", "web:main/moderoom1", "trusted", *given).returncode == 1
    mistyped = signalbox(tmp_path, "policy", "mode", "web:mian/moderoom1", "plan", *given)
    told = "signalbox: No account web:mian has run here yet. Check its name, or start Signalbox with it once.\n"
    assert (mistyped.returncode, mistyped.stderr) == (1, told)


@pytest.mark.xdist_group("cli")
def test_a_question_is_explained_by_the_rules_of_today(file: Path, tmp_path: Path) -> None:
    given = ["--config", str(file)]
    assert "There is no owner yet" in signalbox(tmp_path, "policy", "explain", "--last", *given).stderr
    signalbox(tmp_path, "people", "add", "Ann", "--role", "owner", *given)
    asked = signalbox(tmp_path, "ask", "run: rm -r build", "--room", "explained1", *given)
    [approval] = re.findall(r"approvals approve (\w+)", asked.stderr)
    explained = signalbox(tmp_path, "policy", "explain", approval[:10], *given)
    assert re.match(r"shell in .*, for \w+: pending\.\n", explained.stdout), explained
    assert "ask: No rule matches, and a tool that may change anything is asked about." in explained.stdout
    assert signalbox(tmp_path, "policy", "explain", "nothing", *given).returncode == 1
