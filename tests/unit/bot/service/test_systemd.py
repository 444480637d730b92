"""A unit of the user's systemd: what is asked of it, and what its text says to the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.service.detached import ALREADY
from bot.service.systemd import UserUnit, has_user_systemd, lingers, unit_folder
from bot.service.unit_text import owner_of, quoted, unit_text
from runtime.errors import BotError, ConfigError

FAKE = Path(__file__).with_name("systemctl.sh")
SOON = timedelta(seconds=0.5)
PATIENCE = timedelta(seconds=10)


@dataclass
class Machine:
    folder: Path
    units: Path
    data: Path

    @property
    def unit(self) -> UserUnit:
        return UserUnit("signalbox", self.units, self.data)

    def text(self, *words: str) -> str:
        command = ["/opt/signalbox/bin/signalbox", "run", *words]
        return unit_text(
            name="signalbox.service",
            command=command,
            folder=self.data,
            data_dir=self.data,
            shutdown=timedelta(seconds=9.5),
            variables={"PATH": "/usr/bin"},
        )

    def asked(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()

    def is_to(self, *states: str) -> None:
        for state in states:
            (self.folder / state).touch()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    programs, made = tmp_path / "bin", Machine(tmp_path, tmp_path / "systemd" / "user", tmp_path / "data")
    programs.mkdir()
    made.data.mkdir()
    for name in ("systemctl", "journalctl", "loginctl"):
        (programs / name).symlink_to(FAKE)
    (tmp_path / "pid").write_text(str(os.getpid()))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE", str(tmp_path))
    monkeypatch.setenv("UNITS", str(made.units))
    return made


def test_a_unit_is_installed_started_asked_stopped_and_removed(machine: Machine) -> None:
    unit = machine.unit
    assert has_user_systemd()
    assert not lingers()
    assert unit.install(machine.text())
    assert not unit.install(machine.text())
    assert not unit.state().runs
    state = unit.start(PATIENCE)
    assert (state.pid, state.kind, state.name, state.note) == (os.getpid(), "systemd", "signalbox.service", "")
    assert unit.start(PATIENCE).note == ALREADY
    assert unit.stop(None)
    assert not unit.stop(None)
    unit.uninstall()
    assert not unit.path.exists()
    assert machine.asked()[-1] == "systemctl --user daemon-reload"


def test_a_start_that_fails_tells_the_end_of_its_journal(machine: Machine) -> None:
    machine.unit.install(machine.text())
    machine.is_to("fails")
    with pytest.raises(BotError, match=r"Job for signalbox.service failed\.\n  signalbox: model.name: is wrong\."):
        machine.unit.start(PATIENCE)
    assert machine.unit.state().note == "systemd says: failed, exit-code"


def test_a_start_that_takes_long_is_left_to_it_and_a_stop_that_does_is_forced(machine: Machine) -> None:
    machine.unit.install(machine.text())
    machine.is_to("hangs")
    with pytest.raises(BotError, match="goes on starting"):
        machine.unit.start(SOON)
    (machine.folder / "active").write_text(str(os.getpid()))
    assert machine.unit.stop(SOON)
    assert "systemctl --user kill --signal=SIGKILL signalbox.service" in machine.asked()


@pytest.mark.parametrize("theirs", ["[Service]\nExecStart=/bin/true\n", ""])
def test_a_unit_of_somebody_else_is_neither_written_nor_removed(machine: Machine, theirs: str) -> None:
    machine.units.mkdir(parents=True)
    machine.unit.path.write_text(theirs)
    with pytest.raises(ConfigError, match=r"isn't this service's.*Name another one with --name"):
        machine.unit.install(machine.text())
    machine.unit.uninstall()
    assert machine.unit.path.read_text() == theirs


def test_the_unit_of_another_data_folder_is_left_alone(machine: Machine) -> None:
    machine.unit.install(machine.text())
    with pytest.raises(ConfigError, match=f"it works on {machine.data}"):
        UserUnit("signalbox", machine.units, machine.folder / "other").install(machine.text())


def test_without_a_systemd_of_the_user_there_is_none(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.is_to("away")
    assert not has_user_systemd()
    monkeypatch.setenv("PATH", str(machine.folder / "nothing"))
    assert not has_user_systemd()


def test_a_user_without_a_home_has_no_place_for_a_unit() -> None:
    with pytest.raises(ConfigError, match="--detached"):
        unit_folder(None)


def test_a_strange_path_or_flag_stays_one_word() -> None:
    assert quoted('/srv/a "b" 50%/$x', is_command=True) == '"/srv/a \\"b\\" 50%%/$$x"'
    assert owner_of("# Made by somebody") is None


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze here")
def test_the_real_systemd_finds_no_fault_in_the_text(tmp_path: Path) -> None:
    folder = tmp_path / 'a "b" 50% $x'
    folder.mkdir()
    text = unit_text(
        name="signalbox.service",
        command=["/bin/sh", "--config", str(folder / "signalbox.toml"), "run", "--model", "openai/gpt-4o"],
        folder=folder,
        data_dir=folder,
        shutdown=timedelta(seconds=30),
        variables={"PATH": f"/usr/bin:{folder}"},
    )
    unit = tmp_path / "signalbox.service"
    unit.write_text(text)
    told = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"},
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert "TimeoutStopSec=35\n" in text
