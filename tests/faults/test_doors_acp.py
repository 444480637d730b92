"""An editor's prompt under kills: `signalbox acp` and `signalbox run` are processes of their own, and the answer comes once."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pytest
from acp import Client, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, RequestPermissionResponse

from bot.node.lock import control_of
from tests.fakes.ending import Ending

pytestmark = pytest.mark.soak
PROGRAM: Final = """
import json, sys, time

for line in sys.stdin:
    turn = json.loads(line)
    if turn["type"] != "turn":
        continue
    with open("asked", "a") as asked:
        print(turn["step"], file=asked)
    time.sleep(2)
    if turn["messages"][-1]["role"] == "user":
        end = {"calls": [{"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}]}
    else:
        end = {"text": "It is written."}
    print(json.dumps({"id": turn["id"], "type": "end", **end}), flush=True)
"""
SETTINGS: Final = """
data_dir = "var"
[web]
port = 0
[[agents]]
name = "main"
executor = "subprocess"
[agents.program]
sandbox = "external"
command = ["/usr/bin/python3", "-c", '''%s''']
"""


class Editor:
    """Implements `acp.Client`; approves all."""

    def __init__(self) -> None:
        self.said, self.asked = "", 0

    def on_connect(self, conn: Any) -> None:
        """Nothing is asked of it."""

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        if update.session_update == "agent_message_chunk":
            self.said += update.content.text

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **more: Any
    ) -> RequestPermissionResponse:
        self.asked += 1
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="approve"))


@contextmanager
def running(folder: Path) -> Iterator[Ending]:
    with Ending([sys.executable, "-m", "bot", "run"], cwd=folder) as process:
        try:
            deadline = time.monotonic() + 60
            while (control := control_of(folder / "var")) is None or control.pid != process.pid:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


async def test_a_prompt_is_answered_once_when_its_signalbox_was_killed(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(SETTINGS % PROGRAM)
    editor, environment = Editor(), {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    way = spawn_agent_process(
        cast("Client", editor),
        sys.executable,
        "-m",
        "bot",
        "acp",
        env=environment,
        cwd=tmp_path,
        use_unstable_protocol=True,
    )
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        with running(tmp_path) as first:
            async with way as (editor_way, _):
                await editor_way.initialize(protocol_version=1)
                session = (await editor_way.new_session(cwd="/work", mcp_servers=[])).session_id
                asking = group.create_task(editor_way.prompt(session_id=session, prompt=[text_block("write it")]))
                await asyncio.sleep(1)
                first.kill()
                with running(tmp_path):
                    stop_reason = (await asking).stop_reason
    assert [file.read_text() for file in (tmp_path / "var").rglob("a.txt")] == ["x"]
    assert (stop_reason, editor.said, editor.asked) == ("end_turn", "It is written.", 1)
    asked = (tmp_path / "var" / "executors" / "main" / "asked").read_text().split()
    assert len(set(asked)) == 2, "one turn for the call, and one for the answer"
    assert len(asked) <= 3, "only the one that was cut is asked for again"
