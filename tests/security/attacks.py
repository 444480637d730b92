"""Attacks from inside the sandbox of the shell: places, devices, system calls. Also a program, for another user."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.security.bombs import bombs
from tools.files.workspace import own
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.sandbox import ShellSettings
from tools.sandbox.seccomp import AUDIT_ARCH, NONE, REFUSED

Case = tuple[bool, str]
"""True where it held, and words for where it did not."""

SETTINGS: Final = replace(ShellSettings(), memory_mib=512, file_mib=8, processes=40, timeout_seconds=20)
PLACES: Final = (
    *("/", "/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/etc", "/etc/passwd.d", "/dev", "/proc"),
    *("/proc/sys/kernel", "/proc/sys/vm", "/proc/self", "/sys", "/home", "/root", "/var", "/var/tmp", "/run", "/mnt"),
    *("/opt", "/srv", "/boot", "/workspace/.."),
)
HIDDEN: Final = (
    *("/etc/shadow", "/etc/ssl", "/etc/ssh", "/root", "/home", "/var", "/run", "/sys", "/proc/1/root/root", "/dev/mem"),
    *("/dev/kmsg", "/dev/sda"),
)
CALLS: Final = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {numbers!r}.items():
    ctypes.set_errno(0)
    done = libc.syscall(number, -1, -1, -1, -1, -1, -1)
    print(name, done == -1 and ctypes.get_errno() == errno.EPERM)
"""


async def walls(folder: Path) -> list[Case]:
    """Try what no command may do. Errors: RuntimeError says why it cannot be tried on this machine."""
    sandbox = await standing(SETTINGS)

    async def seen(command: str) -> str:
        return (await sandbox.run(command, folder, limit=20_000)).text

    wrote = (await seen(f"for p in {' '.join(PLACES)}; do (echo x >$p/probe) 2>/dev/null && echo $p; done")).split()
    read = (await seen(f"for p in {' '.join(HIDDEN)}; do ls -A $p 2>/dev/null | grep -q . && echo $p; done")).split()
    cases = [(place not in wrote, f"{place} can be written") for place in PLACES]
    cases += [(place not in read, f"{place} can be read") for place in HIDDEN]
    cases += await _calls(folder, seen)
    for name, command, words in (
        ("the network", "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' \\n'", "lo"),
        ("a file", "head -c 100M /dev/zero >big; stat -c %s big", str(8 << 20)),
        ("/tmp", "for i in 1 2 3 4; do head -c 7M /dev/zero >/tmp/$i; done; echo", "No space left"),
        ("one block of memory", "dd if=/dev/zero of=/dev/null bs=700M count=1", "memory"),
    ):
        cases.append((words in await seen(command), f"{name} is not bounded"))
    return cases


async def _calls(folder: Path, seen: Callable[[str], Awaitable[str]]) -> list[Case]:
    """System calls that are refused, where there is a table of them for this machine."""
    if platform.machine() not in AUDIT_ARCH:
        return []
    column = list(AUDIT_ARCH).index(platform.machine())
    numbers = {name: row[column] for name, row in REFUSED.items() if row[column] != NONE and name != "reboot"}
    (folder / "calls.py").write_text(CALLS.format(numbers=numbers))
    told = (await seen("command -v python3 >/dev/null && python3 calls.py || echo none")).splitlines()
    if told == ["none"]:
        raise RuntimeError("there is no python3 in the sandbox")
    return [(f"{name} True" in told, f"{name} is not refused") for name in numbers]


async def standing(settings: ShellSettings) -> Bubblewrap:
    sandbox = Bubblewrap(settings)
    if trouble := await sandbox.self_test():
        raise RuntimeError(trouble)
    return sandbox


SUITES: Final[dict[str, Callable[[Path], Awaitable[list[Case]]]]] = {
    "walls": walls,
    "bombs": bombs,
}


async def attacked(suite: str, folder: Path) -> list[Case]:
    """The cases of a suite, in a workspace below `folder`."""
    workspace = folder / "workspace"
    workspace.mkdir()
    if os.geteuid() == 0:
        own(workspace, SETTINGS.uid)
    return await SUITES[suite](workspace)


def main(suite: str, folder: str) -> None:
    try:
        told: object = asyncio.run(attacked(suite, Path(folder)))
    except RuntimeError as error:
        told = str(error)
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
