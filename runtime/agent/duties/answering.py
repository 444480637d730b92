"""Answers what approvers ask back about a call that waits: the agent's model is asked, and no lane is taken for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from runtime.agent.offering import offered, with_found
from runtime.agent.registry import Agent, Agents
from runtime.agent.surroundings import specs_of
from runtime.chat.cards.asked_back import to_model
from runtime.cluster.notifier import Listener
from runtime.context.builder import Budget, RunFacts, build
from runtime.context.prompt.here import Here
from runtime.contract import Address, ModelReply, ModelRequest, NodeId, Now, Probe, UserTurn, no_probe
from runtime.domain.approvals import ApprovalState, Rights
from runtime.errors import ModelFailed, StoreError
from runtime.markup.moments import roughly
from runtime.store.protocol import Answering, AskedBack, AskingBack
from runtime.store.protocol.running.conversations import History

log = structlog.get_logger("agent")

ANSWER_INTERVAL: Final = timedelta(seconds=5)
"""Between two looks, where nobody rang."""
ANSWER_TIMEOUT: Final = timedelta(minutes=2)
"""For the model; somebody looks at the card meanwhile."""
AT_ONCE: Final = 4
"""Questions that one process answers side by side."""
DECIDED: Final = "it was already decided."
NO_CALLS_LEFT: Final = "this work has no model calls left for that."
BUDGET_SPENT: Final = "the budget for it is spent."
NO_WORDS: Final = "the model gave no answer. Ask again, perhaps in other words."
BROKE: Final = "that failed unexpectedly. Ask again."


class Answerer:
    """Any number of nodes may look: the store gives each question to one of them, and to another where that one died.

    An answer changes nothing but the card. The run stays parked, and its lane serves others.
    """

    def __init__(
        self,
        *,
        approvals: AskingBack,
        agents: Agents,
        rights: Callable[[], Rights],
        node: Callable[[], NodeId | None],
        rung: Listener,
        lease_is_fresh: Callable[[], bool],
        now: Now,
        nudge: Callable[[Address], object],
        probe: Probe = no_probe,
        every: timedelta = ANSWER_INTERVAL,
    ) -> None:
        self._approvals = approvals
        self._agents = agents
        self._rights = rights
        self._node = node
        self._rung = rung
        self._lease_is_fresh = lease_is_fresh
        self._now = now
        self._nudge = nudge
        self._probe = probe
        self._every = every
        self._busy: set[AskedBack] = set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as answers:
            while True:
                await self._rung.within(self._every.total_seconds())
                for asked, node in await self._found():
                    self._busy.add(asked)
                    answers.create_task(self._one(asked, node))

    async def look(self) -> None:
        """Answer what is asked, one after the other."""
        for asked, node in await self._found():
            self._busy.add(asked)
            await self._one(asked, node)

    async def _found(self) -> list[tuple[AskedBack, NodeId]]:
        node = self._node()
        if node is None or not self._lease_is_fresh():
            return []
        try:
            found = await self._approvals.to_answer(node)
        except StoreError as error:
            log.debug("questions are not looked at yet", reason=str(error))
            return []
        free = [(one, node) for one in found if one not in self._busy]
        return free[: max(AT_ONCE - len(self._busy), 0)]

    async def _one(self, asked: AskedBack, node: NodeId) -> None:
        try:
            if answering := await self._approvals.begin_answer(asked, node):
                self._probe("answer-begun")
                await self._answer(answering, node)
        except StoreError as error:
            log.debug(
                "a question is not answered yet", reason=str(error)
            )  # the row is still ours: the next look takes it
        finally:
            self._busy.discard(asked)

    async def _answer(self, answering: Answering, node: NodeId) -> None:
        agent = self._agents[answering.agent]
        failed, reply = why_not(answering, agent.limits.iterations), None
        if not failed and not await self._approvals.affords(answering.approval.run_id):
            failed = BUDGET_SPENT
        if not failed:
            paid = await self._approvals.pay_answer(answering, node)
            failed, reply = await self._said(agent, paid) if paid else (DECIDED, None)
            answering = paid or answering
        self._probe("answer-made")
        for room in await self._approvals.end_answer(answering, node, reply, failed, self._rights()):
            self._nudge(room)
        self._probe("answer-kept")

    async def _said(self, agent: Agent, answering: Answering) -> tuple[str, ModelReply | None]:
        """The reason for no answer, or "", and the reply, which may have cost something even then."""
        limit = min(ANSWER_TIMEOUT, agent.limits.model_time)
        try:
            async with asyncio.timeout(limit.total_seconds()):
                reply = await agent.model.reply(request_of(agent, answering, self._now()), lambda _: None)
        except ModelFailed as error:
            log.warning("a question was not answered", reason=str(error), detail=error.detail)
            return str(error), None
        except TimeoutError:
            return f"the model gave no answer within {roughly(limit)}.", None
        except Exception:
            # A bug in a model's driver must not end the process: people and the log are told.
            log.exception("an answer broke", approval=answering.approval.id)
            return BROKE, None
        return ("" if reply.text.strip() else NO_WORDS), reply


def why_not(answering: Answering, iterations: int) -> str:
    """The reason not to ask the model, or "". One call stays for what the run does after the decision."""
    if not answering.agent or answering.approval.state is not ApprovalState.PENDING:
        return DECIDED
    return NO_CALLS_LEFT if answering.iterations + 1 >= iterations else ""


def request_of(agent: Agent, answering: Answering, now: datetime) -> ModelRequest:
    """All that the run knew when it was parked, and the question. A call in the reply is never looked at."""
    address = answering.approval.address
    tools = with_found(offered(specs_of(agent), lambda _: ""), answering.turns).tools
    prompt = agent.prompt(Here(address, now, agent=agent.name))
    facts = RunFacts(prompt.system, tools, partial(agent.workspaces.open, address), working=prompt.asker)
    asked = UserTurn(to_model(answering.approval, answering.exchange))
    known = History([*answering.turns, asked])
    return replace(build(facts, known, Budget(agent.limits.window.tokens)), words_only=True)
