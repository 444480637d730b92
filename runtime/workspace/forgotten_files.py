"""Files of somebody who is forgotten: folders of rooms that were theirs alone, and what they sent to others."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from runtime.contract import PARTIAL, UPLOADS, Address
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.safe_fs import folder_below, parts
from runtime.workspace.workspaces import WorkspaceFolders

WHENEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""A folder goes also where a file came into it a moment ago."""


class ForgottenFiles:
    """Removes them from the workspaces of every agent that there is by then."""

    def __init__(self, workspaces: Callable[[], Sequence[WorkspaceFolders]]) -> None:
        self._workspaces = workspaces

    def drop_rooms(self, rooms: Sequence[Address]) -> None:
        """Remove the folders of `rooms`, with all that is in them."""
        leftovers = Leftovers(self._workspaces, uploads=UPLOADS, partial=PARTIAL)
        leftovers.drop_workspaces(rooms, WHENEVER)

    def drop_file(self, room: Address, path: str) -> None:
        """Remove one file of a room, where it is still there. Errors: ValueError for a path that leads elsewhere."""
        *folders, name = parts(path)
        for own in self._workspaces():
            root = own.path(room)
            with suppress(FileNotFoundError), folder_below(root, folders) as folder:
                os.unlink(name, dir_fd=folder)
