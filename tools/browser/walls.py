"""The sandbox of a browser: bubblewrap without workspace, home and network, and what Chromium needs to run in it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.browser import child
from tools.sandbox.bubblewrap import ACCOUNTS, GROUPS, SYSTEM, USER, Bwrap, filtered, own_memory
from tools.sandbox.launcher import FIRST_FILE, Order
from tools.sandbox.sandbox import PATH
from tools.sandbox.seccomp import call_filter

HOME: Final = "/tmp/home"  # noqa: S108 - inside, where /tmp is its own
ENVIRONMENT: Final = {"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8", "TZ": "UTC"}
SCRATCH_BYTES: Final = 256 << 20  # bytes of each file system in memory: its profile, its cache and shared memory
LIMITS: Final = {"CORE": 0, "NOFILE": 4096, "FSIZE": 128 << 20}
READ_ONLY: Final = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/chromium",
    "/etc/chromium.d",
    "/opt/google",
)
"""Beside the system's programs: fonts, and the settings of the distribution's Chromium."""


@dataclass(frozen=True, slots=True)
class Walls:
    """A bubblewrap that was found to work, the browser's program, and the user it runs as where we are root."""

    bwrap: Bwrap
    program: Path
    uid: int

    @property
    def other(self) -> int | None:
        return self.uid if os.geteuid() == 0 else None


def lay_out(walls: Walls, folder: Path) -> Path:
    """Write a program into `folder` that starts the browser behind its walls; Playwright is given its path."""
    order, start = folder / "order.json", folder / "browser"
    order.write_text(json.dumps(order_of(walls)))
    words = [sys.executable, "-I", "-S", child.__file__, str(order)]
    start.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    start.chmod(0o700)
    return start


def order_of(walls: Walls) -> Order:
    """Order that becomes the browser; Playwright's arguments are added to its own."""
    carry = walls.bwrap.carried() if walls.other is not None else {}
    program = next(iter(carry), str(walls.bwrap.program))
    return Order(
        argv=[program, *arguments(walls.program), "--", str(walls.program)],
        env={},
        limits=LIMITS,
        uid=walls.other,
        view=walls.other is not None,
        carry=carry,
        hide=[],
        files=[ACCOUNTS, GROUPS],
        calls=call_filter().hex(),
    )


def arguments(program: Path) -> list[str]:
    """Arguments of bubblewrap. The network namespace is the one that `child` made: it has nothing but the gateway."""
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--disable-userns", "--uid", USER, "--gid", USER, "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session"),
        *filtered(),
        *_system(program),
        *("--perms", "0644", "--file", str(FIRST_FILE), "/etc/passwd"),
        *("--perms", "0644", "--file", str(FIRST_FILE + 1), "/etc/group"),
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *own_memory(SCRATCH_BYTES),
        *("--dir", HOME, "--chdir", HOME, "--remount-ro", "/"),
        "--clearenv",
        *(word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)),
    ]


def _system(program: Path) -> Sequence[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for place in (Path("/", name) for name in SYSTEM):
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    for kept in READ_ONLY:
        words += ["--ro-bind-try", kept, kept]
    home = program.resolve().parent
    if not any(home.is_relative_to(kept) for kept in ("/usr", "/bin", *READ_ONLY)):
        words += ["--ro-bind", str(home), str(home)]
    return words
