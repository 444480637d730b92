"""Commits as a card tells of them, read from a repository's files without git: a card is drawn where nothing may run."""

from __future__ import annotations

import os
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from runtime.workspace.safe_fs import folder_below, reading
from tools.files.workspace import parts_of
from tools.git.wire import OBJECT

COMMITS_LOOKED_AT: Final = 50
COMMITS_SHOWN: Final = 5
COMMIT_MAX_BYTES: Final = 64 * 1024
SUBJECT_MAX_CHARS: Final = 80
TIPS_MAX: Final = 200
PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)


def commits(workspace: Path, path: str, commit: str) -> str:
    """Subjects of a commit and of those before it that no server has as far as we know; empty where they can't be read."""
    try:
        folders = (*parts_of(path), ".git")
    except ToolFailed:
        return ""
    found: list[str] = []
    next_one, known = "", set[str]()
    with suppress(OSError, ValueError, zlib.error):  # from there on they are in packs
        next_one, known = _whole(workspace, folders, commit), _tips(workspace, folders)
        while next_one and next_one not in known and len(found) < COMMITS_LOOKED_AT:
            head, _, message = _commit(workspace, folders, next_one).partition(b"\n\n")
            subject = next(iter(message.decode("utf-8", "replace").strip().splitlines()), "")
            found.append(clip(subject, SUBJECT_MAX_CHARS) or "no subject")
            parent = PARENT.search(head)
            next_one = parent[1].decode() if parent else ""
    return _told(found, is_whole=not next_one or next_one in known)


def _told(found: list[str], *, is_whole: bool) -> str:
    if not found:
        return ""
    shown = "; ".join(found[:COMMITS_SHOWN])
    count = f"{len(found)}" if is_whole else f"at least {len(found)}"
    noun = "commit" if len(found) == 1 else "commits"
    return f"{count} {noun}: {shown}{'; …' if len(found) > COMMITS_SHOWN else ''}"


def _whole(workspace: Path, folders: tuple[str, ...], commit: str) -> str:
    """The whole id of a commit in a file of its own."""
    if OBJECT.fullmatch(commit):
        return commit
    with folder_below(workspace, (*folders, "objects", commit[:2])) as inside:
        fitting = [name for name in os.listdir(inside) if name.startswith(commit[2:])]  # noqa: PTH208 - an open folder
    return f"{commit[:2]}{fitting[0]}" if len(fitting) == 1 else ""


def _commit(workspace: Path, folders: tuple[str, ...], commit: str) -> bytes:
    """Errors: OSError where it is in a pack; ValueError for what is no commit."""
    with reading(workspace, "/".join([*folders, "objects", commit[:2], commit[2:]])) as file:
        raw = zlib.decompressobj().decompress(file.read(COMMIT_MAX_BYTES), COMMIT_MAX_BYTES)
    kind, _, text = raw.partition(b"\0")
    if not kind.startswith(b"commit "):
        raise ValueError("no commit")
    return text


def _tips(workspace: Path, folders: tuple[str, ...]) -> set[str]:
    """Commits at which the branches of servers were last seen."""
    found: set[str] = set()
    with suppress(OSError), folder_below(workspace, (*folders, "refs", "remotes", "origin")) as inside:
        names = sorted(os.listdir(inside))[:TIPS_MAX]  # noqa: PTH208 - an open folder
        for name in names:
            with (
                suppress(OSError, ValueError),
                reading(workspace, "/".join([*folders, "refs", "remotes", "origin", name])) as file,
            ):
                found.add(file.read(40).decode("ascii", "replace"))
    return found
