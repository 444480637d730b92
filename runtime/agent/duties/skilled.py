"""Gives a run the list of its agent's skills, and the whole text of those that its message is about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import structlog

from runtime.agent.registry import Agent
from runtime.context.prompt.remembered import query_of
from runtime.context.prompt.skilled import catalogue, whole
from runtime.contract import (
    Caller,
    Json,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Refusal,
    Tool,
    ToolContext,
    ToolSpec,
    Turn,
)
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.matching import Matched, asked_for, matched
from runtime.domain.skills.narrowing import Narrowing, forbids, narrowing_of, tells, withholds
from runtime.domain.skills.skill import Skill
from runtime.domain.transcript import OURS
from runtime.errors import StoreError, ToolFailed
from runtime.store.protocol import Claim

log = structlog.get_logger("skills")

SKILL_READ: Final = "skill_read"
SKILL_RUN: Final = "skill_run"


class Shelf(Protocol):
    """Skills that agents may have: implemented by `runtime.skills.ready`. `is_used` is a plain value: it is read for each message."""

    is_used: bool

    async def fresh(self) -> None: ...

    def of(self, manifest: Manifest) -> Sequence[Skill]: ...

    def why_not(self, name: str, manifest: Manifest) -> str: ...


Note = Callable[[str, str, str], Awaitable[None]]
"""Records in the audit that a skill was used: its name, by whom, and why."""


UNBOUND: Final = Narrowing()


@dataclass(frozen=True, slots=True)
class Given:
    """Skills for a run: the list, whole texts, and what these take away. `hidden` are tools that it has no use for."""

    catalogue: str = ""
    texts: str = ""
    bounds: Narrowing = UNBOUND
    hidden: frozenset[str] = frozenset()


class Skilled:
    def __init__(self, *, shelf: Shelf, note: Note) -> None:
        self.shelf = shelf
        self._note = note

    async def given(self, claim: Claim, manifest: Manifest, turns: Sequence[Turn]) -> Given:
        """Looked up once a run. A store that is away costs the audit's row, and no answer."""
        try:
            await self.shelf.fresh()
        except StoreError as error:
            log.warning("skills are not looked at anew", reason=str(error))
        skills = self.shelf.of(manifest)
        said = query_of(turns)
        found = matched(skills, said)
        for one in found:
            await self._use(one, claim)
        missing = self._missing(said, found, manifest)
        return Given(
            catalogue(skills), "\n\n".join(filter(None, (whole(found), missing))), narrowing_of(found), _useless(skills)
        )

    def _missing(self, said: str, found: Sequence[Matched], manifest: Manifest) -> str:
        wanted = asked_for(said)
        if not wanted or found:
            return ""
        return f"{OURS}{self.shelf.why_not(wanted[0], manifest)} Say so; don't make one up."

    async def _use(self, one: Matched, claim: Claim) -> None:
        by = claim.requester.name if claim.requester else ""
        try:
            await self._note(one.skill.name, by, f"{claim.agent} in {claim.address}: {one.why}")
        except StoreError as error:
            log.warning("the use of a skill is not recorded", skill=one.skill.name, reason=str(error))


def _useless(skills: Sequence[Skill]) -> frozenset[str]:
    """Tools of skills that would find nothing."""
    if not skills:
        return frozenset({SKILL_READ, SKILL_RUN})
    return frozenset() if any(one.scripts for one in skills) else frozenset({SKILL_RUN})


def narrowed(agent: Agent, given: Given) -> Agent:
    """The agent of one run, with less than it has."""
    if not given.bounds and not given.hidden:
        return agent
    model: Model = HeldBackModel(agent.model, given.bounds) if given.bounds.output else agent.model
    return replace(agent, tools=NarrowedTools(agent.tools, given), model=model)


class NarrowedTools(Mapping[str, Tool]):
    """Tools that skills leave. Those that run commands look at each."""

    def __init__(self, tools: Mapping[str, Tool], given: Given) -> None:
        self._tools = tools
        self._given = given

    def __getitem__(self, name: str) -> Tool:
        tool = self._tools[name]
        if self._lacks(name, tool):
            raise KeyError(name)
        return NarrowedTool(tool, self._given.bounds) if self._given.bounds.commands and not tool.spec.untold else tool

    def __iter__(self) -> Iterator[str]:
        return (name for name, tool in self._tools.items() if not self._lacks(name, tool))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _lacks(self, name: str, tool: Tool) -> bool:
        if tool.spec.untold:
            return False
        return name in self._given.hidden or bool(withholds(self._given.bounds, name))


class NarrowedTool:
    """A tool that refuses commands which a skill forbids: before anybody is asked, and when it is called all the same."""

    def __init__(self, tool: Tool, bounds: Narrowing) -> None:
        self._tool = tool
        self._bounds = bounds
        self.spec: ToolSpec = replace(tool.spec, refusal=self._refusing(tool.spec.refusal))

    def _refusing(self, before: Refusal | None) -> Refusal:
        async def refusal(arguments: Mapping[str, Json], by: Caller) -> str:
            return forbids(self._bounds, arguments) or (await before(arguments, by) if before else "")

        return refusal

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        if why := forbids(self._bounds, arguments):
            raise ToolFailed(why)
        return await self._tool.call(arguments, context)

    def caution(self) -> str:
        return self._tool.caution()


class HeldBackModel:
    """Implements `contract.Model`: an answer that a skill forbids is held back. Nothing of it is shown before its end."""

    def __init__(self, model: Model, bounds: Narrowing) -> None:
        self.name = model.name
        self._model = model
        self._bounds = bounds

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        reply = await self._model.reply(request, lambda _: None)
        why = tells(self._bounds, reply.text)
        return replace(reply, text=f"I held my answer back. {why}") if why else reply
