"""Files of somebody who is forgotten: folders of rooms that were theirs alone, and what they sent to others."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from runtime.contract import PARTIAL, UPLOADS, Address, Now
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.safe_fs import folder_below, parts
from runtime.workspace.workspaces import WorkspaceFolders

WHATEVER_CAME: Final = timedelta(days=1)
"""Beyond now: a folder goes also where a file came into it a moment ago."""


class ForgottenFiles:
    """Removes them from the workspaces of every agent that there is by then."""

    def __init__(self, workspaces: Callable[[], Sequence[WorkspaceFolders]], now: Now) -> None:
        self._workspaces = workspaces
        self._now = now

    def drop_rooms(self, rooms: Sequence[Address]) -> None:
        """Remove the folders of `rooms`, with all that is in them."""
        leftovers = Leftovers(self._workspaces, uploads=UPLOADS, partial=PARTIAL)
        leftovers.drop_workspaces(rooms, self._now() + WHATEVER_CAME)

    def drop_file(self, room: Address, path: str) -> None:
        """Remove one file of a room, where it is still there. Errors: ValueError for a path that leads elsewhere."""
        *folders, name = parts(path)
        for own in self._workspaces():
            root = own.path(room)
            with suppress(FileNotFoundError), folder_below(root, folders) as folder:
                os.unlink(name, dir_fd=folder)
