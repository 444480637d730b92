"""Tools in the words of their servers, behind the leak guard."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.server.app import build
from bot.wiring.safety.tools import guarded
from runtime.contract import Effect, Tool
from runtime.errors import Cause
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.guard.stored import Form, looked_at
from runtime.models.choice.cooling import Failed
from runtime.policy.tool_forms import changes
from tests.contract.runtime.stage import fake_tool
from tests.unit.bot.settings.test_settings import read
from tests.unit.guard.secrets import SECRETS

SECRET = SECRETS["github"][1]
OTHER = SECRETS["gitlab"][1]


def offered(description: str, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties}
    form = json.dumps({"name": "book", "description": description, "schema": schema}, sort_keys=True)
    return _of(replace(fake_tool("desk_book", Effect.WRITE).spec, description=description, schema=schema, form=form))


def _of(spec: Any) -> Tool:
    tool: Any = fake_tool("desk_book", Effect.WRITE)
    tool.spec = spec
    made: Tool = tool
    return made


def test_tools_without_a_secret_and_our_own_stay_as_they_are() -> None:
    tools = {
        "book": offered("Books a table.", text={"type": "string"}),
        "look": _of(fake_tool("look", Effect.READ).spec),
    }
    found = guarded(tools, OPEN_DOOR)
    assert all(found[name] is tool for name, tool in tools.items())


def test_words_and_schema_are_clean_and_the_rest_is_as_it_was() -> None:
    tool = offered(f"Use {SECRET}.", text={"type": "string", "default": OTHER})
    spec = guarded({"book": tool}, OPEN_DOOR)["book"].spec
    assert SECRET not in repr(spec)
    assert OTHER not in repr(spec)
    told = json.loads(spec.form)
    assert (told["description"], told["schema"]) == (spec.description, spec.schema)
    assert spec.description.startswith("Use [redacted: GitHub token")
    assert (spec.name, spec.effect, spec.timeout) == (tool.spec.name, tool.spec.effect, tool.spec.timeout)
    assert spec.schema["type"] == "object"


def test_a_form_of_before_reads_equal_once_a_scan_has_cleaned_it() -> None:
    tool = offered(f"Use {SECRET}.", text={"type": "string", "default": OTHER})
    cleaned, _ = looked_at(tool.spec.form, Form.JSON, lambda text: OPEN_DOOR.guard.check(text, Gate.HANDED_ON))
    assert changes(cleaned, guarded({"book": tool}, OPEN_DOOR)["book"].spec.form) == ""


def test_another_secret_is_another_form() -> None:
    first, second = (guarded({"book": offered(f"Use {one}.")}, OPEN_DOOR)["book"].spec for one in (SECRET, OTHER))
    assert changes(first.form, second.form) == "its description"


def test_what_is_found_is_told_once_and_a_strict_guard_leaves_a_form_that_can_be_read() -> None:
    told: list[tuple[Gate, Finding]] = []
    rules = GuardRules({Detector.SHAPE: Strictness.ENFORCE})
    door = Door(Guard(rules), told=lambda gate, _, finding: told.append((gate, finding)))
    spec = guarded({"book": offered(f"Use {SECRET}.")}, door)["book"].spec
    assert [(gate, finding.name) for gate, finding in told] == [(Gate.HANDED_ON, "GitHub token")]
    assert SECRET not in spec.form
    assert json.loads(spec.form)["schema"] == spec.schema


@dataclass
class Server:
    """An MCP server as the tools of an agent know it."""

    tools: list[Tool]
    name: str = "desk"
    asking: tuple[Tool, ...] = ()


async def test_a_process_has_the_words_of_others_behind_its_guard(tmp_path: Path) -> None:
    """Tools of servers, and what vendors say of an error."""
    (tmp_path / "var").mkdir()
    app = await build(read(tmp_path, 'database_url = "sqlite:///:memory:"\n[web]\nport = 0\n'))
    toolbox: Any = app.engine.toolkit.toolbox
    toolbox.join([Server([offered(f"Use {SECRET}.")])])
    toolbox.renew()
    assert toolbox.tools["desk_book"].spec.description.startswith("Use [redacted: GitHub token")
    await app.base.cooldowns.failed(Failed("first", "mark", Cause.AUTH, app.store.now(), f"no key {SECRET}"))
    rest = app.base.cooldowns.of("first")
    assert rest
    assert rest.reason.startswith("no key [redacted: GitHub token")
    await app.store.close()
