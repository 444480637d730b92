"""The files of an export: of rooms where a command may do anything to them meanwhile."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.operator.access.exporting import export_to
from bot.operator.views import View
from runtime.contract import Address
from runtime.workspace.workspaces import WorkspaceFolders

ROOM = Address("web", "main", "aaaaaaaaaaaaaaaa")
KEY = "the key of the machine"


class OneRoom:
    """Of somebody who has files there and nothing else."""

    async def export_person(self, name: str) -> View:
        return {"tables": [], "rooms": [str(ROOM)]}

    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View:
        raise AssertionError("there are no tables")


class Swapping(io.BytesIO):
    """A file for the archive; with the first that is written a command makes a link of the folder `b`."""

    def __init__(self, folder: Path, target: Path) -> None:
        super().__init__()
        self._folder, self._target = folder, target

    def write(self, data: Any) -> int:
        if not (self._folder / "b").is_symlink():
            (self._folder / "b").rename(self._folder / "c")
            (self._folder / "b").symlink_to(self._target)
        return super().write(data)


async def archived(file: io.BytesIO, own: WorkspaceFolders) -> dict[str, bytes]:
    await export_to(file, OneRoom(), [own], "user")
    with zipfile.ZipFile(file) as archive:
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


def room_with(tmp_path: Path, **files: bytes) -> tuple[WorkspaceFolders, Path]:
    own = WorkspaceFolders(tmp_path / "workspaces", "main")
    folder = own.folder(ROOM)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return own, folder


async def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path: Path) -> None:
    own, folder = room_with(tmp_path, a=b"a")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secrets").write_text(KEY)
    (folder / "b").mkdir()
    (folder / "b" / "secrets").write_text("mine")
    found = await archived(Swapping(folder, tmp_path / "elsewhere"), own)
    assert found["a"] == b"a"
    assert KEY.encode() not in found.values()


async def test_no_name_time_or_kind_of_a_file_ends_an_export(tmp_path: Path) -> None:
    own, folder = room_with(tmp_path, old=b"1", far=b"2", last=b"3")
    os.utime(folder / "old", (0, 0))
    os.utime(folder / "far", (2**33, 2**33))
    (folder / "link").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"no-utf8-\xff")).write_bytes(b"4")
    found = await archived(io.BytesIO(), own)
    assert found == {"old": b"1", "far": b"2", "last": b"3", "no-utf8-\ufffd": b"4"}
