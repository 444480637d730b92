"""config/signalbox.service: what it says, and what happens when its commands are run as systemd runs them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.settings.sections.operating import Nodes
from tests.packaging.conftest import Installed
from tests.packaging.environment import ROOT, SPAN, bare, documented, run
from tests.packaging.service import Service, serving
from tests.packaging.unit_file import Unit

pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.timeout(180)]

FILE: Final = ROOT / "config" / "signalbox.service"
WATCHDOG: Final = timedelta(seconds=0.3)

# Names of systemd.unit(5), systemd.service(5), systemd.exec(5) and systemd.kill(5) of systemd 252, as far as we use them:
# systemd takes no notice of a name that it does not know, so a slip of the pen would be a protection less.
KNOWN: Final = {
    "Unit": "Description Wants After StartLimitIntervalSec",
    "Service": """
        Type ExecStart ExecReload User Group StateDirectory StateDirectoryMode WorkingDirectory Environment UMask
        LoadCredential TimeoutStartSec TimeoutStopSec WatchdogSec KillMode Restart RestartSec NoNewPrivileges
        CapabilityBoundingSet AmbientCapabilities ProtectSystem ProtectHome PrivateTmp PrivateDevices ProtectClock
        ProtectControlGroups ProtectKernelModules RestrictNamespaces RestrictAddressFamilies SystemCallFilter
        SystemCallErrorNumber SystemCallArchitectures MemoryDenyWriteExecute LockPersonality RestrictRealtime
        RestrictSUIDSGID RemoveIPC KeyringMode
    """,
    "Install": "WantedBy",
}


@dataclass
class Machine:
    """Folders of a machine of its own, and the service manager's end of the socket."""

    unit: Unit
    folder: Path
    ear: socket.socket

    @property
    def data(self) -> Path:
        return self.folder / "lib" / "signalbox"

    @property
    def settings(self) -> Path:
        return self.folder / "etc" / "signalbox" / "signalbox.toml"

    @property
    def variables(self) -> dict[str, str]:
        return bare(self.folder) | self.unit.variables() | {"SIGNALBOX_WEB__PORT": "0"}

    def told(self, word: str) -> list[str]:
        """The next datagram with `word`, as its lines."""
        end = time.monotonic() + SPAN
        while time.monotonic() < end:
            lines = self.ear.recv(4096).decode().split("\n")
            if word in lines:
                return lines
        raise AssertionError(f"{word} was never told")

    def hears_anew(self) -> None:
        """Forget what was told so far: what nobody reads fills the socket."""
        self.ear.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                self.ear.recv(4096)
        self.ear.settimeout(SPAN)

    def reload(self) -> subprocess.CompletedProcess[str]:
        return run(*self.unit.words("ExecReload"), folder=self.data, variables=self.variables)


@pytest.fixture
def unit() -> Unit:
    return Unit(FILE, {"%S": "/var/lib", "%E": "/etc", "%d": "/run/credentials/signalbox.service"})


@pytest.fixture
def machine(installed: Installed, tmp_path: Path) -> Iterator[Machine]:
    with machine_in(tmp_path, installed) as made:
        yield made


@contextmanager
def machine_in(folder: Path, installed: Installed) -> Iterator[Machine]:
    places = {"/opt/signalbox": installed.home, "%S": folder / "lib", "%E": folder / "etc", "%d": folder / "run"}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(str(folder / "notify"))
        ear.settimeout(SPAN)
        made = Machine(Unit(FILE, {place: str(path) for place, path in places.items()}), folder, ear)
        made.data.mkdir(parents=True)
        made.settings.parent.mkdir(parents=True)
        yield made


@pytest.fixture(scope="module")
def serving_machine(
    installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Machine, Service]]:
    """A machine on which the service runs until a test asks it to leave."""
    with machine_in(tmp_path_factory.mktemp("machine"), installed) as machine, started(machine) as service:
        yield machine, service


@contextmanager
def started(machine: Machine) -> Iterator[Service]:
    """It, as Type=notify starts it: ready when it says so."""
    watched = {
        "NOTIFY_SOCKET": str(machine.folder / "notify"),
        "WATCHDOG_USEC": str(WATCHDOG // timedelta(microseconds=1)),
    }
    command = machine.unit.words("ExecStart")
    variables = machine.variables | watched
    with serving(command, folder=machine.data, data=machine.data, variables=variables, ready=False) as service:
        assert machine.told("READY=1") == ["READY=1", f"STATUS=Ready at {service.url}"]
        yield service


def test_each_name_is_one_that_systemd_knows(unit: Unit) -> None:
    for line in unit.lines:
        assert line.name in KNOWN[line.section].split(), line


def test_systemd_itself_has_no_complaint(installed: Installed, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not on this machine")
    copy = tmp_path / "signalbox.service"
    copy.write_text(FILE.read_text().replace("/opt/signalbox", str(installed.home)))
    ended = run(program, "verify", "--man=no", "--recursive-errors=no", copy, folder=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_it_is_given_the_time_it_takes(unit: Unit) -> None:
    assert unit.span("TimeoutStopSec") > Nodes().shutdown
    assert unit.span("WatchdogSec") > 2 * Nodes().shutdown  # a drain is no hang


def test_it_comes_back_whatever_ended_it(unit: Unit) -> None:
    assert unit.one("Restart") == "on-failure"
    assert unit.one("StartLimitIntervalSec") == "0"
    assert unit.span("RestartSec") >= timedelta(seconds=1)


def test_what_the_sandbox_of_the_shell_needs_is_left_to_it(unit: Unit) -> None:
    assert set(unit.words("RestrictNamespaces")) == {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"}
    assert {"@system-service", "@mount", "sethostname"} <= set(unit.words("SystemCallFilter"))
    assert "AF_NETLINK" in unit.words("RestrictAddressFamilies")
    for name in ("ProtectKernelTunables", "ProcSubset", "ProtectHostname", "ProtectProc", "ProtectKernelLogs"):
        assert unit.all(name) == []


def test_it_runs_as_nobody_in_particular_without_any_capability(unit: Unit) -> None:
    assert unit.one("User") == "signalbox"
    assert unit.one("NoNewPrivileges") == "yes"
    assert unit.one("CapabilityBoundingSet") == unit.one("AmbientCapabilities") == ""
    assert unit.one("ProtectSystem") == "strict"


def test_a_hangup_reloads_as_type_notify_reload_wants_it(serving_machine: tuple[Machine, Service]) -> None:
    machine, service = serving_machine
    machine.settings.write_text('[log]\nlevel = "loud"\n')  # also after a failure it is ready again
    service.process.send_signal(signal.SIGHUP)
    stamp = machine.told("RELOADING=1")[1]
    assert re.fullmatch(r"MONOTONIC_USEC=\d+", stamp)
    assert machine.told("READY=1")
    assert "the settings are not reloaded" in service.log.read_text()


def test_a_reload_takes_the_settings_over_or_fails_with_what_is_wrong(serving_machine: tuple[Machine, Service]) -> None:
    machine, service = serving_machine
    machine.settings.write_text('[log]\nlevel = "debug"\n')
    taken = machine.reload()
    assert (taken.returncode, taken.stdout) == (0, "Changed: log.level (info to debug).\n")
    machine.settings.write_text('[log]\nlevel = "loud"\n')
    refused = machine.reload()
    assert refused.returncode == 2
    assert str(machine.settings) in refused.stderr
    assert service.process.poll() is None


def test_it_says_when_it_is_ready_alive_and_leaving(serving_machine: tuple[Machine, Service]) -> None:
    machine, service = serving_machine
    machine.hears_anew()
    for _ in range(3):
        machine.told("WATCHDOG=1")
    assert service.leave() == 0
    machine.told("STOPPING=1")
    assert (machine.data / "signalbox.db").is_file()


def test_the_operators_command_of_the_documents_finds_the_data(machine: Machine) -> None:
    """With `sudo` and `systemctl` in name only: they hand on what the unit says."""
    stubs = {"sudo": 'shift 2; exec "$@"', "systemctl": f"echo {shlex.join(machine.unit.words('Environment'))}"}
    for name, does in stubs.items():
        (machine.folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (machine.folder / name).chmod(0o755)
    script = documented("#!/bin/sh").replace("/opt/signalbox/bin/signalbox", machine.unit.words("ExecStart")[0])
    path = f"{machine.folder}:{os.defpath}"
    shown = run("/bin/sh", "-c", script, "sh", "config", "show", folder=machine.folder, variables={"PATH": path})
    assert f'data_dir = "{machine.data}"' in shown.stdout, shown.stderr


def test_a_credential_is_a_secret_of_the_settings(machine: Machine) -> None:
    (machine.folder / "run").mkdir()
    (machine.folder / "run" / "DATABASE_URL").write_text("sqlite:///elsewhere.db\n")
    machine.settings.write_text('database_url_env = "DATABASE_URL"\n')
    shown = run(
        *machine.unit.words("ExecStart")[:1], "config", "show", folder=machine.data, variables=machine.variables
    )
    assert "elsewhere.db" in shown.stdout
    assert f"DATABASE_URL in {machine.folder / 'run'}" in shown.stdout
