"""The list of files with words from outside in them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from runtime.contract import Address
from runtime.workspace.outside_files import ALL_FILES, has_outside, note_outside
from runtime.workspace.workspaces import WorkspaceFolders

ROOM: Final = Address("web", "w1", "r1")
OTHER: Final = Address("web", "w1", "r2")


@pytest.fixture
def workspaces(tmp_path: Path) -> WorkspaceFolders:
    return WorkspaceFolders(tmp_path / "rooms", "main")


@pytest.mark.parametrize(
    ("path", "is_outside"),
    [
        ("notes/page.txt", True),
        ("./notes//page.txt", True),
        ("Notes/PAGE.txt", True),
        ("page.txt", True),
        ("notes", True),
        (".", True),
        ("", True),
        ("x/../notes/page.txt", True),
        ("notes/other.txt", False),
        ("notes/page.txt.old", False),
    ],
)
def test_a_file_is_found_by_whatever_path_leads_to_it(
    path: str, is_outside: bool, workspaces: WorkspaceFolders
) -> None:
    note_outside(workspaces, ROOM, "notes/page.txt")
    assert has_outside(workspaces, ROOM, path) is is_outside


def test_a_room_whose_files_are_its_peoples_has_none(workspaces: WorkspaceFolders) -> None:
    note_outside(workspaces, OTHER, ALL_FILES)
    assert not has_outside(workspaces, ROOM)
    assert has_outside(workspaces, OTHER, "any.txt")


def test_a_file_is_noted_once_whatever_its_name(workspaces: WorkspaceFolders) -> None:
    for _ in range(3):
        note_outside(workspaces, ROOM, "a\nb\u2028c")
    [listed] = (workspaces.root / ".outside").iterdir()
    assert len(listed.read_text(encoding="utf-8").splitlines()) == 1
    assert has_outside(workspaces, ROOM, "a\nb\u2028c")


def test_files_that_a_server_sent_need_no_entry(workspaces: WorkspaceFolders) -> None:
    folder = workspaces.folder(ROOM)
    assert not has_outside(workspaces, ROOM, "mcp/desk-1.txt")
    (folder / "mcp").mkdir()
    assert has_outside(workspaces, ROOM, "mcp/desk-1.txt")
    assert has_outside(workspaces, ROOM)
    assert not has_outside(workspaces, ROOM, "notes.txt")


def test_a_list_that_a_kill_cut_counts_for_every_file(workspaces: WorkspaceFolders) -> None:
    note_outside(workspaces, ROOM, "page.txt")
    [listed] = (workspaces.root / ".outside").iterdir()
    listed.write_text('"pa', encoding="utf-8")
    assert has_outside(workspaces, ROOM, "other.txt")
