"""Reads a skill's folder, every file once: what is accepted, shown and run are the same bytes.

A link is refused wherever it leads, and so is whatever is no plain file. All of it blocks.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from runtime.domain.skills.lock import digest_of
from runtime.domain.skills.scanning import Capabilities, Warned, capabilities, warnings
from runtime.domain.skills.skill import SKILL_FILE, Skill, Source, faults, made
from runtime.skills.frontmatter import NotASkill, parsed
from runtime.text.glyphs import visible
from runtime.workspace.safe_fs import OPEN_FILE, OPEN_FOLDER
from runtime.workspace.walk import walk

SKILL_MAX_BYTES: Final = 20 << 20
FILES_MAX: Final = 200
TEXT_FILE_MAX_BYTES: Final = 256 << 10
"""Of a larger file no text is looked at."""
LEFT_OUT: Final = frozenset({".git", "__pycache__", ".DS_Store", ".venv", "node_modules"})
"""Names that are no part of a skill. A script doesn't see them either."""
SKILL_FILES: Final = (SKILL_FILE, "skill.md")


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill's folder as it was read. `contents` has its files; `wrong` says why it is none, and then there is no skill.

    `warned` is what stands out in its texts, and `able` what it can do.
    """

    name: str
    skill: Skill | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    wrong: tuple[str, ...] = ()
    warned: tuple[Warned, ...] = ()
    able: Capabilities | None = None

    @property
    def text(self) -> str:
        """Its SKILL.md."""
        return next((_text(self.contents[name]) for name in SKILL_FILES if name in self.contents), "")

    @property
    def texts(self) -> Mapping[str, str]:
        """Its files that are texts, by path."""
        small = ((path, data) for path, data in self.contents.items() if len(data) <= TEXT_FILE_MAX_BYTES)
        return {path: _text(data) for path, data in small if b"\0" not in data}


def read_skill(folder: Path, source: Source = Source.USER, agent: str = "") -> FoundSkill:
    """Read and check a folder. What is wrong with it is a value, all of it at once."""
    name = folder.name
    try:
        contents = contents_in(folder)
    except NotASkill as error:
        return FoundSkill(name, wrong=(str(error),))
    except OSError as error:
        return FoundSkill(name, wrong=(f"it can't be read: {error.strerror}",))
    return skill_of(name, contents, source, str(folder), agent)


def skill_of(
    name: str, contents: Mapping[str, bytes], source: Source = Source.USER, folder: str = "", agent: str = ""
) -> FoundSkill:
    """The skill of a folder of that name with these files. What is wrong with it is a value."""
    try:
        text = next((contents[one] for one in SKILL_FILES if one in contents), None)
        if text is None:
            raise NotASkill(f"there is no {SKILL_FILE} in it")
        head, body = parsed(_decoded(text))
    except NotASkill as error:
        return FoundSkill(name, wrong=(str(error),))
    if wrong := tuple(faults(head, name)):
        return FoundSkill(name, contents=contents, wrong=wrong)
    hashes = _hashes(contents)
    skill = replace(made(head, body), source=source, folder=folder, agent=agent, files=hashes, digest=digest_of(hashes))
    found = FoundSkill(skill.name, skill, contents)
    return replace(found, warned=tuple(warnings(found.texts)), able=capabilities(skill, found.texts))


def contents_in(folder: Path) -> Mapping[str, bytes]:
    """Every file of a folder by its path. Errors: NotASkill, OSError."""
    return dict(_files(folder))


def digest_in(folder: Path) -> str:
    """Hash of a folder's files, as that of a skill; empty where it can't be read, or holds what no skill may."""
    try:
        return digest_of(_hashes(contents_in(folder)))
    except (NotASkill, OSError):
        return ""


def _hashes(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}


def without_files(found: FoundSkill) -> FoundSkill:
    """The same with its SKILL.md alone: of what is only listed not all is kept in memory."""
    return replace(found, contents={name: data for name, data in found.contents.items() if name in SKILL_FILES})


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file by its path. Errors: NotASkill for a link, for what is no file, and for too much."""
    left, count = SKILL_MAX_BYTES, 0
    for path, names, above in _steps(folder):
        for name in sorted(names):
            count += 1
            if count > FILES_MAX:
                raise NotASkill(f"it has more than {FILES_MAX} files")
            inner = f"{path}/{name}".removeprefix("./")
            data = _read(name, above, inner, left)
            left -= len(data)
            yield inner, data


def _steps(folder: Path) -> Iterator[tuple[str, list[str], int]]:
    """Folders from the top down, each with its files. Errors: NotASkill, also for a folder that can't be opened."""

    def missed(path: str, error: OSError) -> None:
        raise NotASkill(f"{shown(path)} can't be read: {error.strerror}")

    if folder.is_symlink():
        raise NotASkill("its folder is a link; put the folder itself there")
    top = os.open(folder, OPEN_FOLDER)
    try:
        for path, folders, files, above in walk(top, OPEN_FOLDER, missed=missed):
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
            yield path, [name for name in files if name not in LEFT_OUT], above
    finally:
        os.close(top)


def _read(name: str, above: int, path: str, most: int) -> bytes:
    if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
        raise NotASkill(f"{shown(path)} is a link; a skill has plain files only")
    descriptor = os.open(name, OPEN_FILE, dir_fd=above)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotASkill(f"{shown(path)} is no plain file")
        data = file.read(most + 1)
    if len(data) > most:
        raise NotASkill(f"it is larger than {SKILL_MAX_BYTES >> 20} MB")
    return data


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotASkill(f"{SKILL_FILE} is not UTF-8 text") from None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def shown(path: str) -> str:
    return visible(path, one_line=True)[:200]


def stamp_of(folder: Path) -> tuple[object, ...]:
    """Something that is another value once a file of the folder is another: cheap, and no proof."""
    found: list[object] = []
    with suppress(OSError):
        for place, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
            for name in sorted(files)[: FILES_MAX + 1]:
                at = Path(place, name).lstat()
                found.append((place, name, at.st_mtime_ns, at.st_ctime_ns, at.st_size, at.st_ino))
            if len(found) > FILES_MAX:
                break
    return tuple(found)
