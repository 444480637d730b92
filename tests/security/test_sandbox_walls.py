"""Attacks from inside the sandbox of the shell: places, devices, system calls, bombs. Run as whoever runs the tests."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.security.tally import Tally
from tests.unit.tools.conftest import working
from tools.sandbox import ShellSettings
from tools.seccomp import AUDIT_ARCH, NONE, REFUSED
from tools.workspace import own

PLACES = [
    "/",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/bin",
    "/lib",
    "/etc",
    "/etc/passwd.d",
    "/dev",
    "/proc",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/self",
    "/sys",
    "/home",
    "/root",
    "/var",
    "/var/tmp",
    "/run",
    "/mnt",
    "/opt",
    "/srv",
    "/boot",
    "/workspace/..",
]
HIDDEN = [
    "/etc/shadow",
    "/etc/ssl",
    "/etc/ssh",
    "/root",
    "/home",
    "/var",
    "/run",
    "/sys",
    "/proc/1/root/root",
    "/dev/mem",
    "/dev/kmsg",
    "/dev/sda",
]
CALLS = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {numbers!r}.items():
    ctypes.set_errno(0)
    done = libc.syscall(number, -1, -1, -1, -1, -1, -1)
    print(name, done == -1 and ctypes.get_errno() == errno.EPERM)
"""


async def test_walls_hold(tmp_path: Path, tallied: Callable[[str, int], Tally]) -> None:
    settings = replace(ShellSettings(), memory_mib=512, file_mib=8, processes=40, timeout_seconds=20)
    sandbox = await working(settings)
    folder = tmp_path / "workspace"
    folder.mkdir()
    own(folder, settings.uid)
    tally = tallied("sandbox", 50)

    async def seen(command: str) -> str:
        return (await sandbox.run(command, folder, limit=20_000)).text

    wrote = await seen(f"for p in {' '.join(PLACES)}; do (echo x >$p/probe) 2>/dev/null && echo $p; done")
    for place in PLACES:
        tally.case(place not in wrote.split(), f"{place} can be written")
    read = await seen(f"for p in {' '.join(HIDDEN)}; do ls -A $p 2>/dev/null | grep -q . && echo $p; done")
    for place in HIDDEN:
        tally.case(place not in read.split(), f"{place} can be read")
    if platform.machine() in AUDIT_ARCH:
        column = list(AUDIT_ARCH).index(platform.machine())
        numbers = {name: row[column] for name, row in REFUSED.items() if row[column] != NONE and name != "reboot"}
        (folder / "calls.py").write_text(CALLS.format(numbers=numbers))
        told = await seen("command -v python3 >/dev/null && python3 calls.py || echo none")
        if told.strip() == "none":
            pytest.skip("there is no python3 in the sandbox")
        for name in numbers:
            tally.case(f"{name} True" in told.splitlines(), f"{name} is not refused")
    for name, command, words in (
        ("a file bomb", "head -c 100M /dev/zero >big; stat -c %s big", str(8 << 20)),
        ("a bomb in /tmp", "for i in 1 2 3 4; do head -c 7M /dev/zero >/tmp/$i; done; echo", "No space left"),
        ("a bomb of memory", "dd if=/dev/zero of=/dev/null bs=700M count=1", "memory"),
        ("the network", "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' \\n'", "lo"),
        ("its score", "cat /proc/self/oom_score_adj", "900"),
    ):
        tally.case(words in await seen(command), f"{name} is not bounded")
    tally.close()
