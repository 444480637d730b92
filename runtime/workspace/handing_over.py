"""Files that go from one workspace to another: to a room that a report is for, or between an agent and the room it speaks in."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from runtime.contract import Address
from runtime.workspace.workspaces import WorkspaceFolders


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file of a workspace: whose workspaces they are, of which room, and its path there."""

    workspaces: WorkspaceFolders
    address: Address
    path: str


def hand_over(source: PlacedFile, to: PlacedFile, name: str) -> None:
    """Copy a file, over what is there. `name` is one that nobody else uses meanwhile. Errors: OSError, ValueError."""
    arriving = to.workspaces.arriving(name)
    try:
        with source.workspaces.open(source.address, source.path) as opened, arriving.open("wb") as target:
            shutil.copyfileobj(opened, target)
        to.workspaces.keep(to.address, to.path, arriving)
    finally:
        arriving.unlink(missing_ok=True)
