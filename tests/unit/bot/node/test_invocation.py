"""Commands that we tell people work as they are printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from bot.cli.root import cli
from bot.node.invocation import COMMANDS, as_called, called, for_strangers, with_extras


def test_every_command_is_known() -> None:
    assert set(COMMANDS) == set(get_command(cli).list_commands(None))  # type: ignore[attr-defined]  # it is a group


def test_a_program_that_is_not_on_the_path_is_called_by_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "signalbox"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    assert called(".venv/bin/signalbox") == ".venv/bin/signalbox"
    assert called(str(program)) == str(program)
    assert called("/somewhere/bot/__main__.py") == "signalbox"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert called(str(program)) == "signalbox"
    assert called(".venv/bin/signalbox") == ".venv/bin/signalbox"  # another one is on the PATH


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("For a new one: signalbox people link ada", "For a new one: ./sb people link ada"),
        ("`signalbox run` and signalbox doctor.", "`./sb run` and ./sb doctor."),
        ("signalbox is ready; made by signalbox 0.1", "signalbox is ready; made by signalbox 0.1"),
        ("/etc/signalbox run", "/etc/signalbox run"),
    ],
)
def test_commands_in_a_text_are_those_that_work(text: str, told: str) -> None:
    assert as_called(text, "./sb") == told


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("signalbox --config my.toml doctor", "signalbox --config my.toml run"),
        ("signalbox doctor --config=/etc/my.toml", "signalbox --config /etc/my.toml run"),
        ("signalbox doctor", "signalbox run"),
        ("signalbox ask -- --config x", "signalbox run"),
    ],
)
def test_commands_are_told_with_the_settings_of_this_one(
    monkeypatch: pytest.MonkeyPatch, typed: str, told: str
) -> None:
    monkeypatch.setattr("sys.argv", ["bot", *typed.split()[1:]])
    assert as_called("signalbox run") == told
    assert for_strangers() == "signalbox"


@pytest.mark.parametrize(
    ("started", "told"),
    [(".venv/bin/signalbox", ".venv/bin/signalbox"), ("/home/ada/.venv/bin/signalbox", "signalbox")],
)
def test_the_page_does_not_tell_strangers_where_we_live(
    monkeypatch: pytest.MonkeyPatch, started: str, told: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.argv", [started])
    assert for_strangers() == told


def test_an_extra_is_installed_as_a_clone_does_it_where_this_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = 'Install it: pip install "signalbox-bot[tui]". Without it: signalbox chat'
    assert with_extras(told, tmp_path) == told
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr("sys.executable", str(tmp_path / ".venv" / "bin" / "python"))
    pip = tmp_path / ".venv" / "bin" / "pip"
    assert f'{pip} install --editable "{tmp_path}[tui]". Without' in with_extras(told, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert '.venv/bin/pip install --editable ".[tui]". Without' in with_extras(told, tmp_path)
