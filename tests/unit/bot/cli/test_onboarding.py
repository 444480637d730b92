"""`signalbox onboard`: a cause for each fault, a task that really runs, and no harm from a second run."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.onboarding.first_task import Tried, told
from bot.onboarding.looking import cause_of
from bot.onboarding.report import Report
from bot.settings.settings import Settings, load
from bot.telemetry import logs
from bot.tryouts.causes import CauseWord
from runtime.contract import Finding, Level
from runtime.domain.transcript import ERROR


@pytest.fixture(autouse=True)
def _log_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sets up the log of its process, and here that is the process of the tests."""
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, environ={"HOME": str(tmp_path)}, folder=tmp_path)


@pytest.mark.parametrize(
    ("ident", "what", "cause"),
    [
        ("model.answers", "The model's provider refused the key (401): check it.", CauseWord.KEY_REFUSED),
        ("model.answers", "The model's server can't be reached.", CauseWord.PROVIDER_UNREACHABLE),
        ("model.answers", "The account behind the key for m has no credit left (402).", CauseWord.QUOTA),
        ("model.answers", "The model m is unknown to its provider (404).", CauseWord.MODEL_UNAVAILABLE),
        ("model.served", "The server at http://a has no model m.", CauseWord.MODEL_UNAVAILABLE),
        ("model.key", "it needs a key, and none was found", CauseWord.KEY_REFUSED),
        ("sandbox.works", "bubblewrap is not installed", CauseWord.SANDBOX_MISSING),
        ("data_dir.space", "only 3 MiB free", CauseWord.DISK),
        ("store.reachable", "it is away", CauseWord.DATABASE),
        ("web.port", "127.0.0.1:8080 is in use by another program", CauseWord.PORT_TAKEN),
        ("settings.valid", "web.port: 1.5", CauseWord.SETTINGS),
    ],
)
def test_each_fault_has_its_cause(ident: str, what: str, cause: CauseWord) -> None:
    assert cause_of(Finding(Level.ERROR, ident, what)) is cause


@pytest.mark.parametrize(
    ("view", "run", "cause", "code"),
    [
        ({}, {"steps": [{"kind": "tool", "tool": "ls", "result": "a.txt"}]}, None, 0),
        ({}, {"steps": [{"kind": "tool", "tool": "ls", "result": f"{ERROR}no such folder"}]}, CauseWord.TOOL_ERROR, 1),
        ({"run": "failed"}, {"error": "The model did not answer within 20 s."}, CauseWord.PROVIDER_UNREACHABLE, 1),
        ({"run": "stopped"}, {}, CauseWord.OTHER, 1),
        ({"approvals": [{"question": "May I?"}]}, {}, CauseWord.WAITS, 3),
    ],
)
def test_a_task_ends_with_its_cause_and_code(
    view: dict[str, Any], run: dict[str, Any], cause: CauseWord | None, code: int, settings: Settings
) -> None:
    tried = told(Tried("ls", "room00"), {"approvals": [], "run": "done", **view}, run, settings)
    assert tried.cause is cause
    assert bool(tried.fix) is bool(cause)
    report = Report(tried=tried)
    assert report.code == code
    assert (report.as_json()["failure"] or {}).get("cause") == cause


def test_it_sets_up_tries_and_does_no_harm_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    first = runner.invoke(cli, ["onboard", "--owner", "ada", "--port", "0", "--yes"])
    assert first.exit_code == 0, first.output
    assert "“list the files”: answered in" in first.output
    assert "Everything works." in first.output
    before = (tmp_path / "signalbox.toml").read_bytes()

    with socket.create_server(("127.0.0.1", 0)) as other:
        (tmp_path / "signalbox.toml").write_bytes(before.replace(b"port = 0", b"port = %d" % other.getsockname()[1]))
        second = runner.invoke(cli, ["onboard", "--json"])
        report = json.loads(second.stdout)
    assert (second.exit_code, report["failure"]["cause"]) == (1, "port taken")
    assert report["task"]["tools"] == ["list_files"]
    assert report["made"] is False

    refused = runner.invoke(cli, ["onboard", "--model", "demo"])
    assert refused.exit_code == 2
    assert "onboard changes no settings" in refused.output
