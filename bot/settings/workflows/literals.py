"""Words of steps that are all there before anything runs: a time to wait for, and arguments of our own tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from runtime.contract import Json, Tool
from runtime.domain.workflows.definition import Step, StepKind

HOLE: Final = "{{"
"""Begins a value that is put in later."""
SOME_MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""From which a span is counted: only its form is looked at."""


def literal_fault(step: Step, tools: Mapping[str, Tool]) -> str:
    """The first fault of a step in words; empty where there is none, or its values aren't there yet."""
    match step.kind:
        case StepKind.WAIT:
            return _time_fault(step.text)
        case StepKind.TOOL if step.text in tools:
            return next(_argument_faults(step, tools[step.text]), "")
        case _:
            return ""


def _time_fault(text: str) -> str:
    from tools.workflows import EXAMPLES, LONGEST_WAIT, SPAN, moment_of  # loads what the agent may call

    if HOLE in text:
        return ""
    at = moment_of(text, SOME_MOMENT)
    if at is None:
        return f'"{text[:60]}" is no time to wait for; write it as {EXAMPLES}'
    if SPAN.fullmatch(text.strip().lower()) and at - SOME_MOMENT > LONGEST_WAIT:
        return f'"{text[:60]}" is too long; a step waits at most {LONGEST_WAIT.days} days'
    return ""


def _argument_faults(step: Step, tool: Tool) -> Iterator[str]:
    """None for a tool that isn't ours: it checks its arguments itself."""
    from tools.kit.declare import FunctionTool
    from tools.kit.parameters import faults

    if not isinstance(tool, FunctionTool):
        return
    later = {name for name, value in step.arguments.items() if _is_computed(value)}
    known = {one.name for one in tool.parameters}
    for name in sorted(later - known):
        yield f"{step.text} has no argument {name!r}; there are {', '.join(sorted(known)) or 'none'}"
    given = {name: value for name, value in step.arguments.items() if name not in later}
    for wrong in faults(tuple(one for one in tool.parameters if one.name not in later), given):
        yield f"{step.text}: {wrong[:1].lower()}{wrong[1:].removesuffix('.')}"


def _is_computed(value: Json) -> bool:
    return HOLE in json.dumps(value, ensure_ascii=False)
