"""The folder of files of each session."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, Workspaces
from runtime.workspace.workspaces import WorkspaceFolders

ROOM = Address("web", "main", "r1")
names = st.text(min_size=1, max_size=80)


def test_a_session_has_a_folder_of_its_own_that_only_its_user_may_enter(tmp_path: Path) -> None:
    folder = WorkspaceFolders(tmp_path / "work", "main").folder(ROOM)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.parent == tmp_path / "work"


def test_a_session_keeps_its_folder_over_restarts(tmp_path: Path) -> None:
    first = WorkspaceFolders(tmp_path, "main").folder(ROOM)
    (first / "notes").write_text("hello")
    assert (WorkspaceFolders(tmp_path, "main").folder(ROOM) / "notes").read_text() == "hello"


def test_a_folder_that_someone_removed_is_made_again(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main")
    work.folder(ROOM).rmdir()
    assert work.folder(ROOM).is_dir()


@pytest.mark.parametrize(
    "other",
    [
        Address("web", "main", "r2"),
        Address("web", "other", "r1"),
        Address("fake", "main", "r1"),
        Address("web", "main", "r1", "t1"),
        Address("web", "main", "r-1"),
        Address("web", "main", "r/1"),
    ],
)
def test_two_sessions_never_share_a_folder(other: Address, tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main")
    assert work.folder(other) != work.folder(ROOM)


def test_two_agents_in_one_room_never_share_a_folder(tmp_path: Path) -> None:
    assert WorkspaceFolders(tmp_path, "a").folder(ROOM) != WorkspaceFolders(tmp_path, "b").folder(ROOM)


@given(names, names)
def test_whatever_a_platform_calls_its_rooms_folders_stay_inside_and_apart(one: str, other: str) -> None:
    work = WorkspaceFolders(Path("/work"), "main")
    first, second = (work.path(Address("fake", "main", room)).name for room in (one, other))
    assert (first == second) is (one == other)
    assert first.replace("-", "").isalnum()
    assert first.isascii()
    assert len(first) <= 80


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_folder_and_files_belong_to_the_user_as_whom_tools_run(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main", uid=65534)
    folder = work.folder(ROOM)
    (folder / "upload").write_text("hello")
    with (folder / "upload").open() as made:
        work.admit(made.fileno())
    assert {folder.stat().st_uid, (folder / "upload").stat().st_uid} == {65534}


def test_they_are_workspaces(tmp_path: Path) -> None:
    work: Workspaces = WorkspaceFolders(tmp_path, "main")
    assert work.folder(ROOM).is_dir()


def arrived(work: WorkspaceFolders, text: str = "hello") -> Path:
    file = work.arriving("one")
    file.write_text(text)
    return file


def test_a_file_that_arrived_is_kept_whole_and_once(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main")
    assert not work.has(ROOM, "inbox/1/a.txt")
    for text in ("first", "again"):
        work.keep(ROOM, "inbox/1/a.txt", arrived(work, text))
    assert [path.name for path in (work.folder(ROOM) / "inbox" / "1").iterdir()] == ["a.txt"]
    with work.open(ROOM, "inbox/1/a.txt") as file:
        assert file.read() == b"again"
    assert not work.arriving("one").exists()


def test_no_file_goes_where_a_tool_put_a_link(tmp_path: Path) -> None:
    """Otherwise a tool that made `inbox` a link would have us write, with our rights, wherever it wants."""
    work, outside = WorkspaceFolders(tmp_path / "work", "main"), tmp_path / "outside"
    outside.mkdir()
    (work.folder(ROOM) / "inbox").symlink_to(outside)
    with pytest.raises(OSError, match="inbox"):
        work.keep(ROOM, "inbox/a.txt", arrived(work))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["secret", "folder/secret"])
def test_nothing_is_read_through_a_link(path: str, tmp_path: Path) -> None:
    """Otherwise a reply's file, made a link by a tool, would carry any file of this machine into the chat."""
    work, outside = WorkspaceFolders(tmp_path / "work", "main"), tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hidden")
    folder = work.folder(ROOM)
    (folder / "secret").symlink_to(outside / "secret")
    (folder / "folder").symlink_to(outside)
    with pytest.raises(OSError, match=r"secret|folder"), work.open(ROOM, path):
        pytest.fail("it was opened")
    assert not work.has(ROOM, path)


@pytest.mark.parametrize("path", ["../other", "/etc/passwd", "a//b", "", ".", "a/\0"])
def test_a_path_that_leads_out_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a path inside"), WorkspaceFolders(tmp_path, "main").open(ROOM, path):
        pytest.fail("it was opened")


def test_a_pipe_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main")
    os.mkfifo(work.folder(ROOM) / "pipe")
    assert not work.has(ROOM, "pipe")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_is_kept_belongs_to_the_user_as_whom_tools_run(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main", uid=65534)
    work.keep(ROOM, "inbox/1/a.txt", arrived(work))
    inbox = work.folder(ROOM) / "inbox"
    assert {path.stat().st_uid for path in (inbox, inbox / "1", inbox / "1" / "a.txt")} == {65534}


def test_a_folder_that_a_command_shut_is_opened_again(tmp_path: Path) -> None:
    work = WorkspaceFolders(tmp_path, "main")
    folder = work.folder(ROOM)
    folder.chmod(0)
    assert work.folder(ROOM).stat().st_mode & 0o777 == 0o700
    folder.chmod(0)
    assert WorkspaceFolders(tmp_path, "main").folder(ROOM).stat().st_mode & 0o777 == 0o700
