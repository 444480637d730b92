"""Interceptors of the settings and the page about them: its program and its package answer as told, and what can't work is named."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.doctor.machine.interceptors import check_interceptors
from bot.doctor.subject import Subject
from bot.settings.settings import Settings, load
from bot.telemetry import logs
from bot.wiring.safety.interceptor_trials import Trial, example_of, tried
from bot.wiring.safety.interceptors import interceptors_of
from runtime.contract import Level
from runtime.contract.agents.interceptors import AnswerKind, Point
from runtime.errors import ConfigError
from runtime.guard.door import OPEN_DOOR
from tests.unit.test_docs import DOCS, blocks

PAGE: Final = DOCS / "interceptors.md"
SYSTEM: Final = {"PATH": "/usr/bin:/bin"}  # of programs that everybody may start, as whomever tools run


@pytest.fixture
def written() -> Iterator[Path]:
    """The files of the page, where a sandbox can see them: /tmp is empty in there."""
    with tempfile.TemporaryDirectory(prefix="signalbox-", dir="/var/tmp") as made:
        folder = Path(made)
        folder.chmod(0o755)
        for block in blocks(PAGE):
            for name in (mark.removeprefix("file=") for mark in block.marks if mark.startswith("file=")):
                (folder / name).write_text(block.text, encoding="utf-8")
                (folder / name).chmod(0o644)
        yield folder


@pytest.fixture
def site(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of the page, as pip leaves it."""
    about = written / "acme_offices-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-offices\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[signalbox.interceptors]\noffices = acme_offices:look\n")
    monkeypatch.syspath_prepend(written)
    return written


def settings_in(folder: Path, text: str) -> Settings:
    (folder / "signalbox.toml").write_text(text, encoding="utf-8")
    return load(folder=folder, environ=SYSTEM)


async def asked(settings: Settings, at: Point, **given: Any) -> Trial:
    trial = await tried(settings, settings.interceptors[0], example_of(at, **given))
    if "without a sandbox" in trial.fault and os.environ.get("CI") != "true":
        pytest.skip(trial.fault)
    return trial


@pytest.mark.skipif(
    sys.platform != "linux" or not Path("/usr/bin/python3").exists(), reason="needs the system's Python"
)
async def test_the_program_of_the_page_answers_as_told(written: Path) -> None:
    settings = load(folder=written, environ=SYSTEM)
    answers = {
        command: (await asked(settings, Point.BEFORE_TOOL, arguments={"command": command})).answer
        for command in ("uname -a", "deploy prod", "apt install jq", "git push --force")
    }
    told = {command: (answer.kind, dict(answer.values)) for command, answer in answers.items() if answer}
    assert told == {
        "uname -a": (AnswerKind.ALLOW, {}),
        "deploy prod": (AnswerKind.ASK, {}),
        "apt install jq": (AnswerKind.REPLACE, {"arguments": {"command": "apt install jq --simulate"}}),
        "git push --force": (AnswerKind.DENY, {}),
    }


async def test_the_package_of_the_page_answers_as_told(site: Path) -> None:
    text = '[[interceptors]]\nname = "offices"\nat = ["before_tool", "before_show"]\npackage = "offices"\n'
    settings = settings_in(site, text)
    asks = await asked(settings, Point.BEFORE_TOOL, arguments={"to": "ann@else.example"})
    shows = await asked(settings, Point.BEFORE_SHOW)
    assert asks.answer is not None
    assert shows.answer is not None
    assert (asks.answer.kind, asks.answer.reason) == (AnswerKind.ASK, "ann@else.example isn't at Acme.")
    assert shows.answer.values == {"text": "Hello!\n\n(Acme's assistant)"}
    [finding] = await check_interceptors(Subject(settings, None, None, None, live=False))
    assert finding.level is Level.OK
    assert "answers in" in finding.what


async def test_what_cannot_work_is_told_by_doctor_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)  # it would hold for all later tests of this process
    gone = '[[interceptors]]\nname = "warden"\nat = "before_tool"\ncommand = ["no-such-warden"]\n'
    nobody = '[[interceptors]]\nname = "nobody"\nat = "run_end"\npackage = "nobody"\n'
    settings = settings_in(tmp_path, gone + nobody)
    first, second = await check_interceptors(Subject(settings, None, None, None, live=False))
    assert (first.level, second.level) == (Level.WARNING, Level.WARNING)
    assert "there is no program 'no-such-warden'" in first.what
    assert "denied" in first.why
    assert "no installed package provides the interceptor nobody" in second.what


def test_the_command_lists_and_tries(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)  # it would hold for all later tests of this process
    text = (
        '[[interceptors]]\nname = "offices"\nat = "before_tool"\npackage = "offices"\nwhere = { tools = ["mail_*"] }\n'
    )
    settings_in(site, text)

    def told(*words: str) -> tuple[int, str]:
        ended = CliRunner().invoke(cli, ["--config", str(site / "signalbox.toml"), "interceptors", *words])
        return ended.exit_code, ended.output

    code, listed = told("list")
    assert code == 0
    assert [word in listed for word in ("offices", "package offices", "tools: mail_*", "denies at before_tool")] == [
        True
    ] * 4
    code, shown = told("test", "offices", "--arg", "to=bob@else.example")
    assert code == 0
    assert shown.startswith("before_tool: ask\n  reason: bob@else.example isn't at Acme.\n")
    assert "its `where` leaves this out" in told("test", "offices", "--tool", "look", "--arg", "to=x")[1]
    assert "leaves this out" not in told("test", "offices", "--tool", "mail_send", "--arg", "to=x")[1]
    assert told("test", "nobody")[0] != 0
    assert told("test", "offices", "--at", "run_end")[0] != 0


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ('at = "before_tool"', 'interceptors[1].command ("warden"): is missing'),
        ('at = "before_tool"\ncommand = ["a"]\npackage = "b"', "and package are both set"),
        ('at = "before_tools"\ncommand = ["a"]', "did you mean before_tool?"),
        ('at = []\ncommand = ["a"]', "at least one point"),
        ('at = "run_end"\ncommand = ["a"]\nwhere = { tools = ["x"] }', "no tool is called there"),
        ('at = "run_end"\ncommand = ["a"]\non_failure = "deny"', "nothing is stopped there"),
        ('at = "run_end"\npackage = "a"\nnetwork = true', "only goes with a command"),
        ('at = "run_end"\ncommand = ["a"]\nwhere = { tool = ["x"] }', "where.tool"),
    ],
)
def test_a_table_that_means_nothing_is_refused_in_words(table: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        settings_in(tmp_path, f'[[interceptors]]\nname = "warden"\n{table}\n')
    assert fault in str(refused.value)


def test_an_agent_that_nobody_looks_at_has_nobody(site: Path) -> None:
    text = (
        '[[interceptors]]\nname = "offices"\nat = "before_tool"\npackage = "offices"\nwhere = { agents = ["coder"] }\n'
    )
    parts = interceptors_of(settings_in(site, text), str, _note, OPEN_DOOR)
    assert parts.of_agent("main") is None
    assert parts.of_agent("coder") is not None
    parts.chain.tally.figures["offices", "deny"] = 2
    assert parts.words() == "offices; denied 2 since this process started"


async def _note(kind: str, by: str, subject: str, detail: str) -> None:
    """Nothing is denied here."""
