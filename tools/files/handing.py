"""The tool that hands a file of the workspace to the people in the room."""

from __future__ import annotations

import mimetypes
import os
import stat
from pathlib import PurePosixPath
from typing import Annotated, Final

from runtime.contract import Carries, Effect, FileRef, Flow, Reads, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from runtime.markup.moments import several
from tools.files.workspace import attached, named, opened, parts_of
from tools.kit.declare import tool

FILE_MAX_BYTES: Final = 50 * 1024 * 1024
"""What Telegram takes of a bot; a platform that takes less says so in place of the file."""
NAME_MAX_CHARS: Final = 120
KIND_UNKNOWN: Final = "application/octet-stream"
HANDING: Final = Flow(Reads.OURS, stays=True, carries={"name": Carries.DETAIL})


# READ: it changes nothing, and who gets the file may read the room's files anyway. A repeat attaches the same one again.
@tool(effect=Effect.READ, seldom=True, flow=HANDING)
def send_file(
    path: Annotated[str, "File in the workspace."],
    context: ToolContext,
    name: Annotated[str, "What people see it as."] = "",
) -> str:
    """Attach a file to your reply, such as a CSV that you wrote."""
    path = attached(context.workspace, path)
    with opened(context.workspace, path) as file:
        found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise ToolFailed(f"{named(path)} is no file. Put what you want to send into one.")
    if not 0 < found.st_size <= FILE_MAX_BYTES:
        raise ToolFailed(
            f"{named(path)} has {several(found.st_size, 'byte')}; a file that is sent has 1 to {FILE_MAX_BYTES:,}."
        )
    shown = name_of(name, path)
    kind = mimetypes.guess_type(shown)[0] or KIND_UNKNOWN
    context.attach(FileRef(name=shown, path="/".join(parts_of(path)), size=found.st_size, mime=kind))
    return f"{shown} ({several(found.st_size, 'byte')}) is attached to your reply."


def name_of(wanted: str, path: str) -> str:
    """The name that people see: the one that is wanted, else the file's own. Errors: ToolRetry for one with a folder in it."""
    name = " ".join(wanted.split()) or PurePosixPath(path).name
    if len(name) > NAME_MAX_CHARS or "/" in name or "\\" in name or not name.isprintable() or name.startswith("."):
        raise ToolRetry(f"Give a name of at most {NAME_MAX_CHARS} characters, without a folder, such as report.csv.")
    return name
