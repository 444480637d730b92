"""Agents as operators see them: each manifest, where it stands, and the tools that it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from bot.operator.views import View
from bot.plugins.packages import tools_named
from bot.settings.settings import Settings
from bot.wiring.agents import AllowedTools, manifests_of
from runtime.agent.registry import Agents
from runtime.contract import Tool
from runtime.domain.agents.manifest import MAIN, Manifest

PLACES = ("rooms", "people", "roles", "accounts", "channels")


def agents_at_work(agents: Agents, settings: Settings) -> list[View]:
    """Agents of the running process. `settings` say where each stands."""
    return [_view(agent.manifest, settings, agent.tools) for agent in agents.values()]


def agents_of_settings(settings: Settings) -> list[View]:
    """Agents as the next start has them. Tools of MCP servers are known while these run."""
    from tools.built_in import built_in_tools  # loads what the agent may call

    known = {**built_in_tools(), **tools_named(settings.tools.installed)}
    return [_view(one, settings, AllowedTools(known, one)) for one in manifests_of(settings).values()]


def _view(manifest: Manifest, settings: Settings, tools: Mapping[str, Tool]) -> View:
    values = {field.name: getattr(manifest, field.name) for field in fields(manifest)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return plain | {
        "prompt": manifest.prompt or settings.run.prompt,
        "model": manifest.model or settings.model.name,
        "effects": manifest.effects.value,
        "has": sorted(name for name, tool in tools.items() if not tool.spec.untold),
        "answers": ", ".join(_answers(manifest)) or ("wherever no other does" if manifest.name == MAIN else ""),
        "from": _source(manifest.name, settings),
    }


def _answers(manifest: Manifest) -> Iterator[str]:
    """Conditions of its binding, in words."""
    for kind in PLACES:
        if globs := getattr(manifest, kind):
            yield f"{kind} {' or '.join(globs)}"


def _source(name: str, settings: Settings) -> str:
    """The file that describes an agent; empty for the main one where nothing is said of it."""
    for number, table in enumerate(settings.agents, start=1):
        if table.name == name:
            return settings.source(f"agents[{number}]")
    return ""
