"""A file of tools.d in its sandbox: it serves what it declares, reaches nothing of ours, and is started anew when it hangs or dies."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from bot.settings.settings import Settings, load
from bot.wiring.tools.folder import checked, folder_of, terms_of
from runtime.contract import Effect, Reads
from runtime.errors import ToolFailed
from tests.wire.mcp.stage import started, until
from tools.plugins.reading import files_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")

SECRET: Final = "hunter2-of-ours"
TOOLS: Final = '''
import os, socket, time
from datetime import timedelta
from pathlib import Path
from signalbox.tools import Effect, Flow, Reads, ToolFailed, tool

print("said while it is loaded, which is no part of the protocol")

@tool(effect=Effect.READ, flow=Flow(Reads.OURS, stays=True))
def look(path: str) -> str:
    """Read a file."""
    return Path(path).read_text()

@tool(effect=Effect.WRITE, idempotent=True)
async def note(text: str) -> str:
    """Note something in the folder of its own."""
    Path("notes").write_text(text)
    return f"noted by {os.getpid()}"

@tool()
def call_home() -> str:
    """Open a connection."""
    socket.create_connection(("127.0.0.1", 9), timeout=1)
    return "connected"

@tool(effect=Effect.READ)
def refuse() -> str:
    """Say no."""
    raise ToolFailed("There is no paper.")

@tool(effect=Effect.READ, timeout=timedelta(seconds=0.2))
def hang() -> str:
    """Never end."""
    time.sleep(600)
    return "never"

@tool(effect=Effect.DANGER)
def die() -> str:
    """End the process."""
    os._exit(9)
'''


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "tools.d"
    folder.mkdir(mode=0o755)
    put(folder / "desk.py", TOOLS)
    # As we are: another user may not reach this interpreter.
    (tmp_path / "signalbox.toml").write_text("[tools]\nfolder_uid = 0\n", encoding="utf-8")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "secret").write_text(SECRET, encoding="utf-8")
    return load(folder=tmp_path, environ={"PATH": os.defpath})


def put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)


async def test_it_serves_what_it_declares_and_reaches_nothing_of_ours(settings: Settings, tmp_path: Path) -> None:
    assert settings.tools.folder
    [file] = files_in(settings.tools.folder)
    async with started(tmp_path, terms_of(settings, file)) as desk:
        await until(lambda: bool(desk.names))
        specs = {tool.spec.name: tool.spec for tool in desk.server.tools}
        assert (specs["look"].effect, specs["look"].flow.reads) == (Effect.READ, Reads.OURS)
        assert (specs["note"].effect, specs["note"].repeatable) == (Effect.WRITE, True)
        assert (specs["call_home"].effect, specs["call_home"].repeatable) == (Effect.DANGER, False)
        assert await desk.call("note", text="hello") == "noted by 2"
        assert await desk.call("look", path="notes") == "hello"
        with pytest.raises(ToolFailed, match=r"There is no paper\."):
            await desk.call("refuse")
        with pytest.raises(ToolFailed, match=r"^desk\.py:\d+: (FileNotFound|Permission)Error"):
            await desk.call("look", path=str(tmp_path / "var" / "secret"))
        with pytest.raises(ToolFailed, match=r"desk\.py:\d+: (OSError|ConnectionRefusedError)"):
            await desk.call("call_home")


async def test_one_that_hangs_or_dies_is_told_and_started_anew(settings: Settings, tmp_path: Path) -> None:
    assert settings.tools.folder
    [file] = files_in(settings.tools.folder)
    async with started(tmp_path, terms_of(settings, file)) as desk:
        await until(lambda: bool(desk.names))
        with pytest.raises(ToolFailed, match=r"hang did not end within 0\.2 s"):
            await desk.call("hang")
        await until(lambda: "hang did not end" in desk.server.trouble)
        assert (await desk.call("note", text="again")).startswith("noted by")
        with pytest.raises(ToolFailed, match=r"file desk\.py of tools\.d gave no answer"):
            await desk.call("die")
        assert (await desk.call("note", text="once more")).startswith("noted by")


@pytest.mark.soak
async def test_a_changed_file_is_served_anew_beside_one_that_broke(settings: Settings) -> None:
    assert settings.tools.folder
    put(settings.tools.folder / "broken.py", "import nothing_like_this\n\nfrom signalbox.tools import tool\n")
    found = {one.file.name: one for one in await checked(settings)}
    assert found["broken"].fault == "broken.py:1: ModuleNotFoundError: No module named 'nothing_like_this'"
    assert "look" in found["desk"].specs
    changed = asyncio.Event()
    folder = folder_of(settings, settings.tools.folder, changed.set)
    keeping = asyncio.ensure_future(folder.run())
    try:
        await until(lambda: "look" in folder.beside({}))
        put(settings.tools.folder / "desk.py", TOOLS.replace("def look", "def peek"))
        await until(lambda: "peek" in folder.beside({}))
        assert "look" not in folder.beside({})
    finally:
        keeping.cancel()
