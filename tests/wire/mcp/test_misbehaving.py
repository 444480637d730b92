"""A server that dies, hangs, floods, lies or does not even start: it costs its own calls, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.testing.serve import serving
from runtime.contract import Effect
from runtime.errors import ToolFailed
from tests.fakes import mcp_asking
from tests.fakes.ending import ending
from tests.fakes.mcp_raw import tool as described
from tests.fakes.serve import ROOT
from tests.wire.mcp.stage import RAW, SOON, alive, at_work, program, raw, started, terms_of, until
from tools.mcp.server import Patience
from tools.mcp.terms import Endpoint, Program

SHORT = Patience(
    connect=timedelta(milliseconds=300), first=timedelta(milliseconds=50), most=timedelta(milliseconds=200)
)
UNKNOWN = "Whether the call was carried out is unknown. Don't repeat it until somebody has checked"


async def test_a_server_that_is_killed_comes_back(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        assert await desk.call("echo", text="before") == "before"
        first = desk.pid
        os.kill(first, signal.SIGKILL)
        await until(lambda: desk.pid != first)
        assert await desk.call("echo", text="after") == "after"  # which waits until it is up


@pytest.mark.parametrize(
    ("effect", "words"), [(Effect.WRITE, UNKNOWN), (Effect.READ, "changes nothing, so it may be made again")]
)
async def test_a_call_under_which_it_dies_is_not_made_again(tmp_path: Path, effect: Effect, words: str) -> None:
    async with raw(tmp_path, effect=effect) as desk:
        with pytest.raises(ToolFailed, match=rf"\(it ended; its last words: out of luck\)\. .*{words}"):
            await desk.call("die")
        assert await desk.call("echo", text="again") == "again"
        assert len(desk.calls("die")) == 1


async def test_each_start_comes_later_than_the_one_before(tmp_path: Path) -> None:
    way = program(tmp_path / "desk", *RAW, "refuses")
    waits = Patience(first=timedelta(milliseconds=20), most=timedelta(milliseconds=80))
    starts: list[float] = []
    async with started(tmp_path, terms_of(tmp_path, way), waits) as desk:
        while len(starts) < 5:
            await until(lambda: (desk.folder / "pid").exists())
            starts.append((desk.folder / "pid").stat().st_mtime)  # as it wrote it: we may look late
            (desk.folder / "pid").unlink()
        assert desk.server.trouble == "it ended; its last words: no licence was found"
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert gaps[3] >= 0.08  # the fifth start: 20, 40, 80, 80 ms
    assert gaps[0] >= 0.02


async def test_its_last_words_are_told_without_its_secrets(tmp_path: Path) -> None:
    way = program(tmp_path / "desk", "/bin/sh", "-c", 'echo "cannot log in with $KEY" >&2', KEY="hunter2")
    async with started(tmp_path, terms_of(tmp_path, replace(way, hidden=("hunter2",)))) as desk:
        await until(lambda: desk.server.trouble != "it is being started")
        assert desk.server.trouble == "it ended; its last words: cannot log in with [secret]"


async def test_the_error_above_a_long_trace_is_among_its_last_words(tmp_path: Path) -> None:
    trace = "".join(f"    at step {number}\\n" for number in range(12))
    way = program(tmp_path / "desk", "/bin/sh", "-c", f"printf 'Error: no licence\\n{trace}' >&2")
    async with started(tmp_path, terms_of(tmp_path, way)) as desk:
        await until(lambda: desk.server.trouble != "it is being started")
        assert desk.server.trouble == (
            "it ended; its last words: Error: no licence / … / at step 9 / at step 10 / at step 11"
        )


async def test_a_tool_that_works_as_a_task_alone_is_not_offered(tmp_path: Path) -> None:
    tools = [
        described("long", execution={"taskSupport": "required"}),
        described("both", execution={"taskSupport": "optional"}),
    ]
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "tools.json").write_text(json.dumps(tools))
    async with raw(tmp_path) as desk:
        assert desk.names == ["both"]
        assert "'long' can only run as a task of the protocol" in desk.server._told[0]


async def test_a_server_that_is_not_there_is_told_with_words(tmp_path: Path) -> None:
    way = program(tmp_path / "desk", "no-such-program-at-all")
    async with started(tmp_path, terms_of(tmp_path, way)) as desk:
        await until(lambda: "no-such-program" in desk.server.trouble)
        assert desk.server.trouble == "there is no program 'no-such-program-at-all' to be started, nor on its PATH"


async def test_a_server_that_hangs_at_the_start_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    silent = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "silent"))
    async with started(tmp_path, silent, SHORT) as mute, raw(tmp_path / "other") as desk:
        assert await desk.call("echo", text="meanwhile") == "meanwhile"
        await until(lambda: mute.server.trouble == "it did not answer in time")


async def test_a_call_waits_for_a_server_that_is_away_only_so_long(tmp_path: Path) -> None:
    async with raw(tmp_path) as before:
        offered = [one.offer for one in before.server.tools]
        await until(lambda: (tmp_path / "desk.json").exists())  # what it offers is kept a moment after it is known
    gone = Program((*RAW, "plain"), tmp_path / "desk", {"PYTHONHOME": "/nowhere"})
    async with started(tmp_path, terms_of(tmp_path, gone), SHORT) as desk:
        (tmp_path / "desk").rename(tmp_path / "elsewhere")
        (tmp_path / "desk").touch()  # so that its folder cannot be made
        await until(lambda: bool(desk.names))
        with pytest.raises(ToolFailed, match=r"isn't running \(.*\)\. Nothing was called. Try later"):
            await desk.call("echo", text="x")
        assert [one.offer for one in desk.server.tools] == offered


async def test_a_hanging_call_ends_at_once_with_its_server(tmp_path: Path) -> None:
    began = time.monotonic()
    async with raw(tmp_path, mode="stays") as desk:
        pid = desk.pid
        async with asyncio.TaskGroup() as group:
            hanging = group.create_task(desk.call("hang"))
            await until(lambda: len(desk.calls("hang")) == 1)
            hanging.cancel()
    assert not alive(pid)  # though it wanted to stay
    assert time.monotonic() - began < 30


async def test_a_flood_of_notifications_reaches_nobody(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    chatty = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "chatty"))
    async with at_work(tmp_path, chatty) as noisy, raw(tmp_path / "other") as desk:
        used, began = time.process_time(), time.monotonic()
        for number in range(50):
            assert await desk.call("echo", text=str(number)) == str(number)
            await asyncio.sleep(0.01)
        share = (time.process_time() - used) / (time.monotonic() - began)
        assert share < 0.6, f"{share:.0%} of our time went into it"
        assert alive(noisy.pid)


async def test_what_it_says_before_its_answer_is_dropped_and_the_answer_is_not(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        assert await desk.call("flood", text="900") == "flooded"


async def test_a_message_that_never_ends_costs_it_its_life(tmp_path: Path) -> None:
    endless = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "endless"))
    async with started(tmp_path, endless) as desk:
        await until(lambda: desk.server.trouble != "it is being started")
        assert desk.server.trouble == "it sent a message of more than 8,388,608 bytes"


async def test_a_result_is_as_long_as_a_message_may_be_and_no_longer(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        assert len(await desk.call("big", text="4000000")) == 4_000_000  # the agent cuts it, as every tool's
        with pytest.raises(ToolFailed, match=rf"sent a message of more than 8,388,608 bytes\)\. {UNKNOWN}"):
            await desk.call("big", text="9000000")
        assert await desk.call("echo", text="back") == "back"


async def test_of_thousands_of_tools_as_many_are_taken_as_a_model_takes(tmp_path: Path) -> None:
    async with raw(tmp_path, mode="many") as desk:
        assert len(desk.names) == 128
    async with raw(tmp_path, mode="many", wanted=("t199?",)) as desk:
        assert desk.names == [f"t{number}" for number in range(1990, 2000)]


async def test_an_answer_in_no_form_of_the_protocol_is_told(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        with pytest.raises(ToolFailed, match=rf"its answer doesn't follow the protocol: .*\)\. {UNKNOWN}"):
            await desk.call("odd")
        assert await desk.call("echo", text="still there") == "still there"


async def test_a_server_that_reads_nothing_more_costs_a_call_its_time_and_no_more(tmp_path: Path) -> None:
    async with raw(tmp_path, mode="deaf", timeout=timedelta(milliseconds=200)) as desk:
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.2 s"):
            await desk.call("big", text="z" * 300_000)  # more than the pipe holds
        began = time.monotonic()
    assert time.monotonic() - began < 30


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the end of its input is all that a server is told")
async def test_it_dies_with_us_however_we_end(tmp_path: Path) -> None:
    script = f"""
import asyncio
from pathlib import Path
from tests.wire.mcp.stage import raw

async def main() -> None:
    async with raw(Path({str(tmp_path)!r}), mode="stays"):
        Path({str(tmp_path)!r}, "at-work").touch()
        await asyncio.Event().wait()

asyncio.run(main())
"""
    async with ending(sys.executable, "-c", script, cwd=ROOT, stdout=subprocess.DEVNULL):
        await until(lambda: (tmp_path / "at-work").exists())
        pid = int((tmp_path / "desk" / "pid").read_text())
        assert alive(pid)
    await until(lambda: not alive(pid))


async def test_all_of_its_children_go_with_it(tmp_path: Path) -> None:
    shell = f"sleep 1000 & echo $! >child; exec {shlex.join([*RAW, 'plain'])}"
    way = program(tmp_path / "desk", "/bin/sh", "-c", shell)
    async with at_work(tmp_path, terms_of(tmp_path, way), SOON) as desk:
        child = int((desk.folder / "child").read_text())
        assert alive(child)
    await until(lambda: not alive(child))


async def test_an_answer_over_http_is_bounded_too_and_an_error_tells_nothing_of_the_call(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        message = await request.json()
        result: dict[str, Any]
        match message.get("method"):
            case "initialize":
                info = {"name": "raw", "version": "1"}
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": [described(name) for name in ("big", "broken", "small")]}
            case "tools/call" if message["params"]["name"] == "broken":
                return web.Response(status=500, text="a secret of the server's")
            case "tools/call":
                size = 9_000_000 if message["params"]["name"] == "big" else 9
                result = {"content": [{"type": "text", "text": "y" * size}]}
            case "server/discover":
                return web.json_response(
                    {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "?"}}
                )
            case _:
                return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = web.Application()
    app.router.add_post("/mcp", answer)
    async with serving(app) as url, at_work(tmp_path, terms_of(tmp_path, Endpoint(f"{url}/mcp"))) as desk:
        with pytest.raises(ToolFailed, match=rf"an answer of more than 8,388,608 bytes\)\. {UNKNOWN}"):
            await desk.call("big")
        with pytest.raises(ToolFailed, match=UNKNOWN) as told:
            await desk.call("broken")
        assert "secret" not in str(told.value)
        assert await desk.call("small") == "y" * 9


@pytest.mark.parametrize("way", ["tomorrow", "stubborn"])
async def test_a_server_of_tomorrows_revision_is_told_with_both_revisions(tmp_path: Path, way: str) -> None:
    command = program(tmp_path / "desk", sys.executable, "-I", "-S", mcp_asking.__file__, way)
    async with started(tmp_path, terms_of(tmp_path, command)) as desk:
        await until(lambda: desk.server.trouble != "it is being started")
        assert desk.server.trouble == (
            "it speaks the protocol's revision 2031-01-01, and we speak 2026-07-28 and 2025-11-25"
        )
