"""Files of somebody who is forgotten: folders of rooms that were theirs alone, and what they sent to others."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from runtime.contract import PARTIAL, UPLOADS, Address
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.disk_space import ledger_page
from runtime.workspace.safe_fs import folder_below, parts
from runtime.workspace.workspaces import WorkspaceFolders

WHENEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""A folder goes also where a file came into it a moment ago."""


class ForgottenFiles:
    """Removes them from the workspaces of every agent that there is by then. `ledger` keeps what people sent."""

    def __init__(self, workspaces: Callable[[], Sequence[WorkspaceFolders]], ledger: Path) -> None:
        self._workspaces = workspaces
        self._ledger = ledger

    def drop_rooms(self, rooms: Sequence[Address]) -> None:
        """Remove the folders of `rooms`, with all that is in them."""
        leftovers = Leftovers(self._workspaces, uploads=UPLOADS, partial=PARTIAL)
        leftovers.drop_workspaces(rooms, WHENEVER)

    def drop_ledger(self, ids: Collection[str]) -> None:
        """Remove the list of what somebody sent, which has names of files."""
        for one in ids:
            ledger_page(self._ledger, one).unlink(missing_ok=True)

    def drop_file(self, room: Address, path: str) -> None:
        """Remove one file of a room, where it is still there. Errors: ValueError for a path that leads elsewhere."""
        *folders, name = parts(path)
        for own in self._workspaces():
            root = own.path(room)
            with suppress(FileNotFoundError), folder_below(root, folders) as folder:
                os.unlink(name, dir_fd=folder)
