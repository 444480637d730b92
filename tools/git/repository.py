"""A repository of the workspace, looked at before git is: it must be whole there, and name no program."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from runtime.text.outside import material
from runtime.workspace.safe_fs import folder_in
from tools.files.workspace import named, opened, parts_of
from tools.git import program
from tools.kit.process import Ended
from tools.sandbox.sandbox import Sandbox

REPOSITORY_MAX_CHARS: Final = 20_000  # characters of output for the model
WHOLE: Final = 200_000  # characters of output that we read ourselves
KEYS_MAX_CHARS: Final = 40_000
ENTRIES_MAX: Final = 5_000
"""Entries of `.git` that are looked at for links: of more nobody can tell."""
LEADING_OUT: Final = ("commondir", "objects/info/alternates", "objects/info/http-alternates")
"""Files of `.git` by which the rest of a repository is found elsewhere."""
NO_GIT: Final = "git isn't installed on this machine. An operator can install it."
NO_VARIABLES: Final[Mapping[str, str]] = {}


class GitSaid(ToolFailed):
    """Words of git, which repeat names that stand in the repository: material, as all that stands there."""

    def __init__(self, words: str, why: str = "", source: str = "a git repository") -> None:
        super().__init__("\n".join(filter(None, (why, material(words, source, markup=False)))))
        self.words = words


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at `folder` of a workspace. Nothing is run in it before `checked`."""

    sandbox: Sandbox
    workspace: Path
    folder: str

    async def checked(self) -> Repository:
        """Itself. Errors: ToolFailed where there is none, part of it is elsewhere, or its settings name programs."""
        await asyncio.to_thread(look, self.workspace, self.folder)
        asked = f"{program.words(*program.LIST_KEYS, plain=True)} | head -c {KEYS_MAX_CHARS}"
        ended = await self._run([f"command -v git >/dev/null || exit {program.NO_GIT}", asked], WHOLE)
        if ended.code == program.NO_GIT:
            raise ToolFailed(NO_GIT)
        if len(ended.text) >= KEYS_MAX_CHARS:
            raise ToolFailed("The repository has too many settings of its own, so git tools leave it alone.")
        if ended.code != 0 or ended.timed_out:
            raise GitSaid(_said(ended), "git can't read the repository's settings.")
        if wrong := program.objection(program.dangerous(ended.text)):
            raise GitSaid(wrong)
        return self

    async def git(
        self, *arguments: str, more: Mapping[str, str] = NO_VARIABLES, limit: int = REPOSITORY_MAX_CHARS
    ) -> str:
        """Output of one call of git. Errors: ToolFailed with what it said where it fails."""
        return await self.lines([program.words(*arguments, more=more)], limit=limit)

    async def lines(self, lines: Sequence[str], *, limit: int = REPOSITORY_MAX_CHARS) -> str:
        """Output of lines of the shell. Errors: ToolFailed with what they said where one fails."""
        ended = await self._run(lines, limit)
        if ended.timed_out:
            raise ToolFailed("git was stopped: it took too long.")
        if ended.code == program.NO_GIT:
            raise ToolFailed(NO_GIT)
        if ended.code != 0:
            raise GitSaid(_said(ended)) if _said(ended) else ToolFailed(f"git failed with exit code {ended.code}.")
        return ended.text

    async def _run(self, lines: Sequence[str], limit: int) -> Ended:
        return await self.sandbox.run(program.script(self.folder, lines), self.workspace, limit=limit)


def repository(sandbox: Sandbox, workspace: Path, path: str) -> Repository:
    """The one at `path`. Errors: ToolFailed for a path that leaves the workspace."""
    return Repository(sandbox, workspace, "/".join(parts_of(path)) or ".")


def _said(ended: Ended) -> str:
    """Complaints of git, without what it begins and ends them with."""
    return ended.text.strip().removeprefix("fatal: ").removeprefix("error: ")


def look(workspace: Path, folder: str) -> None:
    """Errors: ToolFailed where no repository is there, or part of it may be elsewhere."""
    with opened(workspace, folder):
        pass  # refuses a link on the way, and what is no folder below
    git = "/".join(part for part in (folder, ".git") if part != ".")
    try:
        with opened(workspace, git) as found:
            _judge(found, folder)
    except ToolFailed as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.ENOENT:
            raise ToolFailed(f"There is no git repository in {named(folder)}.") from error
        raise


def _judge(git: int, folder: str) -> None:
    """Errors: ToolFailed for a `.git` that is no folder, or has links or signs to elsewhere in it."""
    if not stat.S_ISDIR(os.fstat(git).st_mode):
        raise ToolFailed(
            f"The .git of {named(folder)} is no folder: its repository is elsewhere, where git tools don't go."
        )
    for sign in LEADING_OUT:
        with suppress(OSError):
            os.stat(sign, dir_fd=git, follow_symlinks=False)
            raise ToolFailed(
                f"The repository in {named(folder)} has parts elsewhere ({sign}), where git tools don't go."
            )
    for count, (name, is_link) in enumerate(_entries(git)):
        if is_link:
            raise ToolFailed(f"{named(f'.git/{name}')} is a symbolic link, and links are not followed.")
        if count > ENTRIES_MAX:
            raise ToolFailed(f"The .git of {named(folder)} has too many entries.")


def _entries(git: int) -> Iterator[tuple[str, bool]]:
    """Entries of the folder and of those in it, and whether each is a link."""
    with os.scandir(git) as top:
        entries = [(entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in top]
    for name, is_link, is_folder in entries:
        yield name, is_link
        if is_folder:
            with suppress(OSError), folder_in(git, name) as inside, os.scandir(inside) as below:  # gone meanwhile
                yield from [(f"{name}/{entry.name}", entry.is_symlink()) for entry in below]
