"""Checkpoints of long work: one commit a turn, whatever a kill left behind."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import INBOX, RunId, Tool, ToolContext
from tests.fakes.git_server import git
from tools.git.checkpoints import checkpoint_tool
from tools.sandbox.bubblewrap import Bubblewrap

FIRST: Final[dict[str, Any]] = {"turn": 1, "title": "One", "files": {"PROGRESS.md": "one\n"}, "wrote": "PROGRESS.md"}
SECOND: Final = FIRST | {"turn": 2, "title": "Two"}


@pytest.fixture
def save(bubblewrap: Bubblewrap) -> Tool:
    return checkpoint_tool(bubblewrap, timeout=timedelta(seconds=30), lock_seconds=0)


async def test_the_same_turn_is_saved_once_and_the_next_one_has_a_commit_of_its_own(
    save: Tool, workspace: Path, context: ToolContext
) -> None:
    (workspace / INBOX).mkdir()
    (workspace / INBOX / "sent.pdf").write_text("what somebody sent")
    told = [await save.call(one, context) for one in (FIRST, FIRST, SECOND)]
    assert told[0] == told[1] != told[2]
    assert git(workspace, "log", "--format=%s").splitlines() == ["Two", "One"]
    assert git(workspace, "ls-files") == "PROGRESS.md"
    of_another_run = replace(context, run_id=RunId("other"))
    assert await save.call(SECOND, of_another_run) != told[2]


async def test_a_lock_that_a_killed_git_left_stops_no_checkpoint(
    save: Tool, workspace: Path, context: ToolContext
) -> None:
    await save.call(FIRST, context)
    (workspace / ".git" / "index.lock").touch()
    assert (await save.call(SECOND, context)).startswith("checkpoint ")


async def test_where_git_is_left_alone_the_files_are_written_and_it_is_said(
    save: Tool, workspace: Path, context: ToolContext
) -> None:
    git(workspace, "init", "-q")
    git(workspace, "config", "core.fsmonitor", "touch ran")
    assert (await save.call(FIRST, context)).startswith("no checkpoint: ")
    assert (workspace / "PROGRESS.md").read_text() == "one\n"
    assert not (workspace / "ran").exists()
