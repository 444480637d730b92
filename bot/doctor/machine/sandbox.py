"""The sandbox of the shell tool: does it work here, and what does it bound."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.wiring.engine import shell_of
from runtime.contract import Finding
from tools.sandbox.seccomp import call_filter
from tools.sandbox.shell import sandbox_for

CGROUPS: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
WHY_SANDBOX = "The agent's shell commands must not reach your files or the network."


async def check_sandbox(subject: Subject) -> Sequence[Finding]:
    settings = shell_of(subject.settings)
    sandbox = sandbox_for(settings)
    trouble = await sandbox.self_test()
    if trouble is not None:
        make = fault if settings.required else warning
        return [make("sandbox.works", trouble, WHY_SANDBOX, "do what it says, then check again: signalbox doctor")]
    bounds = (
        f"a process gets {settings.memory_mib} MiB of memory and {settings.cpu_seconds} s; a command "
        f"{settings.processes} processes and {settings.timeout_seconds:g} s. {_sum()}"
    )
    if sandbox.caution:
        fix = 'set [tools.shell] sandbox = "auto" where there is no container around Signalbox'
        return [
            warning("sandbox.works", "external: the container is the boundary", WHY_SANDBOX, fix),
            fine("sandbox.bounds", bounds),
        ]
    works = "shell commands run in bubblewrap, without network"
    if call_filter():
        works = f"{works}, and system calls no command needs are blocked"
        return [fine("sandbox.works", works), fine("sandbox.bounds", bounds)]
    what = f"there is no list of system calls for {platform.machine()}, so none are blocked"
    unfiltered = warning(
        "sandbox.calls", what, WHY_SANDBOX, "keep the kernel up to date, or use an x86_64 or aarch64 machine"
    )
    return [fine("sandbox.works", works), unfiltered, fine("sandbox.bounds", bounds)]


def _sum() -> str:
    """The limits on all of them together, set by the control group of Signalbox and its tools, or the way to set some."""
    bounds = dict(sum_bounds())
    if not bounds:
        way = "set MemoryMax and TasksMax in the unit, or start the container with limits"
        return f"There is no overall limit: {way}"
    told = ", ".join(f"{name} {bound}" for name, bound in bounds.items())
    return f"All of them and Signalbox together are limited by cgroup v2: {told}"


def sum_bounds(own: Path = OWN, groups: Path = CGROUPS) -> Iterator[tuple[str, str]]:
    """The nearest bounds of memory (bytes) and tasks in cgroup v2 above this process, by their files' names."""
    try:
        lines = own.read_text().splitlines()
    except OSError:  # not Linux
        return
    place = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if place is None or not (groups / "cgroup.controllers").exists():
        return
    group = groups / place
    for name in ("memory.max", "pids.max"):
        for folder in (group, *group.parents):
            if not folder.is_relative_to(groups):
                break
            with suppress(OSError):
                if (bound := (folder / name).read_text().strip()) != "max":
                    yield name, bound
                    break
