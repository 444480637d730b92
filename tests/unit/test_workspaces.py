"""The folder of files of each session."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, Workspaces
from runtime.workspaces import SessionWorkspaces

ROOM = Address("web", "main", "r1")
names = st.text(min_size=1, max_size=80)


def test_a_session_has_a_folder_of_its_own_that_only_its_user_may_enter(tmp_path: Path) -> None:
    folder = SessionWorkspaces(tmp_path / "work").folder(ROOM)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.parent == tmp_path / "work"


def test_a_session_keeps_its_folder_over_restarts(tmp_path: Path) -> None:
    first = SessionWorkspaces(tmp_path).folder(ROOM)
    (first / "notes").write_text("hello")
    assert (SessionWorkspaces(tmp_path).folder(ROOM) / "notes").read_text() == "hello"


def test_a_folder_that_someone_removed_is_made_again(tmp_path: Path) -> None:
    work = SessionWorkspaces(tmp_path)
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
    work = SessionWorkspaces(tmp_path)
    assert work.folder(other) != work.folder(ROOM)


def test_two_agents_in_one_room_never_share_a_folder(tmp_path: Path) -> None:
    assert SessionWorkspaces(tmp_path, agent="a").folder(ROOM) != SessionWorkspaces(tmp_path, agent="b").folder(ROOM)


@given(names, names)
def test_whatever_a_platform_calls_its_rooms_folders_stay_inside_and_apart(one: str, other: str) -> None:
    work = SessionWorkspaces(Path("/work"))
    first, second = (work._name(Address("fake", "main", room)) for room in (one, other))
    assert (first == second) is (one == other)
    assert first.replace("-", "").isalnum()
    assert first.isascii()
    assert len(first) <= 80


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_folder_and_files_belong_to_the_user_as_whom_tools_run(tmp_path: Path) -> None:
    work = SessionWorkspaces(tmp_path, uid=65534)
    folder = work.folder(ROOM)
    (folder / "upload").write_text("hello")
    work.admit(folder / "upload")
    assert {folder.stat().st_uid, (folder / "upload").stat().st_uid} == {65534}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_admitting_a_link_does_not_give_away_what_it_points_to(tmp_path: Path) -> None:
    work = SessionWorkspaces(tmp_path / "work", uid=65534)
    mine = tmp_path / "mine"
    mine.write_text("hello")
    link = work.folder(ROOM) / "link"
    link.symlink_to(mine)
    work.admit(link)
    assert mine.stat().st_uid == 0


def test_they_are_workspaces(tmp_path: Path) -> None:
    work: Workspaces = SessionWorkspaces(tmp_path)
    assert work.folder(ROOM).is_dir()
