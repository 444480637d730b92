"""`signalbox service` as it is typed, on a machine without a systemd of the user; and flags that can't be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli.root import cli
from bot.node.invocation import as_called

Call = Callable[..., Result]
ACCOUNT = '[[accounts]]\nchannel = "telegram"\nname = "work"\ntoken = "1001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\n'


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    (tmp_path / "signalbox.toml").write_text(
        f'[[models]]\nname = "sonnet"\nmodel = "anthropic/x"\napi_key = "k"\n{ACCOUNT}'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # no systemctl in there
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda *words: CliRunner().invoke(cli, list(words))


def test_without_a_service_the_way_to_one_is_told(call: Call) -> None:
    for verb in ("start", "stop", "restart", "logs", "uninstall"):
        ended = call("service", verb)
        assert (ended.exit_code, "Make one: signalbox service install" in ended.output) == (2, True)
    assert call("service", "status").exit_code == 3
    assert json.loads(call("service", "status", "--json").stdout) == {"installed": False, "runs": False}


def test_an_installation_keeps_its_flags_and_its_files(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.env").write_text("LANG=C\n")
    ended = call("service", "install", "--env", "x.env", "--with", "work", "--model", "sonnet", "--port", "0")
    assert ended.exit_code == 0, ended.output
    kept = json.loads((tmp_path / "var" / "service.json").read_text())
    words = ["--config", str(tmp_path / "signalbox.toml"), "--env", str(tmp_path / "x.env"), "run"]
    assert kept["arguments"] == [*words, "--port", "0", "--model", "sonnet", "--with", "work"]
    assert kept["kind"] == "detached"
    told = json.loads(call("service", "status", "--json").stdout)
    assert (told["installed"], told["runs"], told["pid"]) == (True, False, None)
    assert "Remove that one first" in call("service", "install", "--name", "other").output
    assert call("service", "uninstall").exit_code == 0


def test_what_is_wrong_in_the_settings_keeps_nobody_from_stopping(call: Call, tmp_path: Path) -> None:
    assert call("service", "install").exit_code == 0
    (tmp_path / "signalbox.toml").write_text("[web]\nport = true\n")
    assert call("service", "stop").output == "It wasn't running.\n"
    assert call("service", "status").exit_code == 3
    assert "web.port" in call("service", "restart").output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["install", "--with", "wrok"], "did you mean work?"),
        (["install", "--with", " , "], "--with: expected the name"),
        (["install", "--model", "openai2/x"], 'no provider "openai2"'),
        (["install", "--model", "foo/bar"], "with a vendor such as anthropic"),
        (["install", "--mock-tools", "none.toml"], "is none (No such file or directory)"),
        (["install", "--shutdown-timeout", "0"], "nodes.shutdown_seconds"),
        (["install", "--name", "../x"], "--name ../x: expected"),
        (["install", "--env", "none.env"], "there is no file none.env"),
        (["install", "--log-file", "signalbox.toml/x.log"], "can't be written"),
        (["install", "--no-guardrails", "--enforce-guardrails"], "contradict"),
        (["stop", "--shutdown-timeout", "nan"], "--shutdown-timeout"),
        (["start", "--wait", "inf"], "expected seconds"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_done(
    call: Call, words: list[str], told: str, tmp_path: Path
) -> None:
    if words[0] != "install":
        call("service", "install")
    ended = call("service", *words)
    assert (ended.exit_code, told in ended.output) == (2, True), ended.output
    assert not (tmp_path / "var" / "service.pid").exists()


def test_commands_are_printed_with_the_files_that_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["signalbox", "--config", "a b.toml", "--env=x.env", "service", "start"])
    assert as_called("signalbox people link").endswith("signalbox --config 'a b.toml' --env x.env people link")


def test_the_line_for_cron_names_the_folder_from_which_it_finds_its_data(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "signalbox.toml").unlink()
    monkeypatch.setenv("SIGNALBOX_DATA_DIR", "my data")
    said = call("service", "install", "--detached").output
    assert f"@reboot cd {tmp_path} && SIGNALBOX_DATA_DIR='{tmp_path}/my data' /" in said
    assert said.rstrip().partition("@reboot")[2].splitlines()[0].endswith("service start")
