"""Commands where the operator says that a container is the boundary."""

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.contract import ToolContext
from runtime.errors import ToolFailed
from tools.catalogue import first_tools
from tools.sandbox.external import External
from tools.sandbox.sandbox import ShellSettings

from .conftest import SECRET
from .processes import gone, started

SETTINGS = ShellSettings(sandbox="external")


async def call(command: str, context: ToolContext, settings: ShellSettings = SETTINGS) -> str:
    return await first_tools(settings)["shell"].call({"command": command}, context)


async def test_a_command_runs_in_the_workspace_with_a_clean_environment(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    seen = await call("echo x > here; env", context)
    assert SECRET not in seen
    assert (context.workspace / "here").read_text() == "x\n"
    assert (context.workspace / "here").stat().st_uid == context.workspace.stat().st_uid


async def test_a_command_is_never_root(context: ToolContext) -> None:
    assert "uid=0" not in await call("id", context)


def test_the_approval_card_says_that_there_are_no_walls() -> None:
    assert "without a sandbox" in first_tools(SETTINGS)["shell"].caution()
    assert first_tools(ShellSettings())["shell"].caution() == ""


async def test_limits_hold_without_a_sandbox_too(context: ToolContext) -> None:
    small = replace(SETTINGS, memory_mib=256, file_mib=1)
    assert "memory" in await call("dd if=/dev/zero of=/dev/null bs=400M count=1", context, small)
    await call("head -c 3M /dev/zero > big", context, small)
    assert (context.workspace / "big").stat().st_size <= 1 << 20


async def test_a_command_that_takes_too_long_is_killed_with_its_group(context: ToolContext) -> None:
    brief = replace(SETTINGS, timeout_seconds=1)
    with pytest.raises(ToolFailed, match=r"(?s)stopped after 1 s\. Until then it printed:\nbegun"):
        await call("echo begun; sleep 612351 & sleep 612351", context, brief)
    await gone("612351")


async def test_a_cancelled_command_is_killed_with_its_group(workspace: Path) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(External(SETTINGS).run("sleep 612352 & sleep 612352", workspace, limit=1000))
        await started("612352")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    await gone("612352")


async def test_who_holds_on_to_the_output_does_not_hold_us_up(context: ToolContext) -> None:
    async with asyncio.timeout(30):
        assert await call("setsid sleep 45 & echo done", context) == "done\n[exit code 0]"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no other")
async def test_root_is_no_user_to_run_commands_as() -> None:
    assert "uid is 0" in str(await External(replace(SETTINGS, uid=0)).self_test())
