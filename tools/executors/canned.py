"""Canned results in tools' place: rules, approvals and the outbox are the real ones, and nothing is done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from runtime.contract import FIND_TOOLS, HAND_OVER, REHEARSED, Json, Tool, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from tools.executors.files import FileFault, filled, read_tables, unknown_in

RESULT_KEYS: Final = ("tool", "arguments", "result", "error")
ARGUMENTS_MAX_CHARS: Final = 300
TOOLS_KEPT: Final = ("channel_send", "workflow_start", "goal_set")
"""Tools that lead to rows of ours alone: what they post goes through the outbox."""


@dataclass(frozen=True, slots=True)
class Canned:
    """One result. `tool` is a glob, and so is each text among `arguments`; those that aren't named may be any."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    error: str

    def fits(self, tool: str, arguments: Mapping[str, Json]) -> bool:
        return fnmatchcase(tool, self.tool) and _fits(self.arguments, arguments)


class CannedTool:
    """Implements `contract.Tool`. All that is said of it is the tool's own, but that a call can be taken back."""

    def __init__(self, tool: Tool, results: Sequence[Canned], file: Path) -> None:
        self._tool = tool
        self._results = results
        self._file = file
        self.spec: ToolSpec = replace(tool.spec, undo=None)

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        for canned in self._results:
            if canned.fits(self.spec.name, arguments):
                values = {name: str(value) for name, value in arguments.items()}
                if canned.error:
                    raise ToolFailed(filled(canned.error, values))
                return str(filled(canned.result, values))
        given = json.dumps(arguments, ensure_ascii=False)[:ARGUMENTS_MAX_CHARS]
        raise ToolFailed(f"{self._file.name} has no result for {self.spec.name} with {given}, so nothing was done.")

    def caution(self) -> str:
        return " ".join(filter(None, [REHEARSED, self._tool.caution()]))


def canned_tools(tools: Mapping[str, Tool], results: Sequence[Canned], file: Path) -> Mapping[str, Tool]:
    """`tools` with their results from `results`. What the loop itself does stays: questions, waits, other agents; and so do
    posts and work that is begun, unless the file names them."""
    named = {canned.tool for canned in results}
    kept = {
        name for name, tool in tools.items() if _is_the_loops(tool.spec) or (name in TOOLS_KEPT and name not in named)
    }
    return {name: tool if name in kept else CannedTool(tool, results, file) for name, tool in tools.items()}


def _is_the_loops(spec: ToolSpec) -> bool:
    held = spec.asks or spec.hands or spec.sleeps or spec.awaits
    return held is not None or spec.untold or spec.name in (FIND_TOOLS, HAND_OVER)


def _fits(wanted: Any, given: Any) -> bool:
    match wanted:
        case str():
            return isinstance(given, str) and (wanted == given or fnmatchcase(given, wanted))
        case dict():
            return isinstance(given, Mapping) and all(
                name in given and _fits(one, given[name]) for name, one in wanted.items()
            )
        case list():
            whole = isinstance(given, list) and len(given) == len(wanted)
            return whole and all(_fits(one, other) for one, other in zip(wanted, given, strict=True))
        case _:
            return type(wanted) is type(given) and bool(wanted == given)


def read_canned(file: Path) -> tuple[Canned, ...]:
    """Errors: FileFault with all faults, one a line."""
    tables, _ = read_tables(file, "results")
    faults = [f"results[{number}]: {why}" for number, table in enumerate(tables, 1) for why in _faults(table)]
    if faults:
        raise FileFault(f"{file}: " + "\n".join(faults))
    return tuple(
        Canned(table["tool"], table.get("arguments", {}), table.get("result", ""), table.get("error", ""))
        for table in tables
    )


def _faults(table: Mapping[str, Any]) -> Iterator[str]:
    yield from unknown_in(table, RESULT_KEYS)
    if not isinstance(table.get("tool"), str) or not table["tool"]:
        yield 'tool is missing; it is a name or glob, such as "http_get"'
    if not isinstance(table.get("arguments", {}), dict):
        yield "arguments is a table"
    given = [name for name in ("result", "error") if name in table]
    if len(given) != 1:
        yield "has a result and an error; keep one" if given else "result is missing; set it, or error"
    for name in given:
        if not isinstance(table[name], str):
            yield f"{name} is a text"
