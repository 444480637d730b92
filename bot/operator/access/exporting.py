"""A person's data as one zip file: a file of JSON lines for each table, and the files of rooms that are theirs alone."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Protocol

from bot.operator.views import View
from runtime.contract import Address
from runtime.workspace.workspaces import WorkspaceFolders


class Exports(Protocol):
    """The rows of one person, a page of a table at a time."""

    async def export_person(self, name: str) -> View: ...
    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View: ...


async def export_to(file: IO[bytes], api: Exports, folders: Sequence[WorkspaceFolders], name: str) -> int:
    """Write all that is kept of somebody; the number of rows. The audit notes who asked for it. Errors: Refusal."""
    plan = await api.export_person(name)
    count = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in plan["tables"]:
            count += await _table(api, archive, name, table)
        await asyncio.to_thread(_add_files, archive, folders, plan["rooms"])
    return count


async def _table(api: Exports, archive: zipfile.ZipFile, name: str, table: str) -> int:
    """One table, a page at a time. A table without such rows has no file."""
    after, count = None, 0
    with ExitStack() as opened:
        write: IO[bytes] | None = None
        while True:
            page = await api.export_page(name, {"table": table, "after": after})
            if page["rows"] and write is None:
                write = opened.enter_context(archive.open(f"{table}.jsonl", "w", force_zip64=True))
            for row in page["rows"]:
                write.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())  # type: ignore[union-attr]
                count += 1
            if (after := page["after"]) is None:
                return count


def _add_files(archive: zipfile.ZipFile, folders: Sequence[WorkspaceFolders], rooms: Sequence[str]) -> None:
    for own, path in files_of(folders, rooms):
        archive.write(path, f"files/{path.relative_to(own.root)}")


def files_of(folders: Sequence[WorkspaceFolders], rooms: Sequence[str]) -> Iterator[tuple[WorkspaceFolders, Path]]:
    """Files of rooms that are theirs alone; links are left out."""
    for own in folders:
        for room in rooms:
            for path in sorted(own.path(Address.parse(room)).rglob("*")):
                if path.is_file() and not path.is_symlink():
                    yield own, path
