"""Conversations that agents hand over to each other, as their tool sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import structlog

from runtime.agent.registry import Agent
from runtime.contract import ToolContext
from runtime.errors import ToolFailed, ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol import HandedOver, HandOver, Runs

log = structlog.get_logger("agent")

REFUSALS: Final[Mapping[HandedOver, str]] = {
    HandedOver.NO_CONVERSATION: "This work has no conversation to hand over: answer it, or delegate a part.",
    HandedOver.ENDED: "{agent} was ended for good. Answer yourself.",
    HandedOver.NOT_ALLOWED: "You may hand over to {known}, and back to whoever handed over to you.",
}
OUTCOMES: Final[Mapping[HandedOver, str]] = {
    HandedOver.DONE: "{agent} answers here next. Say in a few words that you've handed over; add nothing else.",
    HandedOver.SUSPENDED: "{agent} is suspended and answers here once it's resumed. Tell the person so.",
}


class HandOvers:
    """`agents` are those that there are now, and `ready` wakes whoever works on lanes."""

    def __init__(
        self,
        *,
        store: Runs,
        agents: Callable[[], Mapping[str, Agent]],
        door: Door,
        ready: Callable[[], None],
    ) -> None:
        self._store = store
        self._agents = agents
        self._door = door
        self._ready = ready

    async def hand_over(self, agent: str, text: str, context: ToolContext) -> str:
        """Have another agent answer next; words for the model. Errors: ToolRetry, ToolFailed: nothing was handed over."""
        agents = self._agents()
        may = agents[context.agent].manifest.delegates_to if context.agent in agents else ()
        others = [name for name in may if name != context.agent]
        if agent not in agents or agent == context.agent:
            raise ToolRetry(_refused(HandedOver.NOT_ALLOWED, agent, others))
        words = str(self._door.clean(text, Gate.HANDED_ON, self._door.room(context.address)))
        wanted = HandOver(context.run_id, context.call_id, agent, words, tuple(others))
        done = await self._store.hand_conversation(wanted)
        if done in REFUSALS:
            raise ToolFailed(_refused(done, agent, others))
        log.info("conversation handed over", to=agent)
        self._ready()
        return OUTCOMES[done].format(agent=agent)


def _refused(why: HandedOver, agent: str, others: list[str]) -> str:
    return f"{REFUSALS[why].format(agent=agent[:60], known=', '.join(others) or 'nobody')} Nothing was handed over."
