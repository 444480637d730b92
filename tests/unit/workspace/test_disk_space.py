"""Bounds of disk: a room, a person, and what stays free; over restarts, and whatever hides in a tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.workspace.disk_space import ENTRY, DiskBounds, DiskSpace, used_by

MIB = 1 << 20
PLENTY = DiskBounds(room=1 << 40, person=1 << 40, free=0)


def space(folder: Path, *, room: int = PLENTY.room, person: int = PLENTY.person, free: int = 0) -> DiskSpace:
    return DiskSpace(DiskBounds(room, person, free), folder / "ledger")


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


async def test_a_room_is_refused_at_its_bound_and_taken_again_once_files_went(tmp_path: Path, room: Path) -> None:
    bounds = space(tmp_path, room=MIB)
    assert await bounds.shortage(room) is None
    (room / "big").write_bytes(b"x" * MIB)
    bounds.add(room, MIB)
    short = await bounds.shortage(room)
    assert short is not None
    assert "1 MiB" in short.words
    assert not short.everywhere
    (room / "big").unlink()
    assert await bounds.shortage(room) is None
    assert bounds.left(room) == MIB


async def test_what_was_there_before_the_start_counts(tmp_path: Path, room: Path) -> None:
    (room / "old").write_bytes(b"x" * MIB)
    assert await space(tmp_path, room=MIB).shortage(room) is not None


async def test_a_stream_is_refused_in_its_midst(tmp_path: Path, room: Path) -> None:
    bounds = space(tmp_path, room=MIB)
    assert await bounds.shortage(room) is None
    told = [bounds.add(room, MIB // 4) for _ in range(5)]
    assert [short is None for short in told] == [True, True, True, False, False]


async def test_a_person_is_bounded_over_rooms_and_restarts(tmp_path: Path, room: Path) -> None:
    for number in (1, 2):
        bounds = space(tmp_path, person=MIB)
        assert await bounds.shortage(room, "ada") is None
        file = room / f"ünd {number}\n"
        file.write_bytes(b"x" * (MIB // 2))
        bounds.add(room, MIB // 2, "ada")
        await bounds.keep(file, MIB // 2, "ada")
    short = await space(tmp_path, person=MIB).shortage(tmp_path, "ada")
    assert short is not None
    assert "This person" in short.words
    assert await space(tmp_path, person=MIB).shortage(room, "bob") is None
    file.unlink()
    assert await space(tmp_path, person=MIB).shortage(room, "ada") is None


async def test_a_file_sent_again_under_its_name_counts_once(tmp_path: Path, room: Path) -> None:
    bounds = space(tmp_path, person=MIB)
    for _ in range(3):
        (room / "report").write_bytes(b"x" * (MIB // 2))
        bounds.add(room, MIB // 2, "ada")
        await bounds.keep(room / "report", MIB // 2, "ada")
    assert await bounds.shortage(room, "ada") is None


async def test_below_the_floor_nothing_is_written_anywhere(tmp_path: Path, room: Path) -> None:
    short = await space(tmp_path, free=1 << 62).shortage(room)
    assert short is not None
    assert short.everywhere
    assert "must stay free" in short.words


def test_many_small_files_count(room: Path) -> None:
    for number in range(100):
        (room / str(number)).touch()
    assert used_by(room, 1 << 40) == 100 * ENTRY
    assert used_by(room, 10 * ENTRY) == 10 * ENTRY


def test_a_sparse_file_counts_what_it_takes(room: Path) -> None:
    with (room / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert used_by(room, 1 << 40) < MIB


def test_links_are_not_followed(tmp_path: Path, room: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"x" * MIB)
    (room / "file").symlink_to(tmp_path / "elsewhere")
    (room / "all").symlink_to("/")
    assert used_by(room, 1 << 40) == 2 * ENTRY


def test_a_tree_that_is_too_deep_to_be_read_counts_as_full(room: Path) -> None:
    here = os.open(room, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert used_by(room, 1 << 40) == 1 << 40


def test_a_folder_that_is_gone_counts_nothing(room: Path) -> None:
    assert used_by(room / "gone", 1 << 40) == 0
