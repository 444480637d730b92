"""Commands and tools in a room that gets full: stopped, told, and able to make room again."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.contract import ToolContext
from runtime.errors import ToolFailed
from runtime.workspace.disk_space import DiskBounds, DiskSpace, used_by
from tools.files.files import write_file
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.spaced import SpacedSandbox, SpacedTool

MIB = 1 << 20
FILL = "i=0; while :; do i=$((i+1)); head -c 1M /dev/zero > f$i || exit 9; done"


def space(workspace: Path, *, room: int = 8 * MIB, free: int = 0) -> DiskSpace:
    return DiskSpace(DiskBounds(room, 1 << 40, free), workspace.parent / "ledger")


async def test_a_command_that_fills_its_room_is_stopped_and_told(bubblewrap: Bubblewrap, workspace: Path) -> None:
    with pytest.raises(ToolFailed, match=r"stopped.*8 MiB"):
        await SpacedSandbox(bubblewrap, space(workspace)).run(FILL, workspace, limit=1000)
    assert used_by(workspace, 1 << 40) < 1 << 30  # as far as half a second of writing goes


async def test_a_command_that_ends_over_the_bound_is_told(bubblewrap: Bubblewrap, workspace: Path) -> None:
    ended = await SpacedSandbox(bubblewrap, space(workspace)).run(
        "for i in 1 2; do head -c 7M /dev/zero > $i; done; echo done", workspace, limit=1000
    )
    assert ended.text.startswith("done\n[This room's files have reached their limit of 8 MiB")


async def test_one_file_is_no_larger_than_what_is_left(bubblewrap: Bubblewrap, workspace: Path) -> None:
    await SpacedSandbox(bubblewrap, space(workspace)).run("head -c 100M /dev/zero > x", workspace, limit=1000)
    assert (workspace / "x").stat().st_size <= 8 * MIB


async def test_in_a_full_room_a_command_removes_and_does_not_write(bubblewrap: Bubblewrap, workspace: Path) -> None:
    (workspace / "old").write_bytes(b"x" * 9 * MIB)
    sandbox = SpacedSandbox(bubblewrap, space(workspace))
    ended = await sandbox.run("echo more > new; ls -s new; rm -f old new; echo removed", workspace, limit=1000)
    assert "0 new" in ended.text
    assert ended.text.rstrip().endswith("removed")
    ended = await sandbox.run("echo more > new; cat new", workspace, limit=1000)
    assert ended.text == "more\n"


async def test_a_full_room_takes_no_file_of_a_tool(context: ToolContext) -> None:
    tool = SpacedTool(write_file, space(context.workspace, room=MIB))
    assert "Wrote" in await tool.call({"path": "a", "content": "x" * MIB}, context)
    with pytest.raises(ToolFailed, match="1 MiB"):
        await tool.call({"path": "b", "content": "x"}, context)
    (context.workspace / "a").unlink()
    assert "Wrote" in await tool.call({"path": "b", "content": "x"}, context)


async def test_below_the_floor_no_command_runs(bubblewrap: Bubblewrap, workspace: Path) -> None:
    with pytest.raises(ToolFailed, match=r"not run.*must stay free"):
        await SpacedSandbox(bubblewrap, space(workspace, free=1 << 62)).run("touch ran", workspace, limit=1000)
    assert not (workspace / "ran").exists()


async def test_a_command_is_the_first_to_go_when_memory_runs_out(bubblewrap: Bubblewrap, workspace: Path) -> None:
    ended = await bubblewrap.run("cat /proc/self/oom_score_adj", workspace, limit=1000)
    assert int(ended.text) >= 900
