"""Races for files: while a tool works on a workspace, somebody there turns its names into links, pipes and folders.

Hard links to files outside are for writes alone: whoever can make one (`fs.protected_hardlinks`; and out of the sandbox nobody
can, since it is another mount) may read that file anyway.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import pytest

from adapters.web.files import Upload, listing, size_of
from runtime.contract import PARTIAL, UPLOADS, CardContext, RunId, SessionKey, ToolContext
from runtime.errors import ToolError
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.safe_fs import OPEN_FILE, OPEN_FOLDER, folder_below, put, reading
from runtime.workspace.workspaces import WorkspaceFolders
from tests.security.race_scene import FLAVOURS, HIDDEN_NAME, SECRET, Scene, made, swapping
from tests.security.tally import Tallied, Tally
from tools.files import search_worker
from tools.files.files import list_files, read_file, write_file
from tools.files.undo import UNDO
from tools.files.workspace import attached, opened

OLD: Final = base64.b64encode(SECRET.encode()).decode()
TRIES: Final = 20_000
PATIENCE: Final = 20  # times the tries, at most
NOBODY: Final = 65534  # a user that tools may run as
PATHS: Final[Mapping[str, str]] = {
    "a folder": "dir/x",
    "an inner folder": "dir/sub/x",
    "a file": "dir/x",
    "hard links": "dir/x",
    "uploads": "uploads/x",
    "all at once": "dir/sub/x",
}
Use = Callable[[Scene, str], Awaitable[str]]
"""One use of the file at a path: what it saw."""


def context(scene: Scene) -> ToolContext:
    return ToolContext(scene.workspace, SessionKey("s"), RunId("r"), "c")


async def read(scene: Scene, path: str) -> str:
    return await read_file.call({"path": path}, context(scene))


async def read_slice(scene: Scene, path: str) -> str:
    return await read_file.call({"path": path, "offset": 1, "limit": 8}, context(scene))


async def write(scene: Scene, path: str) -> str:
    return await write_file.call({"path": path, "content": "inside"}, context(scene))


async def write_below(scene: Scene, path: str) -> str:
    return await write_file.call({"path": f"{Path(path).parent}/made/deep/y", "content": "inside"}, context(scene))


async def list_folder(scene: Scene, path: str) -> str:
    return await list_files.call({"path": str(Path(path).parent)}, context(scene))


async def card(scene: Scene, path: str) -> str:
    show = write_file.spec.card
    assert show is not None
    return str(show({"path": path, "content": "new"}, CardContext(scene.workspace)))


async def undo(scene: Scene, path: str) -> str:
    arguments = {"path": path, "content": "inside"}
    kept = UNDO.keep(arguments, context(scene))
    await write_file.call(arguments, context(scene))
    return str(UNDO.take_back(kept, context(scene))) if kept else ""


async def undo_keep(scene: Scene, path: str) -> str:
    """What would be brought back goes into a row, as base64 in JSON: it counts as read."""
    kept = UNDO.keep({"path": path, "content": "inside"}, context(scene)) or ""
    return SECRET if OLD in kept else kept


async def search(scene: Scene, path: str) -> str:
    with opened(scene.workspace, str(Path(path).parent)) as folder:
        return "\n".join(search_worker.matches(re.compile("."), folder, path, OPEN_FILE, OPEN_FOLDER))


async def find_attached(scene: Scene, path: str) -> str:
    return await read_file.call({"path": attached(scene.workspace, Path(path).name)}, context(scene))


async def send(scene: Scene, path: str) -> str:
    with reading(scene.workspace, path) as file:
        return file.read().decode()


async def arrive(scene: Scene, path: str) -> str:
    arrived = scene.arriving / "file"
    arrived.write_text("inside")
    put(scene.workspace, path, arrived, lambda made: os.fchown(made, NOBODY, NOBODY) if os.geteuid() == 0 else None)
    return ""


async def upload(scene: Scene, path: str) -> str:
    """As the page does; and what came is taken away again."""
    fresh = Upload(scene.workspace, mark="1", admit=WorkspaceFolders(scene.outside, "main", uid=NOBODY).admit)
    try:
        fresh.write(b"inside")
        *_, name = fresh.keep("y").split("/")
        with folder_below(scene.workspace, [UPLOADS]) as uploads:
            os.unlink(name, dir_fd=uploads)
        return ""
    finally:
        fresh.close()


async def list_page(scene: Scene, path: str) -> str:
    size = size_of(scene.workspace, path)
    return f"{listing(scene.workspace)}{SECRET if size == len(SECRET) else ''}"


async def clean_up(scene: Scene, path: str) -> str:
    folders = WorkspaceFolders(scene.outside, "main")
    Leftovers(lambda: [folders], uploads=UPLOADS, partial=PARTIAL).drop_uploads(datetime.now(UTC) + timedelta(hours=1))
    return ""


READING: Final = (read, read_slice, list_folder, card, undo_keep, search, find_attached, send, list_page)
WRITING: Final = (write, write_below, undo, arrive, upload, clean_up)
USES: Final[Mapping[str, tuple[Use, ...]]] = {
    **dict.fromkeys(FLAVOURS, (*READING, *WRITING)),
    "hard links": WRITING,
}


# ----------------------------------------------------------------------------------------------------------- one try


async def tried(use: Use, scene: Scene, flavour: str) -> tuple[str, bool]:
    """What a use saw, and whether it did its work or was refused."""
    try:
        return await use(scene, PATHS[flavour]), True
    except (ToolError, OSError) as error:
        return str(error), False


async def raced(flavour: str, tries: int, folder: Path, tally: Tally) -> None:
    """Each use as often as the others, and on until both endings were seen: else the swapper had no turn at a busy machine."""
    scene, ended = made(folder), Counter[bool]()
    before = scene.state()
    with swapping(scene.orders(flavour)):
        for number, use in enumerate(islice(cycle(USES[flavour]), PATIENCE * tries)):
            if number >= tries and len(ended) == 2:
                break
            saw, done = await tried(use, scene, flavour)
            ended[done] += 1
            held = SECRET not in saw and HIDDEN_NAME not in saw and scene.state() == before
            tally.case(held, f"{use.__name__}, {flavour}: {saw[:200]!a}, {scene.state()}")
    assert len(ended) == 2, f"nothing was raced for: {ended}"


@contextmanager
def place(fallback: Path) -> Iterator[Path]:
    """A folder in memory where there is one: what counts is the kernel's names, and not the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else fallback) as folder:
        yield Path(folder)


# ---------------------------------------------------------------------------------------------------------- the suite


@pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a call of Linux")
async def test_in_a_tenth_of_all_races_nothing_outside_is_touched(tmp_path: Path, tallied: Tallied) -> None:
    tally = tallied("file races, a tenth", TRIES // 10)
    for flavour in FLAVOURS:
        with place(tmp_path) as folder:
            await raced(flavour, TRIES // 10 // len(FLAVOURS) + 1, folder, tally)
    tally.close()


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a call of Linux")
async def test_nothing_outside_is_touched(tmp_path: Path, tallied: Tallied) -> None:
    tally = tallied("file races", TRIES)
    for flavour in FLAVOURS:
        with place(tmp_path) as folder:
            await raced(flavour, TRIES // len(FLAVOURS) + 1, folder, tally)
    tally.close()
