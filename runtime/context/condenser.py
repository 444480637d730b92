"""Keeps conversations within their model's window: what is sent is cut, and a model writes summaries of what is old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.context.builder import Budget, Partitions, RunFacts, partitions
from runtime.context.condensing import Step
from runtime.context.summaries import fault_of, made_of, request_for, span
from runtime.context.watch import UNWATCHED, LoopWatch
from runtime.context.window import Window
from runtime.contract import Effect, Model, ModelReply, Usage
from runtime.errors import ModelFailed
from runtime.store.protocol import History, Summary

log = structlog.get_logger("context")

SUMMARY_TIME: Final = timedelta(seconds=30)
SUMMARY_TRIES: Final = 2
TIDY_PART: Final = 0.80
"""Of the window: from here on a conversation is summarised after an answer, when nobody waits."""

LONG_TURNS: Final = 800
"""A conversation of so many turns is summarised as well: to read them takes time for each message."""

OVERFLOW_PART: Final = 0.6
"""Of the window that a vendor refused: what is sent the next time."""

SCALE_BOUNDS: Final = (1.0, 2.5)
"""Of what a vendor counts for one of our tokens. One that tells less is not believed: its window may be as small as told."""

SCALED_FROM_TOKENS: Final = 1_000
"""Of small requests a vendor's count tells little."""

Keep = Callable[[Summary, Usage | None], Awaitable[bool]]
"""Stores a summary, with what it cost. False where the conversation is another's by now."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation and whose it is: facts of its run, its model with the window, and how it is read and kept."""

    facts: RunFacts
    model: Model
    window: Window
    read: Callable[[], Awaitable[History]]
    keep: Keep


class Condenser:
    """Fits conversations into windows. How a vendor counts is learnt from its answers, for each model."""

    def __init__(self, watch: LoopWatch = UNWATCHED) -> None:
        self._watch = watch
        self._scales: dict[str, float] = {}

    def scale_of(self, model: str) -> float:
        """Tokens that a model's vendor counts for one of ours."""
        return self._scales.get(model, 1.0)

    def budget(self, of: Conversation) -> Budget:
        return Budget(of.window.tokens, self.scale_of(of.model.name))

    def learn(self, model: str, estimated: int, counted: int) -> None:
        """A vendor counted `counted` tokens of a request that we held for `estimated`."""
        if estimated >= SCALED_FROM_TOKENS and counted > 0:
            least, most = SCALE_BOUNDS
            self._scales[model] = min(most, max(least, counted / estimated))

    async def fitted(self, of: Conversation, history: History) -> Partitions:
        """The parts of a request that fits; a summary is made first where nothing less will do."""
        parts = partitions(of.facts, history, self.budget(of))
        if parts.step is Step.SUMMARY and await self._summarise(of, history):
            parts = partitions(of.facts, await of.read(), self.budget(of))
        if parts.step is not Step.WHOLE:
            self._watch.condensed(parts.step.name.lower())
        return parts

    async def refused(self, of: Conversation, parts: Partitions, history: History) -> Partitions:
        """The same, a step further, for a vendor that refused `parts` as too large: its window is smaller than thought."""
        sent = parts.sent or partitions(of.facts, history, self.budget(of)).tokens
        of.window.refuse(sent)
        log.warning("the model's window is smaller than thought", model=of.model.name, tokens=of.window.tokens)
        if await self._summarise(of, history):
            history = await of.read()
        smaller = replace(self.budget(of), tokens=int(of.window.tokens * OVERFLOW_PART))
        return partitions(of.facts, history, smaller)

    async def tidy(self, of: Conversation) -> None:
        """After an answer, when nobody waits: a conversation that is full is summarised now."""
        await self._summarise(of, await of.read())

    async def _summarise(self, of: Conversation, history: History) -> bool:
        """Summarise by the model, or where that fails by an extract. True if there is a new summary."""
        upto = span(history)
        if not upto:
            return False
        began = time.monotonic()
        text, usage = await self._written(of, history, upto)
        reads = frozenset(tool.name for tool in of.facts.tools if tool.effect is Effect.READ)
        summary = made_of(history, upto, reads, text, usage.model if usage else "")
        log.info(
            "condensed", turns=upto, kind=summary.kind.value, before=summary.tokens_before, after=summary.tokens_after
        )
        if text is None:
            self._watch.summary_failed()
        self._watch.summarised(summary.kind.value, time.monotonic() - began)
        return await of.keep(summary, usage)

    async def _written(self, of: Conversation, history: History, upto: int) -> tuple[str | None, Usage | None]:
        """The model's summary, or None where it gave none of use; and what it cost."""
        request, spent = request_for(history, upto, of.window.tokens), None
        for _ in range(SUMMARY_TRIES):
            try:
                async with asyncio.timeout(SUMMARY_TIME.total_seconds()):
                    reply: ModelReply = await of.model.reply(request, lambda _: None)
            except (ModelFailed, TimeoutError) as error:
                log.warning("no summary", reason=str(error) or "it took too long")
                return None, spent
            spent = spent + reply.usage if spent else reply.usage
            if (fault := fault_of(reply.text)) is None and not reply.calls:
                return reply.text, spent
            log.warning("a summary was of no use", reason=fault or "it holds calls")
        return None, spent


def is_full(parts: Partitions, history: History, window: int) -> bool:
    """True if the conversation should be summarised before somebody has to wait for it."""
    return parts.tokens >= window * TIDY_PART or len(history.turns) >= LONG_TURNS
