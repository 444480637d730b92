"""Bounds the agent of a run by what `signalbox ask` said of its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from runtime.agent.registry import Agent
from runtime.contract import FIND_TOOLS, Model, ModelReply, ModelRequest, OnText, Tool
from runtime.domain.agents.bounds import Bounds
from runtime.errors import ModelFailed
from runtime.text.words import marked

BOUNDS_LOST: Final = marked(
    "The bounds of this conversation are gone, so nothing is done here any more. Begin a new one with `signalbox ask`."
)


def bounded(agent: Agent, bounds: Bounds | None) -> Agent:
    """The agent of one run with no more than `bounds` leave it; without them it can do nothing."""
    if bounds is None:
        return replace(agent, model=Unbounded(agent.model), tools={})
    tools = BoundedTools(agent.tools, bounds) if bounds.narrows else agent.tools
    model: Model = AskedModel(agent.model, bounds.model) if bounds.model else agent.model
    return replace(agent, tools=tools, model=model)


class BoundedTools(Mapping[str, Tool]):
    """The part of `tools`, which change while it works, that bounds leave."""

    def __init__(self, tools: Mapping[str, Tool], bounds: Bounds) -> None:
        self._tools = tools
        self._bounds = bounds

    def __getitem__(self, name: str) -> Tool:
        tool = self._tools[name]
        if not self._allows(name, tool):
            raise KeyError(name)
        return tool

    def __iter__(self) -> Iterator[str]:
        return (name for name, tool in self._tools.items() if self._allows(name, tool))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _allows(self, name: str, tool: Tool) -> bool:
        return tool.spec.untold or name == FIND_TOOLS or self._bounds.allows(tool.spec)


class AskedModel:
    """Implements `contract.Model`: the agent's own way to models, of which one is wanted."""

    def __init__(self, model: Model, wanted: str) -> None:
        self.name = wanted
        self._model = model

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        return await self._model.reply(replace(request, wanted=request.wanted or self.name), on_text)


class Unbounded:
    """Stands in for the model where nobody knows the bounds any more."""

    def __init__(self, model: Model) -> None:
        self.name = model.name

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        raise ModelFailed(BOUNDS_LOST)
