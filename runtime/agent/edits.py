"""Looks at a changed call before it may take the place of the one that was asked about: is it one, and may it run?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runtime.agent.registry import Agents
from runtime.chat.forms import changed_arguments, written
from runtime.contract import Address, Clicked, Json, Tool
from runtime.domain.approvals import asked_about
from runtime.policy.rules import Ask, Policy, Ruling, rule
from runtime.policy.terms import stricter
from runtime.store.protocol import Approvals, Asked, Changed

Faults = Callable[[Mapping[str, Json], Mapping[str, Json]], str]
"""Says what is wrong with arguments by a JSON schema; nothing where nothing is."""


class Edits:
    """Asks the tool's schema and the policy about a changed call, in the name of the run's agent and requester."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        agents: Agents,
        policy: Callable[[], Policy],
        named: Callable[[Address], str],
        faults: Faults,
    ) -> None:
        self._approvals = approvals
        self._agents = agents
        self._policy = policy
        self._named = named
        self._faults = faults

    async def check(self, click: Clicked) -> Changed | None:
        """The changed call, or what is wrong with it; None where nothing was typed, or there is no such question."""
        asked = await self._approvals.asked(asked_about(click.approval_id)) if click.values else None
        if asked is None:
            return None
        agent = self._agents[asked.agent]
        tool = agent.tools.get(asked.approval.tool)
        if tool is None:
            return Changed(fault=f"The tool {asked.approval.tool} no longer exists.")
        arguments = changed_arguments(asked.approval, click.values)
        if isinstance(arguments, str):
            return Changed(fault=arguments)
        if fault := self._faults(tool.spec.schema, arguments):
            return Changed(fault=fault)
        changed = self._ruled(asked, tool, arguments)
        if agent.intercepting and not changed.fault:
            fault = await agent.intercepting.objection(asked.approval, tool, arguments, asked.approval.requester_name)
            return Changed(fault=fault) if fault else changed
        return changed

    def _ruled(self, asked: Asked, tool: Tool, arguments: Mapping[str, Json]) -> Changed:
        about, policy, scope = asked.approval, self._policy(), self._agents[asked.agent].scope
        ask = Ask(about.tool, tool.spec.effect, arguments, scope, self._named(about.address), asked.names)
        ruled, terms = rule(policy, ask), about.terms
        match ruled.result:
            case Ruling.DENY | Ruling.VETO:
                whose = f"{ruled.whose[0].upper()}{ruled.whose[1:]}"
                return Changed(fault=f"{whose} doesn't allow the changed call.{ruled.reason}")
            case Ruling.ASK:
                terms = stricter(about.terms, policy.terms(ask))
            case Ruling.ALLOW:
                pass
        return Changed(written(arguments), about.arguments_hash, terms, policy.version)
