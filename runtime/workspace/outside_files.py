"""Files of a workspace with words from outside in them: a list beside the folder, where no tool can reach it.

On the list are files that another program sent, whole results of calls that read outside text, and whatever a tainted run
wrote. Files that an MCP server sent need no entry: their folder is theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from runtime.contract import Address
from runtime.workspace.workspaces import WorkspaceFolders

LISTS: Final = ".outside"
"""Under the root, and no session's: a list for each workspace that has such files."""
ALL_FILES: Final = "*"
"""Stands for every file: a command may have written any."""
OF_SERVERS: Final = "mcp"
"""The folder of files that MCP servers sent."""


def note_outside(workspaces: WorkspaceFolders, address: Address, path: str) -> None:
    """Put a file on the list, once. Blocks. Errors: OSError."""
    if path in _listed(workspaces, address):
        return
    folder = workspaces.root / LISTS
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / workspaces.path(address).name).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(path)}\n")


def has_outside(workspaces: WorkspaceFolders, address: Address, path: str = "") -> bool:
    """True if `path`, or a file below it, may have words from outside; without a path, if any file may. Blocks."""
    if _is_near(OF_SERVERS, path) and (workspaces.path(address) / OF_SERVERS).exists():
        return True
    return any(one == ALL_FILES or _is_near(one, path) for one in _listed(workspaces, address))


def _listed(workspaces: WorkspaceFolders, address: Address) -> Iterator[str]:
    try:
        text = (workspaces.root / LISTS / workspaces.path(address).name).read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    for line in text.split("\n")[:-1]:
        try:
            yield str(json.loads(line))
        except ValueError:
            yield ALL_FILES
    if not text.endswith("\n"):  # a kill cut it: nobody knows which file was meant
        yield ALL_FILES


def _is_near(outside: str, path: str) -> bool:
    """True if one lies in the other, or by its bare name: files that were sent are found by that."""
    theirs, ours = _parts(outside), _parts(path)
    shorter = min(len(theirs), len(ours))
    return ".." in ours or theirs[:shorter] == ours[:shorter] or (len(ours) == 1 and theirs[-1] == ours[0])


def _parts(path: str) -> tuple[str, ...]:
    """Names of a path. Small and capital letters are alike, as they are to some file systems."""
    return tuple(name.casefold() for name in PurePosixPath(path).parts if name != "/")
