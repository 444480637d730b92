"""Opening files in a folder where others turn names into links meanwhile."""

from __future__ import annotations

import ctypes
import errno
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from runtime.workspace.safe_fs import BadPath, folder_below, nobody, parts, reading, replace

ROUNDS = 500
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # <linux/fcntl.h>, <linux/fs.h>


@contextmanager
def swapping(folder: Path, link: Path) -> Iterator[None]:
    """Exchange a folder and a link, atomically and as fast as it goes: the worst that a command could do."""
    done = threading.Event()
    exchange = ctypes.CDLL(None).renameat2

    def swap() -> None:
        while not done.is_set():
            exchange(AT_FDCWD, bytes(folder), AT_FDCWD, bytes(link), RENAME_EXCHANGE)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_folder_swapped_for_a_link_meanwhile_is_never_left(tmp_path: Path) -> None:
    """Somebody turns `dir` into a link and back while we read and write below it."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "dir").mkdir(parents=True)
    outside.mkdir()
    (root / "dir" / "x").write_text("inside")
    (outside / "x").write_text("outside")
    (root / "link").symlink_to(outside)
    with swapping(root / "dir", root / "link"):
        for _ in range(ROUNDS):
            _touch(root)
    assert [file.name for file in outside.iterdir()] == ["x"]
    assert (outside / "x").read_text() == "outside"


def _touch(root: Path) -> None:
    with suppress(OSError):  # it is a link, or gone, at this very moment
        with reading(root, "dir/x") as file:
            assert file.read() == b"inside"
        with folder_below(root, ["dir"]) as folder:
            replace("x", folder, b"inside", nobody)


def test_a_link_in_the_way_is_told_as_one_and_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as link, folder_below(tmp_path, ["link"]):  # noqa: PT011 - its number is looked at
        pass
    with pytest.raises(NotADirectoryError) as file, folder_below(tmp_path, ["file"]):
        pass
    assert (link.value.errno, link.value.filename) == (errno.ELOOP, "link")
    assert file.value.filename == "file"


def test_a_file_that_cannot_take_its_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with folder_below(tmp_path, []) as folder, pytest.raises(IsADirectoryError):
        replace("taken", folder, b"x", nobody)
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


def test_a_link_of_that_name_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("old")
    (tmp_path / "name").symlink_to(tmp_path / "elsewhere")
    with folder_below(tmp_path, []) as folder:
        replace("name", folder, b"new", nobody, mode=0o640)
    assert (tmp_path / "elsewhere").read_text() == "old"
    assert (tmp_path / "name").read_bytes() == b"new"
    assert (tmp_path / "name").lstat().st_mode & 0o777 == 0o640


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_descent_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    before = descriptors()
    for names in (["a", "b"], ["a", "none"]):
        try:
            with folder_below(tmp_path, names):
                pass
            with reading(tmp_path, "a"):
                pass
        except FileNotFoundError:
            continue
    assert descriptors() == before


@pytest.mark.parametrize("path", ["", "/x", "a/../b", "a//b", "a/", ".", "a\0", "\ud800", "a/" * 2100 + "b"])
def test_a_path_that_could_lead_out_is_none(path: str) -> None:
    with pytest.raises(BadPath):
        parts(path)
