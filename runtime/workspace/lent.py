"""Folders of people that a conversation works in, in place of one of its own. A list beside the workspaces tells which.

Each use asks whether the settings of this start allow it: what they no longer do is taken back by that. What is lent is never made, closed,
cleaned up or removed here: it is somebody's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger("workspace")

LENT: Final = ".lent"
"""Under the root, and no session's: a file for each workspace that is elsewhere, with its path."""
NO_SUCH_FOLDER: Final = "{folder}: there is no such folder."
NOT_ALLOWED: Final = "{folder} isn't below a folder that files.lent allows: {roots}."
HIDDEN: Final = "{folder} is in a hidden folder ({name}), where programs keep keys and settings. Choose another one."
KEPT_THERE: Final = (
    "{folder} holds, or is in, {what} ({place}): an agent there could read keys and change rules. Choose another one."
)
NOT_MINE: Final = "{folder} belongs to another user than the one as whom tools run ({uid})."


@dataclass(frozen=True, slots=True)
class Lending:
    """The folders that may be lent: those below `roots`, which hold nothing of Signalbox's `own`, each behind what it is."""

    roots: Sequence[Path] = ()
    own: Sequence[tuple[str, Path]] = ()

    def refusal(self, folder: Path, *, uid: int) -> str:
        """The reason for which a folder may not be lent; empty where it may. Links in it count as what they lead to."""
        try:
            real = folder.resolve(strict=True)
            about = real.stat()
        except (OSError, RuntimeError):
            return NO_SUCH_FOLDER.format(folder=folder)
        if not stat.S_ISDIR(about.st_mode):
            return NO_SUCH_FOLDER.format(folder=folder)
        for what, place in self.own:
            here = place.resolve()
            if real == here or here in real.parents or real in here.parents:
                return KEPT_THERE.format(folder=folder, what=what, place=here)
        allowed = [root.resolve() for root in self.roots]
        within = next((root for root in allowed if root in real.parents), None)
        if within is None:
            return NOT_ALLOWED.format(folder=folder, roots=", ".join(map(str, allowed)) or "none")
        if name := next((part for part in real.relative_to(within).parts if part.startswith(".")), None):
            return HIDDEN.format(folder=folder, name=name)
        return "" if about.st_uid == uid else NOT_MINE.format(folder=folder, uid=uid)


def lend(root: Path, name: str, folder: Path) -> None:
    """Have the workspace `name` be `folder` from now on. Errors: OSError."""
    (root / LENT).mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = root / LENT / f".{name}.new"
    fresh.write_text(str(folder.resolve(strict=True)), encoding="utf-8")
    fresh.replace(root / LENT / name)


def lent_folder(root: Path, name: str, lending: Lending, *, uid: int) -> Path | None:
    """The folder that is the workspace `name`; None for one of its own, also where what was lent is gone, or may be lent no more."""
    try:
        folder = Path((root / LENT / name).read_text(encoding="utf-8"))
    except OSError:
        return None
    if why := lending.refusal(folder, uid=uid):
        log.warning("a lent folder is taken back", folder=str(folder), reason=why)
        return None
    try:
        if folder.resolve(strict=True) == folder and os.access(folder, os.R_OK | os.X_OK):
            return folder
        log.warning("a lent folder leads elsewhere by now", folder=str(folder))
    except OSError as error:
        log.warning("a lent folder is gone", folder=str(folder), reason=error.strerror)
    return None
