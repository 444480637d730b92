import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tools.files.search import search, search_files

from .conftest import SECRET


async def test_matches_are_shown_with_path_and_line(context: ToolContext) -> None:
    (context.workspace / "b").mkdir()
    (context.workspace / "b" / "two.txt").write_text("nothing\nan Apple\n")
    (context.workspace / "one.txt").write_text("apple pie\r\nno\napple")
    assert await search_files.call({"pattern": "(?i)apple"}, context) == (
        "one.txt:1: apple pie\none.txt:3: apple\nb/two.txt:2: an Apple\n"
    )
    assert await search_files.call({"pattern": "Apple", "path": "b"}, context) == "b/two.txt:2: an Apple\n"
    assert await search_files.call({"pattern": "pie$", "path": "one.txt"}, context) == "one.txt:1: apple pie\n"
    assert await search_files.call({"pattern": "pear"}, context) == "No line matches."


async def test_links_pipes_and_binary_files_are_passed_over(context: ToolContext) -> None:
    (context.workspace / "file").symlink_to(context.workspace.parent / "secret.txt")
    (context.workspace / "folder").symlink_to(context.workspace.parent)
    (context.workspace / "binary").write_bytes(b"secret\0secret")
    (context.workspace / "odd").write_bytes(b"caf\xe9 secret\n")
    os.mkfifo(context.workspace / "pipe")
    found = await search_files.call({"pattern": "secret"}, context)
    assert found == "odd:1: caf\ufffd secret\n"
    assert SECRET not in found


async def test_a_pattern_that_explodes_is_stopped_and_stops_nothing_else(context: ToolContext) -> None:
    (context.workspace / "a.txt").write_text("found\n")
    (context.workspace / "b.txt").write_text("a" * 60 + "!\n")
    ticks = 0
    began = time.monotonic()
    searching = asyncio.ensure_future(
        search("(a+)+$|found", ".", context.workspace, deadline=timedelta(seconds=3)),
    )
    while not searching.done():
        await asyncio.sleep(0.01)
        ticks += 1
    with pytest.raises(ToolFailed, match=r"stopped after 3 s") as caught:
        await searching
    assert "a.txt:1: found" in str(caught.value)
    assert time.monotonic() - began < 30
    assert ticks > 5  # of a hundred, where nothing else runs


@pytest.mark.parametrize(
    "pattern", ["(", "*", "a{999999999999}", "(" * 900 + ")" * 900, "(?P<x>a)(?P<x>b)", "x" * 2000]
)
async def test_a_pattern_that_is_none_is_told(pattern: str, context: ToolContext) -> None:
    with pytest.raises(ToolRetry, match="pattern"):
        await search_files.call({"pattern": pattern}, context)


async def test_odd_characters_in_a_pattern_do_no_harm(context: ToolContext) -> None:
    (context.workspace / "a.txt").write_text("日本 'quoted'\n")
    assert await search_files.call({"pattern": "日本 '"}, context) == "a.txt:1: 日本 'quoted'\n"
    assert await search_files.call({"pattern": "\0|\ud800"}, context) == "No line matches."


async def test_many_matches_and_long_lines_are_bounded(context: ToolContext) -> None:
    (context.workspace / "many").write_text("match\n" * 10_000)
    (context.workspace / "wide").write_text("match" * 1_000_000)
    found = await search_files.call({"pattern": "match"}, context)
    assert "only the first 500 matches" in found
    wide = await search_files.call({"pattern": "match", "path": "wide"}, context)
    assert wide.splitlines()[0] == "wide:1: " + "match" * 60 + "…"


@pytest.fixture
def abyss(workspace: Path) -> Iterator[None]:
    """Folders in folders, deeper than a path can say."""
    here = os.open(workspace, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    yield
    subprocess.run(["rm", "-rf", workspace / "d"], check=True)  # pytest's own clean-up cannot go as deep


@pytest.mark.usefixtures("abyss")
async def test_folders_in_folders_without_end_are_told(context: ToolContext) -> None:
    assert "and not searched: folders too deep, such as ./d/d/d" in await search_files.call({"pattern": "x"}, context)
