"""Modules of memory, and of interceptors, that a process loads, looked at in a fresh one: it pays for what its settings turn on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[4]
LOOK: Final = """
import asyncio, json, sys
from pathlib import Path
from bot.server.app import build
from bot.settings.settings import load

async def loaded(text):
    path = Path(sys.argv[1]) / "signalbox.toml"
    path.write_text(text)
    (path.parent / "var").mkdir(exist_ok=True)
    await (await build(load(path, environ={}))).store.close()
    found = ("numpy", "litellm", "runtime.memory", "runtime.vectors", "runtime.models.embedding", "runtime.interceptors", "tools.interceptors")
    return sorted(name for name in sys.modules if name.startswith(found) and name.count(".") <= 2)

print(json.dumps([asyncio.run(loaded(text)) for text in sys.argv[2:]]))
"""
SEARCH: Final = ["runtime.vectors", "runtime.vectors.near"]
"""A search by meaning without a model: it finds nothing, and costs nothing."""
WITH_MODEL: Final = '[embeddings]\nname = "openai/small"\napi_base = "http://127.0.0.1:9/v1"\n'


def test_memory_loads_no_numpy_before_its_first_search_and_nothing_where_it_is_off(tmp_path: Path) -> None:
    off, on, with_vectors = looked_at(tmp_path, "[memory]\nenabled = false\n", "", WITH_MODEL)
    assert off == SEARCH
    assert {"runtime.memory.book", "runtime.memory.recalling"} <= {*on}
    assert [name for name in on if not name.startswith("runtime.memory")] == SEARCH
    assert "runtime.models.embedding.embedder" not in on
    assert [name for name in with_vectors if name.startswith(("numpy", "litellm"))] == []
    assert "runtime.vectors.guarded" in with_vectors


def test_interceptors_are_loaded_where_there_are_some_alone(tmp_path: Path) -> None:
    table = '[[interceptors]]\nname = "warden"\nat = "run_end"\ncommand = ["warden"]\n'
    off, on = looked_at(tmp_path, "[memory]\nenabled = false\n", f"{table}\n[memory]\nenabled = false\n")
    assert off == SEARCH
    assert {"runtime.interceptors.chain", "tools.interceptors.program"} <= {*on}


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
