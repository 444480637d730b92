"""Agents of this process, made of the manifests of the settings, and made anew where a reload has others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.settings.agents.tables import AgentTable
from bot.settings.settings import Settings
from runtime.agent.duties.skilled import SKILL_READ
from runtime.agent.registry import Agent, Limits, Prompt
from runtime.contract import (
    FIND_TOOLS,
    HAND_OVER,
    Effect,
    Json,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Tool,
    ToolContext,
    ToolSpec,
)
from runtime.domain.agents.capabilities import fits, is_within
from runtime.domain.agents.executors import BY_MODEL
from runtime.domain.agents.globs import ANYTHING
from runtime.domain.agents.manifest import MAIN, SPRINTING, Manifest
from runtime.domain.ids import digest
from runtime.policy.budgets import DOLLAR, BudgetRules, Scope
from runtime.workspace.workspaces import WorkspaceFolders

if TYPE_CHECKING:
    from runtime.agent.duties.intercepting import RunInterceptors
    from runtime.agent.registry import Sprinting


def manifests_of(settings: Settings) -> dict[str, Manifest]:
    """Manifests by name, the main agent's first: it is there also where nothing is said of it.

    Errors: OSError when the file of a prompt cannot be read any more.
    """
    given = {table.name: table.manifest for table in settings.agents}
    return {MAIN: given.get(MAIN, Manifest())} | given


def budget_rules_of(settings: Settings) -> BudgetRules:
    """Budgets of the settings, with what single agents have in place of those that bound each."""
    own = {table.name: _own_limits(table) for table in settings.agents}
    return replace(settings.budgets.rules, agents={name: limits for name, limits in own.items() if limits})


def _own_limits(table: AgentTable) -> dict[Scope, int]:
    limits = {}
    if table.budget_day is not None:
        limits[Scope.AGENT_DAY] = round(table.budget_day * DOLLAR)
    if table.tokens_per_hour is not None:
        limits[Scope.AGENT_TOKENS_HOUR] = table.tokens_per_hour
    return limits


def digest_of(manifests: Mapping[str, Manifest]) -> str:
    """Short digest of all manifests: two nodes with another one would answer differently."""
    return digest("\n".join(_told_whole(manifests[name]) for name in sorted(manifests)))[:16]


def _told_whole(manifest: Manifest) -> str:
    """An executor counts where it isn't the model, as for nodes that know no other."""
    return repr(manifest) if manifest.executor == BY_MODEL else f"{manifest!r} {manifest.executor!r}"


class AllowedTools(Mapping[str, Tool]):
    """The part of `tools`, which change while it works, that a manifest allows.

    Tools that no model is told of, and the one that finds the others, are everybody's. Those that hand work on are there
    for an agent that may hand it to another, whose names they then tell.
    """

    def __init__(self, tools: Mapping[str, Tool], manifest: Manifest) -> None:
        self._tools = tools
        self._manifest = manifest

    def __getitem__(self, name: str) -> Tool:
        tool = self._tools[name]
        if not self._allows(name, tool):
            raise KeyError(name)
        return told_of(tool, self._manifest.delegates_to) if self._hands_on(name, tool) else tool

    def __iter__(self) -> Iterator[str]:
        return (name for name, tool in self._tools.items() if self._allows(name, tool))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _allows(self, name: str, tool: Tool) -> bool:
        if tool.spec.untold or name == FIND_TOOLS or self._hands_on(name, tool):
            return True
        if name == SKILL_READ and self._manifest.skills:  # those of another agent are hidden in its runs
            return True
        return is_within(tool.spec.effect, self._manifest.effects) and fits(name, self._manifest.tools)

    def _hands_on(self, name: str, tool: Tool) -> bool:
        return bool(self._manifest.delegates_to) and (tool.spec.hands is not None or name == HAND_OVER)


@dataclass(frozen=True, slots=True)
class Told:
    """A tool that says more of itself."""

    tool: Tool
    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return await self.tool.call(arguments, context)

    def caution(self) -> str:
        return self.tool.caution()


def told_of(tool: Tool, names: Sequence[str]) -> Tool:
    """A tool that hands work on, which each request then carries, with the agents to which it may."""
    spec = tool.spec
    return Told(tool, replace(spec, seldom=False, description=f"{spec.description} Agents: {', '.join(names)}."))


class PreferredModel:
    """Implements `contract.Model`: the usual models, of which `preferred` is asked unless people chose another one."""

    def __init__(self, model: Model, preferred: str) -> None:
        self.name = preferred
        self._model = model

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        return await self._model.reply(replace(request, own=self.name), on_text)


def nobody_intercepts(_agent: str) -> RunInterceptors | None:
    """Nobody: the settings name no interceptor."""
    return None


def by_model(_manifest: Manifest) -> Model | None:
    """The language model: no agent has another executor."""
    return None


class AgentMaker:
    """Makes agents of manifests, with the parts of this process that they share. `prompt` gives each one's by its name, `sprints`
    what works on tasks in sprints, for the name of a model, `intercepting` what looks in on an agent's runs, and `executor` what
    works in the model's place, if anything does."""

    def __init__(
        self,
        *,
        prompt: Callable[[str], Prompt],
        model: Model,
        tools: Mapping[str, Tool],
        workspaces: Callable[[str], WorkspaceFolders],
        limits: Limits,
        sprints: Callable[[str], Sprinting],
        intercepting: Callable[[str], RunInterceptors | None] = nobody_intercepts,
        executor: Callable[[Manifest], Model | None] = by_model,
    ) -> None:
        self._prompt = prompt
        self._model = model
        self._tools = tools
        self._workspaces = workspaces
        self._limits = limits
        self._sprints = sprints
        self._intercepting = intercepting
        self._executor = executor

    def made(self, manifests: Mapping[str, Manifest]) -> list[Agent]:
        return [self.agent(manifest) for manifest in manifests.values()]

    def agent(self, manifest: Manifest) -> Agent:
        model = self._executor(manifest) or self._usual(manifest)
        looks_in = self._intercepting(manifest.name)
        return Agent(
            name=manifest.name,
            prompt=self._prompt(manifest.name),
            model=looks_in.around(model) if looks_in else model,
            tools=self._tools if _allows_all(manifest) else AllowedTools(self._tools, manifest),
            scope=manifest.name,
            workspaces=self._workspaces(manifest.name),
            manifest=manifest,
            limits=self._limits,
            sprinting=self._sprints(manifest.model) if manifest.harness == SPRINTING else None,
            intercepting=looks_in,
        )

    def _usual(self, manifest: Manifest) -> Model:
        return PreferredModel(self._model, manifest.model) if manifest.model else self._model


def _allows_all(manifest: Manifest) -> bool:
    return ANYTHING in manifest.tools and manifest.effects is Effect.DANGER and not manifest.delegates_to
