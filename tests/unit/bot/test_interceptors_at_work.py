"""Interceptors of the settings in a whole process: asked at the points of a run, and told of its progress."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import Call, Effect
from tests.contract.runtime.stage import fake_tool
from tests.unit.bot.notebook import running

PACKAGE: Final = """
from signalbox.interceptors import ALLOW, deny, replaced

SEEN = []


async def look(occasion):
    SEEN.append((occasion.at, occasion.agent, occasion.room, occasion.person, occasion.tool))
    if occasion.at == "before_tool":
        return replaced(arguments={"path": "b"})
    return replaced(text=f"{occasion.values['text']} Looked at.") if occasion.at == "before_show" else ALLOW
"""
TABLE: Final = {
    "name": "watcher",
    "at": ["before_tool", "after_tool", "on_progress", "before_show", "run_end"],
    "package": "watcher",
}
ROOM: Final = "notebook:main/desk"


async def test_a_package_looks_in_on_a_message_from_its_call_to_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "acme_watcher-1.0.dist-info"
    about.mkdir()
    (tmp_path / "acme_watcher.py").write_text(PACKAGE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-watcher\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[signalbox.interceptors]\nwatcher = acme_watcher:look\n")
    monkeypatch.syspath_prepend(tmp_path)
    tool = fake_tool("look", Effect.READ)
    call = Call("c", "look", '{"path": "a"}')
    async with running(tmp_path / "data", [call, "All well."], tools={"look": tool}, interceptors=[TABLE]) as at_work:
        await at_work.say("look around")
        await at_work.notebook.until("All well. Looked at.")
        rows = await at_work.app.store.audit.newest_audit("interceptor replaced", limit=10)
    seen = import_module("acme_watcher").SEEN
    assert tool.calls == [{"path": "b"}]
    assert sorted((row.actor, row.detail) for row in rows) == [
        ("watcher", "before_show"),
        ("watcher", "before_tool look"),
    ]
    points = [one[0] for one in seen]
    assert [point for point in points if point != "on_progress"] == [
        "before_tool",
        "after_tool",
        "before_show",
        "run_end",
    ]
    assert "on_progress" in points
    assert seen[points.index("before_tool")] == ("before_tool", "main", ROOM, "owner", "look")
