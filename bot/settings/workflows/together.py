"""Faults of workflows that only show beside the tools and agents that there are."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from bot.settings.agents.together import tools_known
from bot.settings.faults import nearest
from runtime.domain.agents.manifest import MAIN
from runtime.domain.workflows.definition import Step, StepKind, Workflow
from runtime.domain.workflows.reading import WorkflowError, read_workflow
from runtime.guard.shapes import long_words_of, shapes_in

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Unknown tools and agents, secrets in a definition. One that is wrong by itself is told with its own settings."""
    flows = [(place, flow) for place, table in layers.tables("workflows") if (flow := _read(table))]
    agents = [MAIN, *(table["name"] for _, table in layers.tables("agents") if isinstance(table.get("name"), str))]
    yield from _schedules(layers, [flow.name for _, flow in flows], agents)
    if not flows:
        return
    tools = list(tools_known(layers))
    for place, flow in flows:
        if flow.agent and flow.agent not in agents:
            yield f"{place}.agent", f'"{flow.agent}" names no agent; {_near(flow.agent, agents)}'
        if next(shapes_in(text := flow.to_json(), long_words_of(text)), None):
            yield f"{place}.steps", "hold a secret; name it in the settings of the tool, and take it out here"
        for step in flow.steps:
            if why := _unknown(step, tools, agents):
                yield f"{place}.steps", f"step {step.name}: {why}"


def _schedules(layers: Layers, known: list[str], agents: list[str]) -> Iterator[Fault]:
    for place, table in layers.tables("schedules"):
        name = table.get("workflow")
        if isinstance(name, str) and name and name not in known:
            yield f"{place}.workflow", f'"{name}" names no workflow; {_near(name, known)}'
        agent = table.get("agent")
        if isinstance(agent, str) and agent and agent not in agents:
            yield f"{place}.agent", f'"{agent}" names no agent; {_near(agent, agents)}'


def _read(table: object) -> Workflow | None:
    try:
        return read_workflow(table) if isinstance(table, dict) else None
    except WorkflowError:
        return None


def _unknown(step: Step, names: list[str], agents: list[str]) -> str:
    if step.kind is StepKind.TOOL and not any(fnmatchcase(step.text, name) for name in names):
        return f'there is no tool "{step.text}"; {_near(step.text, names)}'
    if step.kind is StepKind.DELEGATE and "{{" not in step.to and step.to not in agents:
        return f'there is no agent "{step.to}"; {_near(step.to, agents)}'
    return ""


def _near(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"there is {', '.join(known[:20]) or 'none'}"
