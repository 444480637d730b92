"""A program of the laboratory by a clock of its own: `python -m tests.lab.faked python -m PROGRAM --data DIR …`

Wall clocks alone are faked, by libfaketime: a steady clock is nobody's to set. How far the clock is off stands in
the file `clock` beside the data folder, such as `+3600`, and is read at each look at the clock.
"""

from __future__ import annotations

import os
import runpy
import select
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, SupportsIndex

LIBRARY: Final = "/usr/lib/*/faketime/libfaketimeMT.so.1"
CLOCKED: Final = (sys.executable, "-m", "tests.lab.faked")
"""Words before a program that shall live by a clock of its own."""


def library() -> Path | None:
    """Debian's libfaketime; None on a machine without it (tests/setup.sh faketime installs it)."""
    return next(Path("/").glob(LIBRARY.lstrip("/")), None)


def clocked(file: Path) -> Mapping[str, str]:
    """Variables of a program that lives by the clock in `file`."""
    found = library()
    assert found
    return {
        "LD_PRELOAD": str(found),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # else threads wait seconds for each other
        "NO_FAKE_STAT": "1",  # the kernel's own, and whoever looks at files looks at it beside
    }


def put(file: Path, seconds: float) -> None:
    """Set the clock in `file` so far off, at one moment."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(f"{seconds:+.0f}", encoding="ascii")
    fresh.chmod(0o644)
    fresh.replace(file)


def clock_of(data: Path) -> Path:
    return data.parent / "clock"


def nap(seconds: float | SupportsIndex) -> None:
    """Sleep by a call that libfaketime leaves alone: 0.9.10 refuses the one of Python where steady clocks are true."""
    select.select([], [], [], float(seconds))


def main(python: str, _: str, program: str, *arguments: str) -> None:
    """Be that program. First the process is begun anew under the library, with the same number."""
    if "LD_PRELOAD" in os.environ:
        time.sleep = nap
        sys.argv = [program, *arguments]
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    file = clock_of(Path(arguments[arguments.index("--data") + 1]))
    if not file.exists():
        put(file, 0)
    command = [python, "-m", "tests.lab.faked", *sys.argv[1:]]
    os.execve(python, command, {**os.environ, **clocked(file)})


if __name__ == "__main__":
    main(*sys.argv[1:])
