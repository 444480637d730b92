"""Writes a skill's folder whole: whoever reads meanwhile, or after a kill, sees the old one or the new one. All of it blocks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

AT_FDCWD: Final = -100  # <linux/fcntl.h>
RENAME_EXCHANGE: Final = 2  # <linux/fs.h>
FRESH: Final = ".new"
"""Ends the name of a folder that is on its way in."""
ASIDE: Final = ".old"
"""Ends the name of one that is on its way out, where names can't be exchanged in one step."""

Was = Callable[[Path | None], bool]
"""Looks at the folder that goes, None where there is none: True if it may go."""


class MovedOn(Exception):
    """Another folder stands there than was to be replaced; it was left as it is."""


def install(contents: Mapping[str, bytes], goal: Path, was: Was = lambda _: True) -> None:
    """Make `contents` the whole of the folder `goal`. Errors: OSError; MovedOn. After either all is as it was."""
    goal.parent.mkdir(parents=True, exist_ok=True)
    mend(goal)
    draft = _beside(goal, f"{token_hex(4)}{FRESH}")
    try:
        _write(contents, draft)
        if os.path.lexists(goal):
            _exchange(draft, goal)
            if not was(draft):  # looked at once it is out of the way: nobody can change it meanwhile
                _exchange(draft, goal)
                raise MovedOn
        elif not was(None):
            raise MovedOn
        else:
            _place(draft, goal)
        _sync(goal.parent)
    finally:
        _clear(draft)


def uninstall(goal: Path, was: Was) -> None:
    """Take the folder `goal` away whole. Errors: OSError; MovedOn. After either all is as it was."""
    mend(goal)
    if not was(goal if os.path.lexists(goal) else None):
        raise MovedOn
    draft = _beside(goal, f"{token_hex(4)}{FRESH}")
    goal.rename(draft)
    if not was(draft):  # somebody wrote into it in between
        _place(draft, goal)
        raise MovedOn
    _sync(goal.parent)
    _clear(draft)


def mend(goal: Path) -> None:
    """Bring back what a kill left on its way out, and remove what it left on its way in. Errors: OSError."""
    aside = _beside(goal, ASIDE)
    if os.path.lexists(aside):
        if os.path.lexists(goal):
            _remove(aside)
        else:
            aside.rename(goal)
    for left in goal.parent.glob(f".{goal.name}.*{FRESH}"):
        _remove(left)


def _beside(goal: Path, ending: str) -> Path:
    return goal.with_name(f".{goal.name}.{ending.removeprefix('.')}")


def _write(contents: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir()
    for path, data in contents.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _place(draft: Path, goal: Path) -> None:
    """Errors: MovedOn where somebody was faster."""
    try:
        draft.rename(goal)
    except OSError:
        if os.path.lexists(goal):
            raise MovedOn from None
        raise


def _exchange(draft: Path, goal: Path) -> None:
    """Swap two folders; in one step, where the system has it. Errors: OSError."""
    if not _exchanged(draft, goal):
        aside = _beside(goal, ASIDE)
        goal.rename(aside)
        draft.rename(goal)
        aside.rename(draft)


def _exchanged(one: Path, other: Path) -> bool:
    """False where the system or the disk knows no such step."""
    import ctypes  # here: most processes never write a skill

    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    return swap is not None and swap(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clear(draft: Path) -> None:
    """Remove what is out of the way by now: what can't be removed fails nothing that is done, and `mend` tries again."""
    with suppress(OSError):
        _remove(draft)


def _remove(folder: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        if folder.is_symlink():
            folder.unlink()
        else:
            shutil.rmtree(folder)
