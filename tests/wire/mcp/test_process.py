"""A whole process with MCP servers of its settings."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from bot.testing.scripted import USAGE
from runtime.contract import Call, ModelReply, ModelRequest
from tests.fakes import mcp_raw
from tests.unit.bot.notebook import running
from tests.unit.tools.processes import gone
from tests.unit.tools.processes import running as processes_of
from tests.wire.mcp.stage import until

BOOK = Call("c1", "desk_book", '{"text": "a table for two"}')


def table(mode: str, name: str = "desk", **more: Any) -> dict[str, Any]:
    args = ["-I", "-S", mcp_raw.__file__, mode]
    return {"name": name, "command": sys.executable, "args": args, "uid": os.getuid(), **more}


async def test_what_is_asked_and_approved_is_called_once(tmp_path: Path) -> None:
    offered: list[str] = []

    def tell(request: ModelRequest) -> ModelReply:
        offered.extend(spec.name for spec in request.tools)
        return ModelReply("Booked.", (), USAGE)

    async with running(tmp_path, [BOOK, tell], mcp=[table("plain")]) as process:
        await until(lambda: BOOK.tool in process.app.engine.toolkit.toolbox.tools)
        await process.say("a table, please")
        card = await process.notebook.until("May I run")
        assert "A tool of the MCP server desk" in card.body
        assert "It runs in a sandbox, without network." in card.body
        await process.approve()
        await process.notebook.until("Booked.")
        rows = (tmp_path / "mcp" / "desk" / "calls").read_text().splitlines()
    assert [json.loads(row) for row in rows] == [["book", {"text": "a table for two"}]]
    assert {"desk_book", "desk_echo", "list_files", "shell"} <= set(offered)


async def test_a_server_that_hangs_delays_neither_the_start_nor_an_answer_nor_the_end(tmp_path: Path) -> None:
    began = time.monotonic()
    async with running(tmp_path, ["Hello."]) as process:
        await process.say("hi")
        await process.notebook.until("Hello.")
    without = time.monotonic() - began

    mark = f"{tmp_path}/stubborn"  # in its sandbox it has another process id
    servers = [table("silent", "mute"), table("stays", "stubborn"), table("refuses", "broken")]
    servers[1]["args"].append(mark)
    began = time.monotonic()
    async with running(tmp_path / "second", ["Hello."], mcp=servers) as process:
        await process.say("hi")
        await process.notebook.until("Hello.")
        await until(lambda: (tmp_path / "second" / "mcp" / "stubborn" / "pid").exists())
        assert list(processes_of(mark))
    # A second and a half is what a server gets that was told to go and does not; the rest is the SDK being loaded.
    assert time.monotonic() - began < without + 20
    await gone(mark)
