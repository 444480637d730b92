"""A server that works: what it offers, what its calls give, and what it sees of this machine."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import Effect
from runtime.errors import ToolFailed
from tests.fakes.mcp_raw import tool
from tests.fakes.mcp_server import PNG, TOKEN
from tests.fakes.serve import spawned
from tests.wire.mcp.stage import OURS, PACKAGED, RAW, at_work, closed, line_of, program, raw, started, terms_of, until
from tools.mcp.terms import Endpoint


async def test_a_server_made_with_the_sdk_answers_with_texts_files_and_failures(tmp_path: Path) -> None:
    terms = terms_of(tmp_path, program(tmp_path / "desk", *OURS), trust_hints=True)
    async with at_work(tmp_path, terms) as desk:
        assert await desk.call("echo", text="hä?") == "hä?"
        assert await desk.call("numbers") == '{\n  "open": 3,\n  "closed": 5\n}'
        with pytest.raises(ToolFailed, match="the printer is out of paper"):
            await desk.call("fails")
        with pytest.raises(ToolFailed, match="text"):  # its own check of arguments, in its own words
            await desk.call("echo")

        shown = await desk.call("picture")
        (file,) = desk.attached
        assert shown == f"Here it is:\n[image, 1 kB: {file.path}]"
        assert (file.mime, file.size, file.name) == ("image/png", 1000, file.path.removeprefix("mcp/"))
        assert (desk.workspace / file.path).read_bytes() == PNG
        assert await desk.call("picture") == shown  # the same call again: over the same file

        assert await desk.call("steps") == "tea"
        await until(lambda: len(desk.told) == 2)
        assert sorted(desk.told) == ["1 of 2: boiling water", "2"]

        await desk.call("sound")
        assert desk.attached[-1].mime == "audio/wav"
        effects = {one.offer.name: one.spec.effect for one in desk.server.tools}
        assert (effects["look"], effects["echo"]) == (Effect.READ, Effect.WRITE)

        # It tells of its tools as the newest protocol does: to those who asked for it.
        await asyncio.sleep(0)
        await desk.call("grow")
        await until(lambda: "fresh" in desk.names)
        assert await desk.call("fresh") == "fresh"


async def test_a_server_by_others_answers(tmp_path: Path) -> None:
    async with at_work(tmp_path, terms_of(tmp_path, program(tmp_path / "desk", *PACKAGED))) as clock:
        assert clock.names == ["get_current_time", "convert_time"]
        told = await clock.call("convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
        assert "T21:00:00+09:00" in told


async def test_a_server_over_http_is_shown_the_token(tmp_path: Path) -> None:
    async with spawned("tests.fakes.mcp_server", "0") as (process, url):
        way = Endpoint(url, {"Authorization": f"Bearer {TOKEN}"})
        async with at_work(tmp_path, terms_of(tmp_path, way)) as desk:
            assert await desk.call("echo", text="over the wire") == "over the wire"
            assert await desk.call("steps") == "tea"
            await until(lambda: "1 of 2: boiling water" in desk.told)
            assert url.removesuffix("/mcp") in desk.tool("echo").caution()
            await desk.call("grow")
            await until(lambda: "fresh" in desk.names)

            process.kill()
            with pytest.raises(ToolFailed, match=r"unknown|n't running"):
                await desk.call("echo", text="is anybody there?")


async def test_a_server_over_http_that_refuses_us_is_told_with_words(tmp_path: Path) -> None:
    async with (
        spawned("tests.fakes.mcp_server", "0") as (_, url),
        started(tmp_path, terms_of(tmp_path, Endpoint(url, {"Authorization": "Bearer wrong"}))) as desk,
    ):
        await until(lambda: desk.server.trouble != "it is being started")
        assert "wrong" not in desk.server.trouble


async def test_its_environment_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-whole-process")
    terms = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "plain", DESK_TOKEN="declared"))
    async with at_work(tmp_path, terms) as desk:
        seen = json.loads(await desk.call("environment"))
        command_line = line_of(desk.pid)
    assert seen["env"].keys() <= {"PATH", "HOME", "LANG", "DESK_TOKEN", "PYTHONPATH"}
    assert seen["env"]["DESK_TOKEN"] == "declared"
    assert seen["env"]["HOME"] == seen["cwd"] == str(tmp_path / "desk")
    assert stat.S_IMODE((tmp_path / "desk").stat().st_mode) == 0o700
    assert "declared" not in command_line
    assert "declared" not in repr(terms)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
async def test_where_we_are_root_it_is_another_user_with_its_folder_as_its_home(tmp_path: Path) -> None:
    closed(tmp_path)
    # A program that anyone may run: this interpreter may stand where only root comes by.
    way = program(tmp_path / "desk", "/bin/sh", "-c", 'id -u >"$HOME/who"; id -u >&2')
    async with started(tmp_path, terms_of(tmp_path, replace(way, uid=65534))) as desk:
        await until(lambda: desk.server.trouble != "it is being started")
    if "Operation not permitted" in desk.server.trouble:
        pytest.skip(f"no mount namespace here: {desk.server.trouble}")
    assert desk.server.trouble == "it ended; its last words: 65534"
    assert (tmp_path / "desk" / "who").read_text() == "65534\n"


async def test_tools_that_change_are_seen_by_the_next_look(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        before = desk.tool("echo")
        await desk.call("change", text=json.dumps([tool("echo", "Deletes everything."), tool("new")]))
        await until(lambda: desk.names == ["echo", "new"])

        # A call that was allowed for the one is not made of the other.
        with pytest.raises(ToolFailed, match="has changed, so it was not called"):
            await before.call({"text": "x"}, desk.context)
        assert before.caution() != desk.tool("echo").caution()
        (desk.folder / "tools.json").write_text(json.dumps([tool("new")]))
        gone = desk.tool("echo")
        await desk.server._live.offers()  # type: ignore[union-attr]
        desk.server._live.changed.set()  # type: ignore[union-attr]
        await until(lambda: desk.names == ["new"])
        with pytest.raises(ToolFailed, match="no longer has the tool echo"):
            await gone.call({"text": "x"}, desk.context)
        assert desk.calls("echo") == []


async def test_what_it_offered_is_known_from_the_start_of_the_next_life(tmp_path: Path) -> None:
    async with raw(tmp_path) as desk:
        first = desk.tool("book")
    terms = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "plain"))
    async with started(tmp_path, terms) as again:
        await until(lambda: bool(again.names))  # before it is up, so that the call below waits for it
        assert again.tool("book").caution() == first.caution()
        assert await again.call("book", text="a table") == "a table"
        assert again.calls("book") == [{"text": "a table"}]
    async with started(tmp_path, terms_of(tmp_path, program(tmp_path / "desk", *RAW, "silent"))) as other:
        await asyncio.sleep(0.05)
        assert other.names == []  # another command is another server


async def test_a_call_is_bounded_in_time_and_says_what_is_known(tmp_path: Path) -> None:
    limit = timedelta(milliseconds=100)
    async with raw(tmp_path, timeout=limit, effects={"e*": Effect.READ}) as desk:
        with pytest.raises(
            ToolFailed, match=r"did not answer within 0\.1 s\. Whether the call was carried out is unknown"
        ):
            await desk.call("hang")
        assert await desk.patiently("echo", text="others go on") == "others go on"
    async with raw(tmp_path, timeout=limit, effect=Effect.READ) as desk:
        with pytest.raises(ToolFailed, match="changes nothing, so it may be made again"):
            await desk.call("hang")
