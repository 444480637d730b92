"""Modules that a process loads, looked at in a fresh one: it pays for what its settings turn on."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[4]
LOOK: Final = """
import asyncio, json, sys
import bot.node.lean
import aiohttp.connector
from pathlib import Path
from bot.server.app import build
from bot.settings.settings import load

async def loaded(text):
    path = Path(sys.argv[1]) / "signalbox.toml"
    path.write_text(text)
    (path.parent / "var").mkdir(exist_ok=True)
    await (await build(load(path, environ={}))).store.close()
    return sorted(sys.modules)

assert type(aiohttp.connector._SSL_CONTEXT_VERIFIED).__name__ == "LateContext"
print(json.dumps([asyncio.run(loaded(text)) for text in sys.argv[2:]]))
"""
OF_MEMORY: Final = ("numpy", "litellm", "runtime.memory", "runtime.vectors", "runtime.models.embedding")
SEARCH: Final = ["runtime.vectors", "runtime.vectors.near"]
"""A search by meaning without a model: it finds nothing, and costs nothing."""
OF_INTERCEPTORS: Final = {"runtime.interceptors.chain", "tools.interceptors.program"}
WITH_INTERCEPTOR: Final = '[[interceptors]]\nname = "warden"\nat = "run_end"\ncommand = ["warden"]\n'
WITH_MODEL: Final = '[embeddings]\nname = "openai/small"\napi_base = "http://127.0.0.1:9/v1"\n'


LATE: Final = {
    *("bot.doors.a2a.places", "bot.doors.a2a.pushing", "bot.wiring.events.pushes", "tools.peers.asking"),
    *("adapters.webhook.adapter", "bot.console.pages", "bot.operator.operations", "bot.wiring.logins.grants"),
    *("bot.wiring.knowledge.reader", "bot.wiring.tools.folder", "runtime.knowledge.reading", "runtime.models.demo"),
    *(
        "tools.browser.tools",
        "tools.builds.results",
        "tools.charting.arguments",
        "tools.databases.tool",
        "tools.mcp.server",
    ),
    *(
        "tools.documents.kinds",
        "tools.git.remote",
        "tools.plugins.folder",
        "tools.processes.program",
        "tools.web.bodies",
    ),
    *("tools.web.searching.tool", "tools.web.sending"),
    *("alembic", "asyncpg", "jinja2", "mcp", "playwright", "pypdf", "rich", "xml.etree", "yaml"),
}
"""Modules that wait for their first use, or for settings that turn them on."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Modules of one process, which is built without memory, then as it comes, then with embeddings, then with an interceptor."""
    return looked_at(tmp_path_factory.mktemp("loaded"), "[memory]\nenabled = false\n", "", WITH_MODEL, WITH_INTERCEPTOR)


def test_memory_loads_no_numpy_before_its_first_search_and_nothing_where_it_is_off(loaded: list[list[str]]) -> None:
    off, on, with_vectors, _ = (
        [name for name in names if name.startswith(OF_MEMORY) and name.count(".") <= 2] for names in loaded
    )
    assert off == SEARCH
    assert {"runtime.memory.book", "runtime.memory.recalling"} <= {*on}
    assert [name for name in on if not name.startswith("runtime.memory")] == SEARCH
    assert "runtime.models.embedding.embedder" not in on
    assert [name for name in with_vectors if name.startswith(("numpy", "litellm"))] == []
    assert "runtime.vectors.guarded" in with_vectors


def test_interceptors_are_loaded_where_there_are_some_alone(loaded: list[list[str]]) -> None:
    assert [OF_INTERCEPTORS & {*names} for names in loaded] == [set(), set(), set(), OF_INTERCEPTORS]


def test_an_idle_process_has_not_loaded_what_nobody_has_used(loaded: list[list[str]]) -> None:
    """Each of these was there once, for 5 MB: most processes of a small machine are idle."""
    ours = [name for name in LATE if name.startswith(("adapters.", "bot.", "runtime.", "tools."))]
    assert [name for name in ours if not find_spec(name)] == []
    assert LATE & {*loaded[1]} == set()


def looked_at(folder: Path, *settings: str) -> list[list[str]]:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK, str(folder), *settings],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: list[list[str]] = json.loads(ended.stdout.splitlines()[-1])
    return found
