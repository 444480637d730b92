"""Long work by a plan in a real process that is killed with `kill -9` again and again, with a model on the wire."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from bot.node.lock import control_of
from bot.testing.openai.server import Json, OpenAI, Reply, ToolCall, shown
from bot.testing.serve import serving
from tests.fakes.git_server import git
from tests.fakes.serve import ROOT

SETTINGS: Final = """\
[model]
name = "openai/gpt-4o"
api_base = "{url}/v1"
api_key = "a-key"

[run]
max_crashes = 20

[web]
port = 0

[[policy]]
tool = "write_file"
result = "allow"
tainted = true
"""
KILLS: Final = 8
THINK: Final = 0.3  # seconds a model call takes, so that a kill finds somebody at work
PATIENCE: Final = 90.0  # seconds
STEPS: Final = "- write sum.py\n- try it"
BAD: Final = "print(1 - 1)\n"
GOOD: Final = "print(1 + 1)\n"


def answer(request: Json) -> Reply:
    """Turns write the program, the second one as the judge wants it, who reads it from the file."""
    messages = request["messages"]
    first = next(shown(one["content"]) for one in messages if one["role"] == "user")
    result = shown(messages[-1]["content"]) if messages[-1]["role"] == "tool" else ""
    if "in 3 to 10 steps" in first:
        return Reply(STEPS, delay=THINK)
    if "What is judged:" in first:
        if not result:
            return Reply("", (ToolCall("read_file", json.dumps({"path": "sum.py"})),), delay=THINK)
        passed = {"verdict": "PASS", "score": 10}
        failed = {"verdict": "FAIL", "score": 2, "critique": "it must add"}
        return Reply(json.dumps(passed if "1 + 1" in result else failed), delay=THINK)
    if result:
        return Reply("sum.py is written.", delay=THINK)
    text = GOOD if "it must add" in first else BAD
    return Reply("", (ToolCall("write_file", json.dumps({"path": "sum.py", "content": text})),), delay=THINK)


async def signalbox(folder: Path, *arguments: str) -> Any:
    """A command, and what it told as JSON."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments, "--json"),
        cwd=folder,
        env=_environment(),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0, told
    return json.loads(told)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    return {**kept, "PYTHONPATH": str(ROOT)}


async def begun(folder: Path) -> asyncio.subprocess.Process:
    with (folder / "log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "run"), cwd=folder, env=_environment(), stdout=log, stderr=log
        )


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_killed_again_and_again_each_turn_is_worked_judged_and_saved_once(tmp_path: Path) -> None:
    model = OpenAI(answer)
    dice = random.Random(37)
    async with serving(model.app()) as url:
        (tmp_path / "signalbox.toml").write_text(SETTINGS.format(url=url))
        process = await begun(tmp_path)
        try:
            await _up(tmp_path, process)
            await signalbox(
                tmp_path, "harness", "init", "Write sum.py, which adds", "--verify", "it adds", "--to", "web:main/r"
            )
            row = await signalbox(tmp_path, "harness", "run", "--to", "web:main/r")
            for _ in range(KILLS):
                await asyncio.sleep(dice.uniform(0.2, 1.2))
                process.send_signal(signal.SIGKILL)
                await process.wait()
                process = await begun(tmp_path)
                await _up(tmp_path, process)
            row = await _over(tmp_path, row["id"])
        finally:
            process.kill()
            await process.wait()
    folder = Path(row["folder"])
    assert row["end"] == "met"
    assert [turn["state"] for turn in row["turns"]] == ["not accepted", "accepted"]
    assert git(folder, "log", "--reverse", "--format=%s").splitlines() == [
        "The plan",
        "Turn 1: not accepted",
        "Turn 2: accepted",
    ]
    assert git(folder, "show", "HEAD~1:sum.py") == BAD.strip()
    assert (folder / "sum.py").read_text() == GOOD
    assert git(folder, "status", "--short") == ""


async def _up(folder: Path, process: asyncio.subprocess.Process) -> None:
    """Wait until this process takes orders: a command before that would have the data to itself."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.returncode is None:
        control = control_of(folder / "var")
        if control is not None and control.pid == process.pid:
            return
        await asyncio.sleep(0.05)
    raise AssertionError((folder / "log").read_text()[-3000:])


async def _over(folder: Path, which: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        row = await signalbox(folder, "harness", "show", which)
        if row["end"]:
            return row
        await asyncio.sleep(0.2)
    raise AssertionError((folder / "log").read_text()[-3000:])
