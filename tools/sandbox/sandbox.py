"""Sandboxes for shell commands: the settings, what every sandbox offers, and the limits they share."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal, Protocol

from runtime.errors import ToolFailed
from tools.kit.process import Ended, capture
from tools.sandbox import launcher
from tools.sandbox.launcher import Order

PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OPEN_FILES: Final = 1024
PROVIDED: Final = "SKILL"
"""The variable with the folder that a command is provided with."""
LENT_TEXT: Final = "SIGNALBOX_LENT_"
"""Begins variables in which the launcher is handed the texts of files."""
LONGEST_ORDER: Final = 120_000  # bytes; Linux takes 131,072 in one argument (MAX_ARG_STRLEN)


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """Settings for commands. Memory, file size, processor time and open files are limited per process.

    `auto` is bubblewrap where it works and no shell elsewhere; `bwrap` is the same for an operator who wants a start
    without it to fail; `external` runs commands bare: the container around the program is the boundary. `uid` is the
    user that commands run as if the program runs as root. `processes` counts one sandbox's, threads included.
    """

    sandbox: Literal["auto", "bwrap", "external"] = "auto"
    uid: int = 65534
    memory_mib: int = 1024
    processes: int = 128
    file_mib: int = 256
    cpu_seconds: int = 60
    timeout_seconds: float = 60

    @property
    def required(self) -> bool:
        """True if the program must not start when the sandbox cannot."""
        return self.sandbox == "bwrap"

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


@dataclass(frozen=True, slots=True)
class Provided:
    """Things for one command beside its workspace: `files` below `folder`, which it can read alone, and `variables`.

    Nobody sees the variables in a list of processes. `secret_files` are texts by the variable that names the path of each: they
    lie in files that the command alone can read, and only while it runs.
    """

    folder: Path
    files: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def handed(self) -> dict[str, str]:
        """Variables for the launcher: those of the command, and the texts of files under names that it keeps to itself."""
        return {**self.variables, **{f"{LENT_TEXT}{name}": text for name, text in self.secret_files.items()}}


class Sandbox(Protocol):
    """A place for commands."""

    @property
    def caution(self) -> str:
        """A sentence for the approval card; empty when there is nothing to fear."""

    @property
    def has_network(self) -> bool:
        """True if commands may reach the network."""

    async def self_test(self) -> str | None:
        """Find out, once, whether commands can run here: None, or the reason and the way out in a sentence."""

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        """Run a shell command in `workspace`, keeping `limit` characters. Errors: ToolFailed when it cannot start.

        `writes`: bytes that a file may grow to, where that is less than the settings say. A folder that is `provided` is
        named by the variable PROVIDED.
        """

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        """Order to become a shell command that lives on, with so much processor time. Errors: ToolFailed if none may start."""


def limits(settings: ShellSettings, writes: int | None = None) -> dict[str, int]:
    """The limits that each process inherits, by resource name. Processes are counted elsewhere: see `shell_argv`."""
    largest = settings.file_mib << 20
    return {
        "AS": settings.memory_mib << 20,
        "FSIZE": largest if writes is None else min(writes, largest),
        "CPU": settings.cpu_seconds,
        "NOFILE": OPEN_FILES,
        "CORE": 0,
    }


def shell_argv(command: str, processes: int) -> list[str]:
    """A shell that bounds the number of processes, then runs `command`.

    The kernel counts processes by user and user namespace. So this limit is set inside, where only the sandbox's own
    count; set before it, it would compare with all the processes of an ordinary user's desktop.
    """
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    # -u is bash's and busybox's letter, -p is dash's. A lower limit that is there already stays.
    bound = (
        f'ulimit -u {processes} 2>/dev/null || ulimit -p {processes} 2>/dev/null || [ "$(ulimit -u)" -lt {processes} ]'
    )
    refuse = f"{{ echo 'sandbox: the number of processes cannot be bounded'; exit {launcher.EXIT_NOT_RUN}; }}"
    return [shell, "-c", f'{bound} || {refuse}; exec {shell} -c "$1"', "sh", command]


def launcher_argv(order: Order) -> list[str]:
    """The program that carries out `order`. Errors: ToolFailed for one that is too long."""
    text = json.dumps(order, ensure_ascii=False)
    if len(text.encode()) > LONGEST_ORDER:
        raise ToolFailed("The command is too long; write it to a file with write_file and run that.")
    return [sys.executable, "-I", "-S", launcher.__file__, text]


async def launch(
    order: Order, workspace: Path, *, deadline: timedelta, limit: int, variables: Mapping[str, str] | None = None
) -> Ended:
    """Carry out `order` in `workspace`. Errors: ToolFailed when it cannot even start.

    `variables` are for those names that the order inherits.
    """
    argv = launcher_argv(order)
    try:
        return await capture(argv, cwd=workspace, deadline=deadline, limit=limit, env=variables or {})
    except OSError as error:
        raise ToolFailed(f"The command could not be started: {error.strerror}.") from error
