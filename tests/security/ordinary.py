"""Becomes an ordinary user and runs a suite as one; a program that root starts, for what root cannot show.

The interpreter and the checkout may lie where only root comes, so in a mount namespace of its own each closed folder on
the way to them is replaced by an open one that holds just them.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.fakes.ending import ending
from tools.sandbox.launcher import CLONE_NEWNS, MS_BIND, MS_REC, MS_SLAVE, _call, _step_down

UID: Final = 65533  # nobody of this machine, and not the user of root's sandbox
CHECKOUT: Final = Path(__file__).parents[2]


async def as_ordinary_user(suite: str) -> list[tuple[bool, str]]:
    """The cases of a suite of `attacks`. Errors: RuntimeError says why they cannot be tried by another user here."""
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        os.chown(folder, UID, UID)
        async with ending(
            *(sys.executable, "-m", "tests.security.ordinary", suite, folder),
            cwd=CHECKOUT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        ) as child:
            out, err = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"another user cannot run it here: {err.decode(errors='replace').strip()[-300:]}")
    told = json.loads(out)
    if isinstance(told, str):
        raise RuntimeError(told)
    return [(bool(held), str(words)) for held, words in told]


def main(suite: str, folder: str) -> None:
    """Never returns."""
    _call("unshare", CLONE_NEWNS)
    _call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)  # nothing we mount is seen outside
    _open_up([Path(sys.base_prefix), Path(sys.prefix), CHECKOUT, Path(folder)])
    _step_down(UID)
    environment = {"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": str(CHECKOUT)}
    os.chdir(folder)
    os.execve(sys.executable, [sys.executable, "-B", "-m", "tests.security.attacks", suite, folder], environment)


def _open_up(places: list[Path]) -> None:
    """Let everybody come to `places`."""
    held = {place: os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in places}
    for place, descriptor in held.items():
        if closed := _closed(place):
            _call("mount", b"none", os.fsencode(closed), b"tmpfs", 0, b"mode=755")
        if not place.exists():
            place.mkdir(parents=True)
            _call("mount", f"/proc/self/fd/{descriptor}".encode(), os.fsencode(place), None, MS_BIND | MS_REC, None)


def _closed(place: Path) -> Path | None:
    """The first folder above `place` that is not open to everybody."""
    above = reversed(place.parents)
    return next((one for one in above if one.exists() and not one.stat().st_mode & stat.S_IXOTH), None)


if __name__ == "__main__":
    main(*sys.argv[1:])
