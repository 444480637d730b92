"""Scenario 65: a call over MCP survives a kill, because it's tried again with its key; and the work is done once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from bot.doors.mcp.relay import Relay
from tests.faults.program import Kill, Program, living
from tests.faults.stage import Rows
from tests.faults.test_doors import token_in

KILLS: Final = (Kill("model-answered"),)


@pytest.mark.timeout(180)  # seconds; about four where nothing else runs
async def test_a_call_whose_server_is_killed_in_the_middle_is_answered_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    token, program = await token_in(data), Program(data, "--think", "0.4")
    async with living(program, KILLS):
        async with Client(Relay(program.up, token).server("")) as app:
            result: Any = await app.call_tool("ask_agent", {"text": "Hello there, once"})
            later: Any = await app.call_tool("message", {"id": result.structured_content["id"]})
        async with Client(Relay(program.up, "sbx_guessed").server("")) as app:
            with pytest.raises(MCPError, match="token isn't known"):
                await app.call_tool("rooms")
        await program.leave()
    rows = Rows(data / "signalbox.db")
    assert "Hello there, once" in result.content[0].text
    assert later.structured_content == result.structured_content
    assert len(program.kills) == 1
    assert len(rows.select("SELECT id FROM signals WHERE kind = 'said'")) == 1
    assert len(rows.select("SELECT id FROM runs WHERE state = 'done'")) == 1
    assert len(rows.select("SELECT id FROM deliveries WHERE kind = 'final'")) == 1
