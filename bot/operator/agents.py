"""Agents as operators see them: each manifest, where it stands, and the tools that it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from bot.operator.actor import Actor
from bot.operator.views import View
from bot.settings.settings import Settings
from bot.wiring.agents import AllowedTools, manifests_of
from runtime.agent.registry import Agents
from runtime.chat.agents import told_of_move
from runtime.cluster.topics import LANES
from runtime.contract import QUESTIONS, Tool
from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.protocol.agents import AgentRow, TurnedAgent
from runtime.text.words import marked, say

if TYPE_CHECKING:
    from bot.operator.context import OperatorContext

MAIN_STAYS: Final = marked("The main agent answers where no other does, so it can't be ended. You can suspend it.")
ALREADY: Final = {
    AgentState.RUNNING: marked("{name} is at work already."),
    AgentState.SUSPENDED: marked("{name} is suspended already."),
    AgentState.TERMINATED: marked("{name} has ended, for good."),
}

NAMED_PLACE: Final = marked("where it is named")
NO_AGENT: Final = marked("There is no agent {name}. There are: {names}.")
USUAL_PLACE: Final = {MAIN: marked("wherever no other does")}
PLACES = ("rooms", "people", "roles", "accounts", "channels")


def agents_at_work(agents: Agents, settings: Settings) -> list[View]:
    """Agents of the running process. `settings` say where each stands."""
    return [_view(agent.manifest, settings, agent.tools) for agent in agents.values()]


def agents_of_settings(settings: Settings) -> list[View]:
    """Agents as the next start has them. Tools of MCP servers are known while these run."""
    from bot.wiring.tools.known import known_tools  # loads what the agent may call

    known = known_tools(settings)
    return [_view(one, settings, AllowedTools(known, one)) for one in manifests_of(settings).values()]


def _view(manifest: Manifest, settings: Settings, tools: Mapping[str, Tool]) -> View:
    values = {field.name: getattr(manifest, field.name) for field in fields(manifest)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return plain | {
        "prompt": manifest.prompt or settings.run.prompt,
        "model": manifest.model or settings.model.name,
        "effects": manifest.effects.value,
        "executor": manifest.executor.kind.value,
        "has": sorted(name for name, tool in tools.items() if not tool.spec.untold),
        "answers": ", ".join(_answers(manifest)) or say(USUAL_PLACE.get(manifest.name, NAMED_PLACE)),
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


def with_states(agents: Sequence[View], rows: Sequence[AgentRow]) -> list[View]:
    """`agents` with what became of each, and why."""
    known = {row.name: row for row in rows}
    return [
        agent
        | {
            "state": known[name].state.value if (name := agent["name"]) in known else AgentState.RUNNING.value,
            "reason": known[name].reason if name in known else "",
        }
        for agent in agents
    ]


class AgentLives:
    """Suspends, resumes and ends agents on behalf of an operator."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self._actor = actor

    async def turn(self, name: str, event: AgentEvent, reason: str) -> View:
        """Errors: Refusal for an agent that is not there, or where this is no move."""
        names = [agent["name"] for agent in self._context.agents()]
        rows = [row.name for row in await self._context.store.lives.rows()]
        if name not in (*names, *rows):
            raise Refusal(404, say(NO_AGENT, name=name, names=", ".join(names)))
        if name == MAIN and event is AgentEvent.TERMINATE:
            raise Refusal(409, MAIN_STAYS)
        why = self._context.door().clean(" ".join(reason.split()), Gate.MESSAGE_IN)
        turned = await self._context.store.lives.turn_agent(name, event, why, self._actor.name)
        if not turned.done:
            raise Refusal(409, say(ALREADY[turned.state], name=name))
        self._wake(turned)
        stopped = len(turned.stop_runs) + len(turned.ended)
        return {"name": name, "state": turned.state.value, "told": told_of_move(name, event, stopped)}

    def _wake(self, turned: TurnedAgent) -> None:
        """A run at work sees its mark with its next step, so nobody is called for that."""
        if turned.lanes_ready:
            self._context.notifier.notify(LANES)
        for room in turned.deliveries:
            self._context.nudge(room)
        if turned.ended:
            self._context.notifier.notify(QUESTIONS)
