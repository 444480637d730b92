"""A process whose agent has skills: real folders, a real store, the real sandbox."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.settings.settings import Settings, load
from bot.wiring.skills.parts import SkillParts, skills_of
from bot.wiring.skills.telling import SkillCommands
from runtime.contract import Call, Model
from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.policy.rules import SHIPPED
from tests.contract.runtime.stage import Process, Stage
from tests.contract.runtime.strict import Planned
from tools.sandbox.sandbox import Sandbox, ShellSettings
from tools.sandbox.shell import sandbox_for
from tools.skills.skills import skill_tools


def call(tool: str, number: int = 1, **arguments: Any) -> Call:
    return Call(f"c-{tool}-{number}", tool, json.dumps(arguments))


def settings_in(folder: Path, text: str = "", **environ: str) -> Settings:
    folder.mkdir(exist_ok=True)
    (folder / "signalbox.toml").write_text(text, encoding="utf-8")
    return load(folder / "signalbox.toml", environ={"HOME": str(folder / "home"), **environ}, folder=folder)


async def life(
    stage: Stage,
    settings: Settings,
    model: Model | None = None,
    *more: Any,
    manifest: Manifest | None = None,
    sandbox: Sandbox | None = None,
    **given: Any,
) -> tuple[Process, SkillParts]:
    """A process, wired as the composition root wires one: the tools of skills are there while a skill is."""
    process = await stage.process(model or Planned(), more, rules=given.pop("rules", SHIPPED), **given)
    manifests = {MAIN: manifest or Manifest()}
    parts = skills_of(lambda: settings, lambda: manifests, process.store, process.notifier)
    shell = ShellSettings()
    tools: Any = skill_tools(parts.book, sandbox or sandbox_for(shell), timeout=shell.timeout)

    def offer() -> None:
        for name in tools:
            process.tools.pop(name, None)
        process.tools.update(tools if parts.ready.has_any else {})

    parts.ready.changed = offer
    agents = process.agent._agents
    agents.renew(replace(agents.main, manifest=manifests[MAIN]))
    process.agent.surroundings.skilled = parts.skilled
    process.gate = replace(process.gate, skills=SkillCommands(parts.ready, lambda: manifests))
    return process, parts


async def accept(parts: SkillParts, stage: Stage, name: str = "notes") -> None:
    """An owner accepts a skill as it is."""
    one = (await parts.ready.look())["", name]
    assert one.found.skill
    await stage.store.skills.accept_skill(one.found.skill, one.found.text, "Ada")
    parts.ready.expire()
