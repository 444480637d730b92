"""Walking through a folder whose names become something else between a look and the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.workspace.safe_fs import OPEN_FOLDER
from runtime.workspace.walk import Step, walk


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
    missed: list[OSError] = []
    steps = walk(top, OPEN_FOLDER, missed=missed.append)
    assert shown(next(steps)) == (".", ["a", "b"], [])
    for name in ("a", "b"):
        (tmp_path / "room" / name).rmdir()
    os.mkfifo(tmp_path / "room" / "a")
    (tmp_path / "room" / "b").symlink_to(tmp_path / "outside")
    assert list(steps) == []
    assert sorted(str(error.filename) for error in missed) == ["a", "b"]


def test_what_a_caller_takes_off_the_list_is_not_gone_into(top: int, tmp_path: Path) -> None:
    (tmp_path / "room" / "b" / "file").touch()
    (tmp_path / "room" / "b" / "link").symlink_to(tmp_path / "outside")
    seen = []
    for step in walk(top, OPEN_FOLDER):
        seen.append(shown(step))
        if "a" in step[1]:
            step[1].remove("a")
    assert seen == [(".", ["a", "b"], []), ("./b", [], ["file", "link"])]
