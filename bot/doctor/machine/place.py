"""The folders: can they be written, is there room, is the disk one for a database, and how fast does it flush."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.node.private_files import open_to_others
from runtime.contract import Finding

LITTLE_SPACE: Final = 1 << 30  # bytes: a warning
NO_SPACE: Final = 64 << 20  # bytes: SQLite's log and a few uploads no longer fit
FEW_FILES: Final = 1000
FILES_NAMED: Final = 3
SLOW_FLUSH: Final = timedelta(milliseconds=50)  # a message waits for four of them
FLUSHES: Final = 9
MEMORY_FILE_SYSTEMS: Final = ("tmpfs", "ramfs")
NETWORK: Final = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "glusterfs")


async def check_place(subject: Subject) -> Sequence[Finding]:
    settings, folder = subject.settings, subject.settings.data_dir
    found = list(_folder("data_dir", folder, "The database and all files live there."))
    if settings.workspace_dir.parent != folder:
        found += _folder("workspace_dir", settings.workspace_dir, "The files of conversations live there.")
    found += _disk(folder, embedded=settings.database_file is not None)
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        found += await asyncio.to_thread(_flush, folder)
        found += _leftovers(folder, running=subject.pid is not None)
        found += _exposed(folder)
    return found


def nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _folder(name: str, folder: Path, why: str) -> Iterator[Finding]:
    there = nearest(folder)
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        yield fault(f"{name}.writable", f"{there} is not writable", why, f"chown or chmod {there}, or set {name}")
    else:
        yield fine(f"{name}.writable", f"{folder}{'' if folder.exists() else ' (made at the first start)'}")


def _disk(folder: Path, *, embedded: bool) -> Iterator[Finding]:
    there = nearest(folder)
    yield _space(there)
    if (files := os.statvfs(there)).f_files and files.f_favail < FEW_FILES:
        why = "Without room for new files, the database can't work."
        yield fault("data_dir.files", f"room for {files.f_favail} more files", why, f"remove some: df -i {there}")
    kind = file_system(there)
    if kind in MEMORY_FILE_SYSTEMS:
        why = "Everything in it is lost when the machine restarts."
        yield warning("data_dir.disk", f"{there} is in memory ({kind})", why, "set data_dir to a folder on a disk")
    elif kind in NETWORK and embedded:
        why = "SQLite's locking isn't reliable over a network, so the database may get damaged."
        yield fault(
            "data_dir.disk", f"{there} is on a network ({kind})", why, "set data_dir to a local disk, or use PostgreSQL"
        )


def _space(there: Path) -> Finding:
    free = shutil.disk_usage(there).free
    what, why = f"{size(free)} free", "Once the disk is full, no message is accepted."
    if free >= LITTLE_SPACE:
        return fine("data_dir.space", what)
    make = fault if free < NO_SPACE else warning
    return make("data_dir.space", f"only {what}", why, f"make room: df -h {there}")


def file_system(folder: Path) -> str:
    """Its kind; empty where the kernel does not tell."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return ""
    resolved, best, kind = folder.resolve(), Path(), ""
    for line in mounts:
        _, place, this, *_ = line.split(" ")
        mounted = Path(place.replace("\\040", " "))
        if resolved.is_relative_to(mounted) and len(mounted.parts) >= len(best.parts):
            best, kind = mounted, this
    return kind


def _flush(folder: Path) -> list[Finding]:
    """Check the time a small write takes to reach the disk: the median of a few."""
    try:
        took = [_one_flush(folder) for _ in range(FLUSHES)]
    except OSError as error:
        why = "The database can't write either."
        return [fault("data_dir.flush", f"a test file can't be written: {error.strerror}", why, f"df -h {folder}")]
    middle = timedelta(seconds=median(took))
    what = f"a write is safe on disk after {middle.total_seconds() * 1000:.1f} ms"
    if middle <= SLOW_FLUSH:
        return [fine("data_dir.flush", what)]
    why = "Each message waits for about four such writes."
    return [warning("data_dir.flush", what, why, "set data_dir to a faster disk, such as a local SSD")]


def _one_flush(folder: Path) -> float:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x" * 4096)
        file.flush()
        began = time.perf_counter()
        os.fsync(file.fileno())
        return time.perf_counter() - began


def _exposed(folder: Path) -> Iterator[Finding]:
    if files := open_to_others(folder):
        names = ", ".join(path.name for path in files[:FILES_NAMED]) + (" …" if len(files) > FILES_NAMED else "")
        what = f"other users of this machine can open {names} in {folder}"
        why = "Conversations, keys and people are in there."
        yield warning("data_dir.exposed", what, why, f"chmod go= {folder}/*; the next start does this where it can")


def _leftovers(folder: Path, *, running: bool) -> Iterator[Finding]:
    """Findings about what a kill left behind. It does no harm, and the next write of its kind replaces it."""
    left = sorted(path.name for path in folder.glob("*.new"))
    if left and not running:
        why = "A process was killed while writing. What was there before is intact."
        yield warning(
            "data_dir.leftovers", f"{', '.join(left)} in {folder}", why, f"cd {folder} && rm {' '.join(left)}"
        )


def size(count: int) -> str:
    for unit, word in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if count >= unit:
            return f"{count / unit:.1f} {word}"
    return f"{count >> 10} KiB"
