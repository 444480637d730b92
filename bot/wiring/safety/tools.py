"""Tools whose words are not ours, such as those of MCP servers, without secrets in these words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from runtime.contract import Json, Tool, ToolContext, ToolSpec
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.guard.stored import Form, looked_at


class GuardedTool:
    """Implements `contract.Tool`. Models, cards and tables have `spec` of it; a call goes to the tool itself."""

    def __init__(self, tool: Tool, spec: ToolSpec) -> None:
        self._tool = tool
        self.spec = spec

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return await self._tool.call(arguments, context)

    def caution(self) -> str:
        return self._tool.caution()


def guarded(tools: Mapping[str, Tool], door: Door) -> Mapping[str, Tool]:
    """`tools`, each with a form that may be stored. They are looked at when they change, and not with each message."""
    return {name: _guarded(tool, door) if tool.spec.form else tool for name, tool in tools.items()}


def _guarded(tool: Tool, door: Door) -> Tool:
    """The form is cleaned as a scan of stored forms does it, so that both read equal."""
    spec = tool.spec
    if door.clean(spec.form, Gate.HANDED_ON) == spec.form:
        return tool
    form, _ = looked_at(spec.form, Form.JSON, lambda text: door.guard.check(text, Gate.HANDED_ON))
    told = json.loads(form)
    return GuardedTool(tool, replace(spec, description=told["description"], schema=told["schema"], form=form))
