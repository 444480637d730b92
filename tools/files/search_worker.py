"""Searches files for a pattern; run as a program of its own by `search`, and told what to do by one JSON argument.

`re` cannot be interrupted and holds the interpreter while it matches, so a pattern such as `(a+)+$` would stop the
whole server, not only its thread. A process can be killed; that is the one bound that holds for every pattern.
Imports the standard library only, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import runpy
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

Step = tuple[str, list[str], list[str], int]
OWN_PLACE: Final = "tools/files/search_worker.py"
WALK: Final = "runtime/workspace/walk.py"
BAD_PATTERN: Final = 3  # exit codes
EXIT_BROKEN: Final = 4

MOST_MATCHES: Final = 500
LONGEST_LINE: Final = 1 << 20  # bytes searched as one line; a longer one is searched in pieces
WIDEST_LINE: Final = 300  # characters shown
DEEP_SHOWN: Final = 60  # characters of a path that is too deep
PEEK: Final = 8192  # bytes looked at to tell a binary file, as git and grep do
MEMORY_MAX_BYTES: Final = 512 << 20  # bytes


def main(request: str) -> int:
    order = json.loads(request)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))
    # Whoever started us kills us in time, unless it was itself killed.
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"] + 1, order["seconds"] + 1))
    sys.stdout.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)  # type: ignore[union-attr]
    try:
        pattern = re.compile(order["pattern"])
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        sys.stdout.write(str(error) or type(error).__name__)
        return BAD_PATTERN
    try:
        _show(matches(pattern, order["descriptor"], order["path"], order["flags"], order["folder_flags"]))
    except (OSError, RecursionError, MemoryError) as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        return EXIT_BROKEN
    return 0


def _show(found: Iterator[str]) -> None:
    for number, line in enumerate(found):
        if number == MOST_MATCHES:
            sys.stdout.write(f"… and more: only the first {MOST_MATCHES} matches are listed\n")
            return
        sys.stdout.write(line + "\n")


def matches(pattern: re.Pattern[str], descriptor: int, path: str, flags: int, folder_flags: int) -> Iterator[str]:
    """Lines that match below an open file or folder, in order of name. Files are opened with `flags`: links never."""
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        yield from _in_file(pattern, descriptor, path)
        return
    too_deep: list[str] = []

    def missed(below: str, error: OSError) -> None:
        if error.errno == errno.ENAMETOOLONG:
            too_deep.append(below)

    for folder, folders, files, parent in _walk()(descriptor, folder_flags, missed=missed):
        folders.sort()
        for name in sorted(files):
            shown = os.path.normpath(os.path.join(path, folder, name))  # noqa: PTH118 - pathlib would cost the start
            try:
                file = os.open(name, flags, dir_fd=parent)
            except OSError:  # a link, gone since, or not ours to read
                continue
            try:
                yield from _in_file(pattern, file, shown)
            finally:
                os.close(file)
    if too_deep:
        yield f"… and not searched: folders too deep, such as {too_deep[0][:DEEP_SHOWN]}…"


@cache
def _walk() -> Callable[..., Iterator[Step]]:
    """The walk of `runtime`, by its file: a program of its own finds no packages."""
    here = os.path.abspath(__file__)  # noqa: PTH100 - pathlib would cost the start
    walk: Callable[..., Iterator[Step]] = runpy.run_path(f"{here.removesuffix(OWN_PLACE)}{WALK}")["walk"]
    return walk


def _in_file(pattern: re.Pattern[str], file: int, path: str) -> Iterator[str]:
    if not stat.S_ISREG(os.fstat(file).st_mode) or b"\0" in os.pread(file, PEEK, 0):
        return
    with os.fdopen(os.dup(file), "rb") as lines:
        number = 1
        while data := lines.readline(LONGEST_LINE):
            text = data.decode(errors="replace").rstrip("\r\n")
            if pattern.search(text):
                yield f"{path}:{number}: {text[:WIDEST_LINE]}{'…' if len(text) > WIDEST_LINE else ''}"
            number += data.endswith(b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
