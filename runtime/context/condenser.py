"""Keeps conversations within their model's window: what is sent is cut, and a model writes summaries of what is old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.context import handoff
from runtime.context.builder import Budget, Partitions, RunFacts, is_long, partitions
from runtime.context.condensing import BEGINS_AT, Step
from runtime.context.prompt import proposals
from runtime.context.prompt.proposals import Proposing
from runtime.context.prompt.remembered import is_said
from runtime.context.resting import Rest, Restore, rested_at
from runtime.context.scales import SCALE_BOUNDS, Scales
from runtime.context.summaries import LEAST_TURNS, fault_of, made_of, request_for, span, unread_turns
from runtime.context.watch import UNWATCHED, LoopWatch
from runtime.context.window import Window
from runtime.contract import Effect, Model, ModelReply, ModelRequest, RunId, SessionKey, Usage
from runtime.errors import ModelFailed
from runtime.store.protocol import Counted, History, Summary, SummaryKind

log = structlog.get_logger("context")

SUMMARY_TIME: Final = timedelta(seconds=30)
SUMMARY_TRIES: Final = 2
TIDY_PART: Final = 0.80
"""Of the window: from here on a conversation is summarised after an answer, when nobody waits."""

OVERFLOW_PART: Final = 0.6
"""Of the window that a vendor refused: what is sent the next time."""

COUNTED_PART: Final = BEGINS_AT[Step.TRIM] / SCALE_BOUNDS[1]
"""Of the window: from here on it is looked up how the vendor counted a conversation that this process does not know. Below
it nothing is condensed, however it counts."""

Keep = Callable[[Summary, Usage | None], Awaitable[bool]]
"""Stores a summary, with what it cost. False where the conversation is another's by now."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Session and run that a conversation is read for, and what it begins with after a rest."""

    session: SessionKey
    run: RunId
    rest: Rest = field(default_factory=Rest)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation and whose it is: facts of its run, its model with the window, and how it is read and kept.

    `counted` tells what a vendor counted for it last, and `affords` whether budgets allow a call of its model. `proposing`
    takes facts that a summary proposes to keep.
    """

    whose: Whose
    facts: RunFacts
    model: Model
    window: Window
    read: Callable[[], Awaitable[History]]
    counted: Callable[[], Awaitable[Counted | None]]
    keep: Keep
    affords: Callable[[], Awaitable[bool]]
    proposing: Proposing | None = None

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.facts.tools if tool.effect is Effect.READ)


class Condenser:
    """Fits conversations into windows. How a vendor counts each of them is learnt from its answers."""

    def __init__(self, watch: LoopWatch = UNWATCHED) -> None:
        self._watch = watch
        self._scales = Scales()

    def scale_of(self, session: SessionKey) -> float:
        """Tokens that a vendor counts for one of ours in this conversation."""
        return self._scales.of(session) or 1.0

    def learn(self, session: SessionKey, estimated: int, counted: int) -> None:
        """A vendor counted `counted` tokens of a request that we held for `estimated`."""
        self._scales.learn(session, estimated, counted)

    async def fitted(self, of: Conversation, history: History) -> Partitions:
        """The parts of a request that fits; a summary is made first where nothing less will do, or a handoff."""
        if (rested := _rested(of, history)) and await self._summarise(of, history, rested):
            history = await of.read()
        parts = await self._parts(of, history)
        if parts.step is Step.SUMMARY and await self._summarise(of, history, span(history, of.whose.run)):
            history = await of.read()
            parts = self._cut(of, history)
        if parts.is_bare and await self._hand_over(of, history):
            parts = self._cut(of, await of.read())
        if parts.step is not Step.WHOLE:
            self._watch.condensed(parts.step.name.lower())
        return parts

    async def refused(self, of: Conversation, parts: Partitions, history: History) -> Partitions:
        """The same, a step further, for a vendor that refused `parts` as too large: its window is smaller than thought."""
        self._shrink(of, parts, history)
        if await self._summarise(of, history, span(history, of.whose.run)):
            history = await of.read()
        return self._cut(of, history, self._less(of))

    async def renewed(self, of: Conversation, parts: Partitions, history: History) -> Partitions:
        """The same for one that was refused again: the conversation begins anew with a handoff, where there is more of it."""
        self._shrink(of, parts, history)
        if await self._hand_over(of, history, always=True):
            history = await of.read()
        return self._cut(of, history, self._less(of))

    async def tidy(self, of: Conversation) -> None:
        """After an answer, when nobody waits: a conversation that is full is summarised now."""
        history = await of.read()
        await self._summarise(of, history, span(history, of.whose.run))

    def _cut(self, of: Conversation, history: History, budget: Budget | None = None) -> Partitions:
        """The parts of a request within a budget; what the model of the run has yet to read stays whole, wherever it stands."""
        whole = unread_turns(history, of.whose.run)
        return partitions(of.facts, history, budget or self._budget(of), whole)

    def _budget(self, of: Conversation) -> Budget:
        return Budget(of.window.tokens, self._scales.of(of.whose.session) or 1.0)

    def _window(self, of: Conversation) -> int:
        """The window in tokens of our own."""
        budget = self._budget(of)
        return int((budget.tokens or 0) / budget.scale)

    def _less(self, of: Conversation) -> Budget:
        return replace(self._budget(of), tokens=int(of.window.tokens * OVERFLOW_PART))

    def _shrink(self, of: Conversation, parts: Partitions, history: History) -> None:
        of.window.refuse(parts.sent or self._cut(of, history).tokens)
        log.warning("the model's window is smaller than thought", model=of.model.name, tokens=of.window.tokens)

    async def _parts(self, of: Conversation, history: History) -> Partitions:
        """Parts of a request, as its vendor counts: what it said last is looked up where that matters and is not known."""
        parts = self._cut(of, history)
        known = self._scales.of(of.whose.session) is not None
        if known or parts.tokens < of.window.tokens * COUNTED_PART or (counted := await of.counted()) is None:
            return parts
        upto = sum(number < counted.answered_by for number in history.numbers)
        sent = self._cut(of, replace(history, turns=history.turns[:upto])).sent if upto else 0
        self._scales.learn(of.whose.session, sent, counted.tokens)
        return self._cut(of, history)

    async def _summarise(self, of: Conversation, history: History, upto: int) -> bool:
        """Summarise by the model, or where that fails by an extract. True if there is a new summary."""
        if not upto:
            return False
        began, proposing = time.monotonic(), of.proposing
        if proposing and not await proposing.is_wanted():
            proposing = None
        also = proposals.ASKED if proposing else ""
        text, usage = await self._written(of, request_for(history, upto, self._window(of), also))
        said = (turn.text for turn in history.turns[:upto] if is_said(turn))
        told, facts = proposals.parted(text, said) if text and proposing else (text, [])
        summary = made_of(history, upto, of.reads, told, usage.model if usage else "")
        is_kept = await self._keep(of, summary, usage, upto, began, failed=text is None)
        if is_kept and facts and proposing:
            await proposing.keep(facts)
        return is_kept

    async def _hand_over(self, of: Conversation, history: History, *, always: bool = False) -> bool:
        """Begin the conversation anew, with words of the model for whoever goes on, or else with those of the record."""
        upto, began = handoff.span(history), time.monotonic()
        if not upto or not (always or handoff.is_worth(history.turns[:upto], of.window.tokens)):
            return False
        text, usage = await self._written(of, handoff.handoff_request(history, upto, self._window(of)))
        told = text or handoff.from_rows(history, upto, of.reads)
        model = usage.model if usage and text else ""
        summary = made_of(history, upto, of.reads, told, model, SummaryKind.HANDOFF)
        return await self._keep(of, summary, usage, upto, began, failed=text is None)

    async def _keep(
        self, of: Conversation, summary: Summary, usage: Usage | None, turns: int, began: float, *, failed: bool
    ) -> bool:
        sizes = {"before": summary.tokens_before, "after": summary.tokens_after}
        log.info("condensed", turns=turns, kind=summary.kind.value, **sizes)
        if failed:
            self._watch.summary_failed()
        self._watch.summarised(summary.kind.value, time.monotonic() - began)
        return await of.keep(summary, usage)

    async def _written(self, of: Conversation, request: ModelRequest) -> tuple[str | None, Usage | None]:
        """The model's words, or None where it gave none of use; and what they cost."""
        spent: Usage | None = None
        if not await of.affords():
            log.info("no summary", reason="a budget is spent")
            return None, None
        try:
            async with asyncio.timeout(SUMMARY_TIME.total_seconds()):
                for _ in range(SUMMARY_TRIES):
                    reply: ModelReply = await of.model.reply(request, lambda _: None)
                    spent = spent + reply.usage if spent else reply.usage
                    if (fault := fault_of(reply.text)) is None and not reply.calls:
                        return reply.text, spent
                    log.warning("a summary was of no use", reason=fault or "it holds calls")
        except (ModelFailed, TimeoutError) as error:
            log.warning("no summary", reason=str(error) or "it took too long")
        return None, spent


def _rested(of: Conversation, history: History) -> int:
    """Turns before a rest, where a summary is to take their place; 0 where it has, or is not worth it."""
    if of.whose.rest.restore is not Restore.SUMMARY:
        return 0
    at = rested_at(history, of.whose.rest, of.whose.run) or 0
    return at if at >= LEAST_TURNS + history.carried else 0


def is_full(parts: Partitions, history: History, window: int) -> bool:
    """True if the conversation should be summarised before somebody has to wait for it."""
    return parts.tokens >= window * TIDY_PART or is_long(history)
