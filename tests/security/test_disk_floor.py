"""A disk that runs full: below its floor nothing is taken in or run, whoever asks, and then all goes on."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from aiohttp import FormData

from runtime.contract import Role, RunId, SessionKey, ToolContext
from runtime.errors import ToolFailed
from runtime.workspace.disk_space import FEW_FILES, DiskBounds, DiskSpace
from tests.e2e.visitor import until
from tests.security.bombs import MIB
from tests.security.tally import Tallied, Tally
from tests.unit.tools.conftest import working
from tests.unit.web.stage import served
from tools.files.files import write_file
from tools.files.workspace import own
from tools.sandbox.launcher import _call
from tools.sandbox.sandbox import ShellSettings
from tools.sandbox.spaced import SpacedSandbox, SpacedTool

FLOOR: Final = "must stay free"
BOUNDS: Final = DiskBounds(room=1 << 40, person=1 << 40, free=16 * MIB)
HOLDING: Final = "while :; do exec {f}>x || break; rm x; head -c 2M /dev/zero >&$f || break; done; sleep 15"
"""Fills the disk with files that have no name, so that no walk finds them."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 48 MiB and some files more than must stay free."""
    if os.geteuid() != 0:
        pytest.skip("not run: only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    try:
        _call("mount", b"none", os.fsencode(place), b"tmpfs", 0, f"size=48m,nr_inodes={FEW_FILES + 500}".encode())
    except OSError as error:
        pytest.skip(f"not run: no small disk can be mounted here ({error})")
    try:
        yield place
    finally:
        _call("umount2", os.fsencode(place), 2)  # MNT_DETACH, <sys/mount.h>


@dataclass(frozen=True)
class Full:
    """A room on the small disk, and whatever may write there."""

    room: Path
    space: DiskSpace
    sandbox: SpacedSandbox
    upload: Callable[[], Awaitable[str]]

    async def run(self, command: str) -> str:
        try:
            return (await self.sandbox.run(command, self.room, limit=5_000)).text
        except ToolFailed as error:
            return str(error)

    async def write(self) -> str:
        context = ToolContext(self.room, SessionKey("s"), RunId("r"), "c")
        try:
            return await SpacedTool(write_file, self.space).call({"path": "notes", "content": "x"}, context)
        except ToolFailed as error:
            return str(error)

    async def is_roomy(self) -> bool | None:
        return await self.space.shortage(self.room) is None or None

    async def told(self) -> list[str]:
        """The answers to a command, a tool, an upload and a file from a chat platform."""
        short = await self.space.shortage(self.room, "ada")
        return [await self.run("echo ran"), await self.write(), await self.upload(), short.words if short else ""]


async def test_below_the_floor_nothing_is_written_and_above_it_all_goes_on(disk: Path, tallied: Tallied) -> None:
    tally = tallied("exhaustion, disk floor", 13)
    settings = ShellSettings(file_mib=64, timeout_seconds=20)
    space = DiskSpace(BOUNDS, disk / "ledger")
    sandbox = SpacedSandbox(await working(settings), space)
    async with served(disk, space=space) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:

        async def upload() -> str:
            form = FormData()
            form.add_field("file", BytesIO(b"x"), filename="a.txt")
            async with client.post("/api/rooms/room01/files", data=form) as answer:
                return await answer.text()

        room = disk / "workspace"
        room.mkdir()
        own(room, settings.uid)
        full = Full(room, space, sandbox, upload)
        await _open(full, tally, "at first")
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(40 * MIB))
        for words in await full.told():
            tally.case(FLOOR in words, f"below the floor: {words}")
        ballast.unlink()
        await _open(full, tally, "with room again")
        tally.case(FLOOR in await full.run(HOLDING), "files without a name fill the disk")
        await until(full.is_roomy, "room, once what was killed has let go of its files")
        await _open(full, tally, "once they are gone")
        for number in range(1_000):
            (room / f"t{number}").touch()
        for words in await full.told():
            tally.case("no room for more files" in words, f"with too many files: {words}")
        for number in range(1_000):
            (room / f"t{number}").unlink()
        await _open(full, tally, "with few files again")
    tally.close()


async def _open(full: Full, tally: Tally, when: str) -> None:
    ran, wrote, uploaded, short = await full.told()
    held = ran == "ran\n" and wrote.startswith("Wrote") and '"path"' in uploaded and not short
    tally.case(held, f"{when}: {ran!r} {wrote!r} {uploaded!r} {short!r}")
