"""The protocol's own reference servers, which others wrote for node: every kind of answer that they give."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import Effect
from tests.wire.mcp.stage import at_work, program, terms_of
from tools.mcp.offers import PROMPTS, RESOURCES

EVERYTHING: Final = "@modelcontextprotocol/server-everything"
FILESYSTEM: Final = "@modelcontextprotocol/server-filesystem"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both in a folder of their own."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("these servers are programs for node, and npm isn't here")
    folder = tmp_path_factory.mktemp("others")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run([*command, EVERYTHING, FILESYSTEM], capture_output=True, text=True, timeout=500, check=False)
    if done.returncode:
        pytest.skip(f"npm can't fetch these servers here: {done.stderr.strip()[-300:]}")
    return folder / "node_modules"


async def test_the_server_that_has_everything_answers_in_every_kind(packages: Path, tmp_path: Path) -> None:
    node = shutil.which("node") or "node"
    way = program(
        tmp_path / "desk", node, str(packages / EVERYTHING / "dist/index.js"), "stdio", PATH=os.environ["PATH"]
    )
    async with at_work(tmp_path, terms_of(tmp_path, way)) as desk:
        assert {"echo", RESOURCES, PROMPTS} <= set(desk.names)
        assert await desk.call("echo", message="hi") == "Echo: hi"
        assert "[image, " in await desk.call("get-tiny-image")
        assert (desk.workspace / desk.attached[-1].path).read_bytes().startswith(b"\x89PNG")
        assert "demo://" in await desk.call("get-resource-links", count=2)
        assert await desk.call("get-resource-reference", resourceType="Blob", resourceId=1)
        listed = await desk.call(RESOURCES)
        assert "demo://resource/static/document/" in listed
        assert "(a template)" in listed
        uri = next(word for word in listed.split() if word.startswith("demo://resource/static/"))
        assert len(await desk.call(RESOURCES, uri=uri)) > 100
        assert "- simple-prompt" in await desk.call(PROMPTS)
        assert (await desk.call(PROMPTS, name="simple-prompt")).startswith("user: This is a simple prompt")
        assert desk.tool(RESOURCES).spec.effect is Effect.READ


async def test_the_server_of_files_reads_and_writes_where_it_may(packages: Path, tmp_path: Path) -> None:
    node, shown = shutil.which("node") or "node", tmp_path / "shown"
    shown.mkdir()
    (shown / "a.txt").write_text("first")
    way = program(
        tmp_path / "desk", node, str(packages / FILESYSTEM / "dist/index.js"), str(shown), PATH=os.environ["PATH"]
    )
    async with at_work(tmp_path, terms_of(tmp_path, way)) as desk:
        assert await desk.call("read_text_file", path=str(shown / "a.txt")) == "first"
        await desk.call("write_file", path=str(shown / "b.txt"), content="second")
        assert (shown / "b.txt").read_text() == "second"
        assert "[FILE] b.txt" in await desk.call("list_directory", path=str(shown))
        with pytest.raises(Exception, match="outside allowed directories"):
            await desk.call("read_text_file", path="/etc/passwd")
