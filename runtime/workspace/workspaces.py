"""The folder of files of each session."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Final

from runtime.contract import Address
from runtime.workspace.lent import Lending, lent_folder
from runtime.workspace.safe_fs import is_there, put, reading

NOTHING_LENT: Final = Lending()
ARRIVING: Final = ".arriving"
"""Under the root, and no session's: what is on its way into a workspace, where no tool can reach it."""


class WorkspaceFolders:
    """Implements `contract.Workspaces`: one folder an address under `root`, owned by the user as whom tools run.

    They are those of `agent`: each has its own. `uid` is that user where this process is root; an ordinary user's tools
    run as itself. `lending` tells which folders of people may stand in place of one.
    """

    def __init__(self, root: Path, agent: str, *, uid: int | None = None, lending: Lending = NOTHING_LENT) -> None:
        self.root = root
        self.lending = lending
        self._agent = agent
        self._uid = uid
        self._made: set[str] = set()

    def of(self, agent: str) -> WorkspaceFolders:
        """Workspace folders of another agent."""
        return WorkspaceFolders(self.root, agent, uid=self._uid, lending=self.lending)

    def path(self, address: Address) -> Path:
        """Path of the folder, there or not: readable, and unique by the hash, since two addresses may read alike once cleaned."""
        key = f"{self._agent}|{address}"
        clean = re.sub(r"[^A-Za-z0-9-]+", "-", str(address)).strip("-")[:60]
        return self.root / f"{clean}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"

    @property
    def uid(self) -> int:
        """The user as whom tools run."""
        return os.geteuid() if self._uid is None or os.geteuid() != 0 else self._uid

    def folder(self, address: Address) -> Path:
        path = self.path(address)
        if path.name not in self._made or not _is_usable(path):
            if lent := lent_folder(self.root, path.name, self.lending, uid=self.uid):
                return lent
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.mkdir(exist_ok=True, mode=0o700)
            if not _is_usable(path):
                path.chmod(0o700)  # a command shut it, for itself and for everybody after it
            self.admit_path(path)
            self._made.add(path.name)
        return path

    def admit_path(self, path: Path) -> None:
        """`admit` by a path: only where no tool can have made a link of it."""
        if self._uid is not None and os.geteuid() == 0:
            os.chown(path, self._uid, self._uid, follow_symlinks=False)

    def open(self, address: Address, path: str) -> AbstractContextManager[BinaryIO]:
        return reading(self.folder(address), path)

    def has(self, address: Address, path: str) -> bool:
        """True if that file is there."""
        return is_there(self.folder(address), path)

    def arriving(self, name: str) -> Path:
        """Path for a file called `name`, which nobody else uses, to be written before `keep`."""
        folder = self.root / ARRIVING
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / name

    def keep(self, address: Address, path: str, arrived: Path) -> None:
        """Move the whole file `arrived` to `path` of the folder, over what is there. Errors: OSError, ValueError."""
        put(self.folder(address), path, arrived, self.admit)

    def admit(self, made: int) -> None:
        """Give what is open to the user that tools run as."""
        if self._uid is not None and os.geteuid() == 0:
            os.fchown(made, self._uid, self._uid)


def _is_usable(path: Path) -> bool:
    """True if it is a folder that its owner may use."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(mode) and mode & stat.S_IRWXU == stat.S_IRWXU
