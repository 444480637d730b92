"""Faults of workflows that only show beside the tools and agents that there are."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from bot.settings.agents.together import tools_known
from bot.settings.faults import nearest
from bot.settings.workflows.folder import lines_of
from bot.settings.workflows.literals import literal_fault
from runtime.domain.agents.manifest import MAIN
from runtime.domain.workflows.definition import Step, StepKind, Workflow
from runtime.domain.workflows.reading import WorkflowError, read_workflow
from runtime.guard.shapes import long_words_of, shapes_in

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Unknown tools, agents and judges, times and arguments that can't be, secrets in a definition. One that is wrong by itself is told with its own settings."""
    yield from _judge(layers)
    flows = [(place, flow) for place, table in layers.tables("workflows") if (flow := _read(table))]
    agents = [MAIN, *(table["name"] for _, table in layers.tables("agents") if isinstance(table.get("name"), str))]
    yield from _schedules(layers, [flow.name for _, flow in flows], agents)
    if not flows:
        return
    from tools.built_in import built_in_tools  # loads what the agent may call

    tools, ours = list(tools_known(layers)), built_in_tools()
    for place, flow in flows:
        if flow.agent and flow.agent not in agents:
            yield f"{place}.agent", f'"{flow.agent}" names no agent{_where(layers, place)}; {_near(flow.agent, agents)}'
        if next(shapes_in(text := flow.to_json(), long_words_of(text)), None):
            where = _where(layers, place)
            yield f"{place}.steps", f"hold a secret{where}; name it in the settings of the tool, and take it out here"
        for step in flow.steps:
            if why := _unknown(step, tools, agents) or literal_fault(step, ours):
                yield f"{place}.steps", f"step {step.name}{_where(layers, place, step.name)}: {why}"


def _where(layers: Layers, place: str, step: str = "") -> str:
    """The file that a workflow stands in, and the line of its step, in brackets; empty where it came from elsewhere."""
    file = Path(layers.source(place) or ".")
    if not file.is_file():
        return ""
    line = lines_of(file.read_text("utf-8")).get(step)
    return f" ({file}, line {line})" if line else f" ({file})"


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


def _judge(layers: Layers) -> Iterator[Fault]:
    judge, usual = layers.get("goals.judge"), layers.get("model.name")
    names = [table["name"] for _, table in layers.tables("models") if isinstance(table.get("name"), str)]
    if isinstance(judge, str) and judge and judge != usual and judge not in names:
        near = nearest(judge, names)
        yield (
            "goals.judge",
            f'"{judge}" names no model; {f"did you mean {near}?" if near else "add it under [[models]]"}',
        )
