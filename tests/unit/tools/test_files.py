import os
import re
import stat
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.contract import Tool, ToolContext
from runtime.errors import ToolError, ToolFailed, ToolRetry
from tools.files.files import BOUND, MOST_ENTRIES, list_files, read_file, write_file
from tools.files.search import search_files

from .conftest import SECRET

TOOLS: list[tuple[Tool, dict[str, Any]]] = [
    (list_files, {}),
    (read_file, {}),
    (write_file, {"content": "taken"}),
    (search_files, {"pattern": "."}),
]
each_tool = pytest.mark.parametrize(("tool", "more"), TOOLS, ids=[tool.spec.name for tool, _ in TOOLS])


@each_tool
@pytest.mark.parametrize(
    "path", ["..", "../secret.txt", "a/../../secret.txt", "a/..", "/etc/passwd", "/", "//etc", "/workspace/a", "./../x"]
)
async def test_a_path_out_of_the_workspace_is_refused(
    tool: Tool, more: dict[str, Any], path: str, context: ToolContext
) -> None:
    (context.workspace / "a").mkdir()
    with pytest.raises(ToolFailed, match="outside the workspace"):
        await tool.call({"path": path, **more}, context)


@each_tool
@pytest.mark.parametrize("link", ["file", "folder/secret.txt", "folder", "hop/secret.txt", "dangling", "inner"])
async def test_a_link_is_refused_wherever_it_leads(
    tool: Tool, more: dict[str, Any], link: str, context: ToolContext
) -> None:
    outside, inside = context.workspace.parent, context.workspace
    (inside / "real").mkdir()
    (inside / "file").symlink_to(outside / "secret.txt")
    (inside / "folder").symlink_to(outside)
    (inside / "hop").symlink_to("folder")
    (inside / "dangling").symlink_to(outside / "new.txt")
    (inside / "inner").symlink_to("real")
    with pytest.raises(ToolFailed, match="link"):
        await tool.call({"path": link, **more}, context)
    assert (outside / "secret.txt").read_text() == SECRET
    assert not (outside / "new.txt").exists()


WORDS = st.sampled_from(
    ["..", ".", "", "/", "a", "out", "in", "up", "secret.txt", "workspace", "~", "\0", "é", "\ud800"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(words=st.lists(WORDS, max_size=6), absolute=st.booleans())
async def test_no_path_at_all_reaches_the_secret(words: list[str], absolute: bool, context: ToolContext) -> None:
    inside = context.workspace
    with suppress(FileExistsError):
        (inside / "a").mkdir()
        (inside / "out").symlink_to(inside.parent)
        (inside / "up").symlink_to("..")
        (inside / "a" / "in").symlink_to("../../secret.txt")
    path = ("/" if absolute else "") + "/".join(words)
    for tool, more in TOOLS[:3]:
        with suppress(ToolError):
            assert SECRET not in await tool.call({"path": path, **more}, context)
    assert (inside.parent / "secret.txt").read_text() == SECRET
    assert sorted(entry.name for entry in inside.parent.iterdir()) == ["secret.txt", "workspace"]


async def test_a_folder_is_listed_in_order_with_sizes(context: ToolContext) -> None:
    (context.workspace / "b.txt").write_text("12345")
    (context.workspace / "a").mkdir()
    (context.workspace / "c").symlink_to("b.txt")
    os.mkfifo(context.workspace / "d")
    (context.workspace / "e").write_text("1")
    assert await list_files.call({}, context) == (
        "a/\nb.txt  5 bytes\nc -> b.txt  (link, not followed)\nd  (not a regular file)\ne  1 byte"
    )
    assert await list_files.call({"path": "a/"}, context) == "The folder is empty."


async def test_a_long_listing_says_how_much_more_there_is(context: ToolContext) -> None:
    for number in range(MOST_ENTRIES + 7):
        (context.workspace / f"{number:04}").touch()
    lines = (await list_files.call({}, context)).splitlines()
    assert len(lines) == MOST_ENTRIES + 1
    assert lines[-1] == "… and 7 more"


async def test_a_name_of_odd_bytes_is_shown_as_text_on_one_line(context: ToolContext) -> None:
    (context.workspace / os.fsdecode(b"a\xff\nb")).touch()
    assert await list_files.call({}, context) == "a\ufffd\ufffdb  0 bytes"


async def test_what_was_written_is_read(context: ToolContext) -> None:
    text = "héllo\r\n日本\n"
    said = await write_file.call({"path": "notes/deep/todo.md", "content": text}, context)
    assert said == f"Wrote {len(text.encode())} bytes to notes/deep/todo.md."
    assert await read_file.call({"path": "./notes//deep/todo.md"}, context) == text


async def test_a_file_is_replaced_as_a_whole_and_stays_executable(context: ToolContext) -> None:
    script = context.workspace / "run.sh"
    script.write_text("a much longer text than the next one")
    script.chmod(0o755)
    before = script.stat().st_ino
    await write_file.call({"path": "run.sh", "content": "short"}, context)
    assert script.read_text() == "short"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert script.stat().st_ino != before
    assert [entry.name for entry in context.workspace.iterdir()] == ["run.sh"]


async def test_what_is_written_belongs_to_whom_commands_run_as(context: ToolContext) -> None:
    await write_file.call({"path": "new/file", "content": ""}, context)
    owner = context.workspace.stat().st_uid
    assert {(context.workspace / name).stat().st_uid for name in ("new", "new/file")} == {owner}


@pytest.mark.parametrize("path", [".", "", "folder/", "folder", "file/below", "x" * 300])
async def test_a_place_where_no_file_can_be_is_told(path: str, context: ToolContext) -> None:
    (context.workspace / "folder").mkdir()
    (context.workspace / "file").touch()
    with pytest.raises(ToolFailed):
        await write_file.call({"path": path, "content": "x"}, context)
    assert sorted(entry.name for entry in context.workspace.iterdir()) == ["file", "folder"]


async def test_half_a_surrogate_pair_is_no_text(context: ToolContext) -> None:
    with pytest.raises(ToolRetry, match="surrogate"):
        await write_file.call({"path": "a", "content": "\ud83d"}, context)
    with pytest.raises(ToolFailed, match="not valid text"):
        await read_file.call({"path": "\ud83d"}, context)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"caf\xe9 au lait", "not valid UTF-8"),
        (b"cut \xe2\x82", "not valid UTF-8"),
        (b"\0" * 1_000_000, "binary"),
    ],
)
async def test_what_is_no_text_is_told(data: bytes, sentence: str, context: ToolContext) -> None:
    (context.workspace / "file").write_bytes(data)
    with pytest.raises(ToolFailed, match=sentence):
        await read_file.call({"path": "file"}, context)


async def test_what_cannot_be_read_is_told(context: ToolContext) -> None:
    (context.workspace / "folder").mkdir()
    os.mkfifo(context.workspace / "pipe")
    for path, sentence in [("none", "There is no 'none'"), ("folder", "is a folder"), ("pipe", "not a regular file")]:
        with pytest.raises(ToolFailed, match=sentence):
            await read_file.call({"path": path}, context)
    with pytest.raises(ToolFailed, match="is a file"):
        await list_files.call({"path": "pipe"}, context)


@pytest.mark.parametrize("character", ["x", "é", "日", "😀"])
@pytest.mark.parametrize("length", [BOUND + 1, 120_000, 300_000])
async def test_of_a_long_file_both_ends_are_shown_whole(character: str, length: int, context: ToolContext) -> None:
    text = "first line\n" + character * length + "\nlast line"
    (context.workspace / "long").write_text(text)
    shown = await read_file.call({"path": "long"}, context)
    assert len(shown) <= BOUND
    assert shown.startswith("first line\n" + character)
    assert shown.endswith(character + "\nlast line")
    assert f"{len(text.encode()):,} bytes" in shown
    assert "\ufffd" not in shown


async def test_a_file_at_the_bound_is_shown_whole(context: ToolContext) -> None:
    (context.workspace / "file").write_text("日" * BOUND)
    assert await read_file.call({"path": "file"}, context) == "日" * BOUND


async def test_a_huge_file_is_not_read_to_its_end(context: ToolContext) -> None:
    with (context.workspace / "huge").open("wb") as file:
        file.write(b"start" + b"-" * 400_000)
        file.seek(1 << 40)  # a terabyte of nothing in the middle
        file.write(b"-" * 400_000 + b"end")
    shown = await read_file.call({"path": "huge"}, context)
    assert shown.startswith("start")
    assert shown.endswith("end")


async def test_a_file_that_people_sent_is_found_by_its_name(context: ToolContext) -> None:
    for number, folder in enumerate(("inbox/2026-03-01-aaaaaaaaaa", "inbox/2026-03-02-bbbbbbbbbb", "uploads")):
        (context.workspace / folder).mkdir(parents=True)
        file = context.workspace / folder / f"{'sales' if number < 2 else 'costs'}.csv"
        file.write_text(f"number {number}")
        os.utime(file, (number, number))
    assert await read_file.call({"path": "sales.csv"}, context) == "number 1", "the newest one"
    assert await read_file.call({"path": "costs.csv"}, context) == "number 2"
    (context.workspace / "sales.csv").write_text("its own")
    assert await read_file.call({"path": "sales.csv"}, context) == "its own"
    with pytest.raises(ToolFailed, match=r"There is no 'profit.csv' in the workspace"):
        await read_file.call({"path": "profit.csv"}, context)


async def test_a_link_among_what_people_sent_leads_nowhere(context: ToolContext) -> None:
    (context.workspace / "inbox").mkdir()
    (context.workspace / "inbox" / "2026-03-01-aaaaaaaaaa").symlink_to(context.workspace.parent)
    (context.workspace / "uploads").symlink_to(context.workspace.parent)
    with pytest.raises(ToolFailed, match=r"There is no 'secret.txt'"):
        await read_file.call({"path": "secret.txt"}, context)


async def test_a_file_is_read_in_slices_and_no_character_is_cut(context: ToolContext) -> None:
    text = "".join(f"{number} 日本 ü\n" for number in range(20_000))
    (context.workspace / "long").write_text(text)
    read, offset = "", 0
    while True:
        shown = await read_file.call({"path": "long", "offset": offset, "limit": 40_001}, context)
        assert len(shown) <= BOUND
        told, _, piece = shown.partition("\n")
        read += piece
        found = re.search(r"goes on at offset (\d+)", told)
        if found is None:
            break
        offset = int(found[1])
    assert read == text
    assert "this is its end" in told


@pytest.mark.parametrize(
    ("offset", "limit", "words"),
    [(-1, 0, "neither can be negative"), (0, -5, "neither can be negative"), (99, 1, "past its end")],
)
async def test_a_slice_that_is_not_there_is_refused(context: ToolContext, offset: int, limit: int, words: str) -> None:
    (context.workspace / "short").write_text("hello")
    with pytest.raises(ToolRetry, match=words):
        await read_file.call({"path": "short", "offset": offset, "limit": limit}, context)
