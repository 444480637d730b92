"""Walking through a folder whose names become something else between a look and the next."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.workspace.safe_fs import OPEN_FOLDER
from runtime.workspace.walk import PATH_MAX_BYTES, Step, walk
from tests.unit.workspace.nested import nested


@pytest.fixture
def top(tmp_path: Path) -> Iterator[int]:
    """A folder with `a` and `b` in it, beside one outside."""
    for name in ("room/a", "room/b", "outside/deep"):
        (tmp_path / name).mkdir(parents=True)
    folder = os.open(tmp_path / "room", OPEN_FOLDER)
    yield folder
    os.close(folder)


def shown(step: Step) -> tuple[str, list[str], list[str]]:
    return step[0], sorted(step[1]), sorted(step[2])


def test_a_folder_that_became_a_pipe_or_a_link_is_neither_waited_for_nor_gone_into(top: int, tmp_path: Path) -> None:
    missed: list[str] = []
    steps = walk(top, OPEN_FOLDER, missed=lambda path, _: missed.append(path))
    assert shown(next(steps)) == (".", ["a", "b"], [])
    for name in ("a", "b"):
        (tmp_path / "room" / name).rmdir()
    os.mkfifo(tmp_path / "room" / "a")
    (tmp_path / "room" / "b").symlink_to(tmp_path / "outside")
    assert list(steps) == []
    assert sorted(missed) == ["./a", "./b"]


@pytest.mark.parametrize(("name", "depth"), [("a", 300), ("n" * 200, 30)])
def test_a_folder_deeper_than_anybody_can_copy_is_missed_and_the_rest_is_walked(
    top: int, name: str, depth: int, tmp_path: Path
) -> None:
    """A tool makes such a one in a second; it must not end a backup, or spoil it for whoever restores it."""
    nested(tmp_path / "room" / "a", name, depth)
    missed: list[tuple[str, int | None]] = []
    steps = list(walk(top, OPEN_FOLDER, missed=lambda path, error: missed.append((path, error.errno))))
    [(path, reason)] = missed
    assert reason == errno.ENAMETOOLONG
    assert len(steps) == path.count("/") + 1  # those above it, and `b`
    assert max(len(step[0]) for step in steps) <= PATH_MAX_BYTES


def test_what_a_caller_takes_off_the_list_is_not_gone_into(top: int, tmp_path: Path) -> None:
    (tmp_path / "room" / "b" / "file").touch()
    (tmp_path / "room" / "b" / "link").symlink_to(tmp_path / "outside")
    seen = []
    for step in walk(top, OPEN_FOLDER):
        seen.append(shown(step))
        if "a" in step[1]:
            step[1].remove("a")
    assert seen == [(".", ["a", "b"], []), ("./b", [], ["file", "link"])]
