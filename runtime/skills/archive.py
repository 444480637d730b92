"""Takes a skill out of an archive that somebody else packed: names, kinds and sizes are checked before a byte is written.

All of it blocks.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from runtime.skills.frontmatter import NotASkill
from runtime.skills.reading import FILES_MAX, LEFT_OUT, SKILL_FILES, SKILL_MAX_BYTES, shown
from runtime.workspace.safe_fs import BadPath, parts

ARCHIVE_MAX_BYTES: Final = 20 << 20
ENTRIES_MAX: Final = 20 * FILES_MAX
"""Entries of an archive, which may hold a whole repository with one skill in it."""
UNIX_MODE_SHIFT: Final = 16
"""Bits of a zip entry's attributes before those of its mode."""


def unpack(data: bytes, into: Path) -> Path:
    """Write the skill of an archive below `into`; its folder. Errors: NotASkill, and then nothing is left to be used."""
    if len(data) > ARCHIVE_MAX_BYTES:
        raise NotASkill(f"the archive is larger than {ARCHIVE_MAX_BYTES >> 20} MB")
    files = dict(_checked(data))
    top = _top(list(files))
    kept = {path.removeprefix(top): content for path, content in files.items() if path.startswith(top)}
    if len(kept) > FILES_MAX:
        raise NotASkill(f"it has more than {FILES_MAX} files")
    folder = into / (top.rstrip("/").rpartition("/")[2] or "skill")
    for path, content in kept.items():
        if LEFT_OUT.isdisjoint(path.split("/")):
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return folder


def _top(paths: list[str]) -> str:
    """The folder of the one SKILL.md, with its slash. Errors: NotASkill for none, or for several."""
    tops = sorted(
        {path.removesuffix(name) for path in paths for name in SKILL_FILES if path.rpartition("/")[2] == name}
    )
    if not tops:
        raise NotASkill("there is no SKILL.md in the archive")
    outer = [top for top in tops if not any(top != other and top.startswith(other) for other in tops)]
    if len(outer) > 1:
        named = ", ".join(shown(top.rstrip("/") or ".") for top in outer[:8])
        raise NotASkill(f"the archive holds {len(outer)} skills ({named}); unpack it and install the folder you want")
    return outer[0]


def _checked(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            yield from _of_zip(data)
        else:
            yield from _of_tar(data)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        if isinstance(error, NotASkill):
            raise
        raise NotASkill(f"the archive can't be read: {error}") from None


def _of_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        _count(len(entries))
        left = SKILL_MAX_BYTES
        for entry in entries:
            kind = stat.S_IFMT(entry.external_attr >> UNIX_MODE_SHIFT)
            name = _name(entry.filename)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise NotASkill(f"the archive holds {shown(name)}, which is a link or a device")
            if not entry.is_dir():
                with archive.open(entry) as file:
                    content = _bounded(file, left)
                left -= len(content)
                yield name, content


def _of_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:  # a stream: its list is never read ahead
        left = SKILL_MAX_BYTES
        for number, entry in enumerate(archive, 1):
            _count(number)
            name = _name(entry.name)
            if not (entry.isreg() or entry.isdir()):
                raise NotASkill(f"the archive holds {shown(name)}, which is a link or a device")
            if entry.isreg() and (file := archive.extractfile(entry)):
                content = _bounded(file, left)
                left -= len(content)
                yield name, content


def _count(entries: int) -> None:
    if entries > ENTRIES_MAX:
        raise NotASkill(f"the archive has more than {ENTRIES_MAX:,} entries")


def _bounded(file: object, left: int) -> bytes:
    """Bytes of an entry as it unpacks, however small it says it is. Errors: NotASkill for more than is left."""
    source: BinaryIO = file  # type: ignore[assignment]  # of either library: it has `read`
    content = source.read(left + 1)
    if len(content) > left:
        raise NotASkill(f"the archive unpacks to more than {SKILL_MAX_BYTES >> 20} MB")
    return content


def _name(name: str) -> str:
    """A path that stays below where it is put. Errors: NotASkill."""
    plain = name.removeprefix("./").rstrip("/")
    if plain in ("", "."):
        return "."
    try:
        parts(plain)
    except BadPath:
        raise NotASkill(f"the archive holds {shown(name)!r}, which leads out of it") from None
    if "\\" in plain or ":" in plain.split("/")[0]:
        raise NotASkill(f"the archive holds {shown(name)!r}, which leads out of it elsewhere")
    return plain
