"""docs/cookbook.md, as its reader would have it: the files of the page in a folder, and `pytest` there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from bot.testing.channel.contract import ChannelContract
from tests.fakes import forked
from tests.unit.test_docs import DOCS, _environment, _run, blocks

pytestmark = [pytest.mark.xdist_group("cookbook"), pytest.mark.timeout(180)]

PAGE: Final = DOCS / "cookbook.md"
PYTEST: Final = ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:anyio", "-p", "no:simcord")
FIRST_TEST_LINES: Final = 10


def written(folder: Path) -> None:
    """The files of the page, beside the notebook of docs/extend.md."""
    for block in [*blocks(DOCS / "extend.md"), *blocks(PAGE)]:
        for mark in block.marks:
            if mark.startswith("file="):
                file = folder / mark.removeprefix("file=").removeprefix("notebook/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")


def files(*marks: str) -> Sequence[str]:
    """Files of the blocks with all of these marks."""
    found = [block for block in blocks(PAGE) if {*marks} <= {*block.marks}]
    return [mark.removeprefix("file=") for block in found for mark in block.marks if mark.startswith("file=")]


def run(folder: Path, module: str, *arguments: str) -> str:
    """`python -m module` in the folder, forked from one that has loaded the program."""
    ended = forked.run(module, *arguments, folder=folder, environment=_environment(folder), seconds=170)
    told = (ended.stdout + ended.stderr).decode()
    assert ended.returncode == 0, told
    return told


def test_the_recipes_pass_as_they_are_written(tmp_path: Path) -> None:
    """With no plugin that would run coroutines, and in one process, since each takes seconds to load."""
    written(tmp_path)
    slow = files("slow")
    usual = [name for name in files() if name.startswith("test_") and name not in slow]
    tests = [node for name in usual for node in ast.walk(ast.parse((tmp_path / name).read_text())) if is_test(node)]
    promises = [name for name in vars(ChannelContract) if name.startswith("test_")]
    assert min(len(tests), len(promises)) >= 10
    told = run(tmp_path, *PYTEST, *usual)
    assert f"{len(tests) + len(promises) - 2} passed, 2 skipped" in told, "a notebook is never cut, and ink stays"


def is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")


@pytest.mark.soak
def test_the_slow_recipes_pass_and_the_bot_runs(tmp_path: Path) -> None:
    written(tmp_path)
    assert "passed" in run(tmp_path, *PYTEST, *files("slow"))
    assert "The folder is empty." in _run([sys.executable, *files("run")], tmp_path)


def test_the_first_test_is_short() -> None:
    (first,) = [block for block in blocks(PAGE) if "wheel" in block.marks]
    assert len(first.text.splitlines()) <= FIRST_TEST_LINES
