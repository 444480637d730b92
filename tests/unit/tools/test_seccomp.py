"""The filter of system calls: what it refuses, on both kinds of machine, and that ordinary programs work behind it."""

from __future__ import annotations

import platform
import re
import struct
from pathlib import Path

import pytest

from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.seccomp import AUDIT_ARCH, NONE, REFUSE, REFUSED, call_filter

ALLOWED = 0x7FFF_0000
HERE = list(AUDIT_ARCH).index(platform.machine()) if platform.machine() in AUDIT_ARCH else None


def run(program: bytes, arch: int, number: int) -> int:
    """Interpret `program` as the kernel does, for the few instructions that it is made of."""
    lines = list(struct.iter_unpack("=HBBI", program))
    data, value, at = {0: number, 4: arch}, 0, 0
    while True:
        code, if_true, if_false, constant = lines[at]
        at += 1
        match code:
            case 0x20:
                value = data[constant]
            case 0x15:
                at += if_true if value == constant else if_false
            case 0x35:
                at += if_true if value >= constant else if_false
            case 0x06:
                return int(constant)
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_what_is_in_the_table_is_refused_and_nothing_else(machine: str) -> None:
    program, arch = call_filter(machine), AUDIT_ARCH[machine]
    column = list(AUDIT_ARCH).index(machine)
    refused = {row[column] for row in REFUSED.values()} - {NONE}
    assert {number for number in range(600) if run(program, arch, number) == REFUSE} == refused
    assert {run(program, arch, number) for number in set(range(600)) - refused} == {ALLOWED}


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_calls_of_another_machine_are_refused(machine: str) -> None:
    other = next(arch for name, arch in AUDIT_ARCH.items() if name != machine)
    assert {run(call_filter(machine), arch, 1) for arch in (other, 0x40000003)} == {REFUSE}


def test_calls_of_x32_are_refused() -> None:
    assert run(call_filter("x86_64"), AUDIT_ARCH["x86_64"], 0x4000_0000 | 101) == REFUSE


def test_for_other_machines_there_is_none() -> None:
    assert call_filter("riscv64") == b""


@pytest.mark.parametrize(("header", "column"), [("x86_64-linux-gnu/asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)])
def test_the_numbers_are_those_of_the_kernel(header: str, column: int) -> None:
    file = Path("/usr/include", header)
    if not file.exists():
        pytest.skip(f"{file} is not here")
    told = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", file.read_text()))
    ours = {name: row[column] for name, row in REFUSED.items() if row[column] != NONE and name in told}
    assert ours == {name: int(told[name]) for name in ours}
    assert len(ours) > 40


@pytest.mark.skipif(HERE is None, reason="no table for this machine")
async def test_the_real_kernel_refuses_them(bubblewrap: Bubblewrap, workspace: Path) -> None:
    assert HERE is not None
    numbers = {name: row[HERE] for name, row in REFUSED.items() if row[HERE] != NONE and name != "reboot"}
    (workspace / "try.py").write_text(
        "import ctypes, errno\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"for name, number in {numbers!r}.items():\n"
        "    ctypes.set_errno(0)\n"
        "    done = libc.syscall(number, -1, -1, -1, -1, -1, -1)\n"
        "    if done != -1 or ctypes.get_errno() != errno.EPERM: print(name, done, ctypes.get_errno())\n"
        "print('tried')\n"
    )
    ended = await bubblewrap.run("python3 try.py", workspace, limit=5000)
    if ended.code == 127:
        pytest.skip("there is no python3 in the sandbox")
    assert ended.text == "tried\n"


async def test_ordinary_programs_work(bubblewrap: Bubblewrap, workspace: Path) -> None:
    (workspace / "x.c").write_text('#include <stdio.h>\nint main(void) { puts("compiled"); }\n')
    steps = (
        "yes | head -n 2 | sort | uniq -c",
        "if command -v python3 >/dev/null; then python3 -c "
        "'import threading, subprocess as s; t = threading.Thread(target=print, args=[1]); t.start(); t.join(); "
        's.run(["true"], check=True)\'; fi',
        "if command -v git >/dev/null; then git init -q r && git -C r -c user.name=a -c user.email=a@b.c "
        "commit -q --allow-empty -m x && git -C r gc -q && git -C r log --oneline | wc -l; fi",
        "if command -v gcc >/dev/null; then gcc -O2 x.c -o x && ./x; fi",
        "if command -v perl >/dev/null; then perl -e 'print qq(perl\\n)'; fi",
        "find . | xargs ls -d > /dev/null && tar cf x.tar x.c && timeout 5 nice true && echo all",
    )
    ended = await bubblewrap.run("set -e\n" + "\n".join(steps), workspace, limit=5000)
    assert ended.code == 0, ended.text
    assert ended.text.endswith("all\n")
