"""Secrets as files for one command, where no sandbox has a private memory for them: removed after, also after a kill.

Each command's folder holds a file that its process keeps locked. The kernel gives the lock up however that process ends, so
a folder without a holder is a leftover.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.files.workspace import own

LENT_FOLDER: Final = "signalbox-lent-"
"""Begins the names of folders in the machine's own place for temporary files."""
LENT_LOCK: Final = ".lock"
LENT_FILE_MODE: Final = 0o600
LENT_FILE_MAX_BYTES: Final = 100_000
"""Linux takes 131,072 in one variable (MAX_ARG_STRLEN), by which a file's text reaches the launcher."""
LENT_FILES_MOST: Final = 5
PART_MIN_CHARS: Final = 12
"""Shorter pieces of a file are words of its format."""


def checked(files: Mapping[str, str]) -> Mapping[str, str]:
    """`files` as they may be lent. Errors: ToolFailed for too many, too large ones, or no text."""
    if len(files) > LENT_FILES_MOST:
        raise ToolFailed(f"At most {LENT_FILES_MOST} secrets go into files of one command. Nothing was run.")
    for name, text in files.items():
        if len(text.encode()) > LENT_FILE_MAX_BYTES or "\0" in text:
            raise ToolFailed(
                f"The secret {name} can't be a file here: at most {LENT_FILE_MAX_BYTES:,} bytes of text. Nothing was run."
            )
    return files


def without_files(text: str, files: Mapping[str, str]) -> str:
    """`text` without what it repeats of the files: their lines, and the values in those."""
    parts = {part: name for name, file in files.items() for part in _parts(file) if len(part) >= PART_MIN_CHARS}
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, f"[secret {parts[part]}]")
    return text


def _parts(file: str) -> Iterator[str]:
    """Pieces of a file that may be secrets: whole lines, and what stands behind a colon or an equals sign.

    >>> list(_parts("token: s3cret-of-the-cluster"))
    ['token: s3cret-of-the-cluster', 's3cret-of-the-cluster']
    """
    for line in map(str.strip, file.splitlines()):
        yield line
        if value := re.split(r"[:=]\s*", line, maxsplit=1)[1:]:
            yield value[0].strip("\"' ")


@contextmanager
def lent_files(files: Mapping[str, str], uid: int | None) -> Iterator[Mapping[str, str]]:
    """Variables with the paths of `files`, which lie there for the block alone, for `uid` or ourselves to read."""
    if not files:
        yield {}
        return
    folder = Path(tempfile.mkdtemp(prefix=LENT_FOLDER))
    try:
        with _held(folder):
            yield {name: str(_written(folder / name, text, uid)) for name, text in files.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> int:
    """Remove what killed processes left; how many folders."""
    return sum(_swept(folder) for folder in Path(tempfile.gettempdir()).glob(f"{LENT_FOLDER}*"))


def _swept(folder: Path) -> bool:
    with suppress(OSError):
        about = folder.lstat()
        if folder.is_symlink() or about.st_uid != os.geteuid():
            return False
        with _held(folder):
            shutil.rmtree(folder, ignore_errors=True)
            return not folder.exists()
    return False


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Errors: BlockingIOError where its process lives."""
    lock = os.open(folder / LENT_LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _written(path: Path, text: str, uid: int | None) -> Path:
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, LENT_FILE_MODE)
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        opened.write(text)
    if uid is not None:
        own(path, uid)
        path.parent.chmod(0o711)  # nobody can list it, and only `uid` can read the file
    return path
