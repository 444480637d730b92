"""Handing over a file: what is attached, under which name, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.contract import FileRef, RunId, SessionKey, ToolContext
from runtime.errors import ToolError
from tools.files.handing import FILE_MAX_BYTES, send_file


async def sent(workspace: Path, path: str, name: str = "") -> tuple[str, list[FileRef]]:
    files: list[FileRef] = []
    context = ToolContext(workspace, SessionKey("s"), RunId("r"), "c", attach=files.append)
    return await send_file.call({"path": path, "name": name}, context), files


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sales.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    return tmp_path


async def test_a_file_is_attached_under_its_own_name_or_another(workspace: Path) -> None:
    told, [file] = await sent(workspace, "./out//sales.csv")
    assert (file.name, file.path, file.size, file.mime) == ("sales.csv", "out/sales.csv", 8, "text/csv")
    assert told == "sales.csv (8 bytes) is attached to your reply."
    _, [file] = await sent(workspace, "out/sales.csv", "Sales in  May.csv")
    assert file.name == "Sales in May.csv"


async def test_a_file_that_somebody_sent_is_found_by_its_bare_name(workspace: Path) -> None:
    (workspace / "uploads").mkdir()
    (workspace / "uploads" / "notes.pdf").write_bytes(b"%PDF")
    _, [file] = await sent(workspace, "notes.pdf")
    assert (file.path, file.mime) == ("uploads/notes.pdf", "application/pdf")


@pytest.mark.parametrize(
    "path", ["out", "gone.txt", "../x", "/etc/passwd", "link.txt", "pipe", "empty", "large", "a\0b"]
)
async def test_what_is_no_file_of_the_workspace_is_refused(workspace: Path, path: str) -> None:
    (workspace / "link.txt").symlink_to("/etc/passwd")
    os.mkfifo(workspace / "pipe")
    (workspace / "empty").touch()
    with (workspace / "large").open("wb") as large:
        large.truncate(FILE_MAX_BYTES + 1)
    with pytest.raises(ToolError):
        await sent(workspace, path)


@pytest.mark.parametrize("name", ["a/b.csv", "..\\b.csv", ".hidden", "x" * 121, "a\u202eb.csv"])
async def test_a_name_is_a_plain_one(workspace: Path, name: str) -> None:
    with pytest.raises(ToolError, match="Give a name"):
        await sent(workspace, "out/sales.csv", name)
