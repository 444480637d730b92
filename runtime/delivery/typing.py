"""Signs of the agent at work while people wait for an answer: that it is at work, and how far the answer is.

All of it is best effort. It is sent at the right moment or not at all, takes only tokens that nobody else wants, is never
repeated, and no failure of it reaches the run. An answer that comes at once costs one timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog

from runtime.contract import (
    Address,
    Advancing,
    Features,
    Progress,
    Resting,
    RunId,
    Speaking,
    Stopping,
    Thinking,
    Types,
    Working,
)
from runtime.delivery.rates import Rates
from runtime.delivery.retry_policy import RetryPolicy
from runtime.delivery.streaming import shortened
from runtime.errors import Retryable
from runtime.store.protocol import Claim

log = structlog.get_logger("liveness")

THINKING: Final = "thinking"
STOPPING: Final = "stopping"
LINGERS: Final = timedelta(seconds=30)
"""A status that stays for longer is changed with the words and taken away at the end; others lapse by themselves."""
RENEW: Final = 0.8
"""The share of its time after which a status is renewed."""
TYPING_MAX_RUNS: Final = 64
"""Runs of one account that are seen at work at a time."""

Say = Callable[[Claim, str], Awaitable[bool]]
"""Shows a text so far as a message of its own, or changes that message; whether it did."""


@dataclass(slots=True)
class Life:
    """One run at work: what it does, since when it speaks, and what was shown of that. Times are of the loop's clock."""

    claim: Claim
    tools: list[str] = field(default_factory=list)
    news: str = ""
    text: str = ""
    speaking_since: float | None = None
    typed: tuple[float, str] | None = None
    said: tuple[float, str] | None = None
    is_long: bool = False
    is_watched: bool = False
    is_stopping: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    timer: asyncio.TimerHandle | None = None

    @property
    def status(self) -> str:
        if self.is_stopping:
            return STOPPING
        if not self.tools:
            return THINKING
        return f"running `{self.tools[-1]}`" + (f", which says: “{self.news}”" if self.news else "")

    def hear(self, event: Progress, now: float) -> None:
        self.is_long = isinstance(event, Thinking) and event.long
        self.news = ""
        match event:
            case Thinking():
                self.text, self.speaking_since = "", None
            case Speaking(text):
                self.text = text
                self.speaking_since = now if self.speaking_since is None else self.speaking_since
            case Working(tool, _, ended=False):
                self.tools.append(tool)
            case Working(tool):
                if tool in self.tools:
                    self.tools.remove(tool)
            case Advancing(_, _, words):
                self.news = words
            case Stopping():
                self.is_stopping = True
            case Resting():
                pass  # `hush` says so

    def typing_is_due(self, now: float, lasts: timedelta, pace: RetryPolicy) -> bool:
        """The status lapses soon, or says something else by now. A text that grows is sign enough of somebody writing."""
        if self.typed is None:
            return True
        if self.said and self.speaking_since is not None and not self.tools and lasts < LINGERS:
            return False
        at, status = self.typed
        if status != self.status and lasts >= LINGERS:
            return now - at >= pace.preview_every.total_seconds()
        return now - at >= RENEW * lasts.total_seconds()

    def saying_is_due(self, now: float, pace: RetryPolicy) -> bool:
        """It has spoken for long enough, and there is something new to see."""
        if self.speaking_since is None or now - self.speaking_since < pace.preview_after.total_seconds():
            return False
        if self.said is None:
            return True
        at, text = self.said
        return text != self.text and now - at >= pace.preview_every.total_seconds()


class Typing:
    """Of one account. `say` is None where no message may stand for a text that is still growing."""

    def __init__(
        self,
        *,
        features: Features,
        rates: Rates,
        pace: RetryPolicy,
        may: Callable[[], bool],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        heed: Callable[[Address, Retryable], Awaitable[None]],
        say: Say | None,
    ) -> None:
        self._types = features.types
        self._drafts = features.drafts
        self._rates = rates
        self._pace = pace
        self._may = may
        self._spawn = spawn
        self._heed = heed
        self._say = say
        self._lives: dict[RunId, Life] = {}
        self.offers = bool(self._types or self._drafts or say)

    def note(self, claim: Claim, event: Progress) -> None:
        """A run tells what it does."""
        if not self.offers:
            return
        life = self._lives.get(claim.run_id)
        if life:
            life.hear(event, asyncio.get_running_loop().time())
        elif len(self._lives) < TYPING_MAX_RUNS:
            life = self._begin(claim, event)
        if life and life.is_long:
            self._appear(life)  # there is no answer within the time for which nothing is shown

    def hush(self, run: RunId) -> None:
        """The run is about to say its last word, and nothing may come behind that."""
        if life := self._lives.pop(run, None):
            life.over.set()
            if life.timer:
                life.timer.cancel()  # it holds the claim, and with that the conversation

    def stop(self) -> None:
        """Another process serves the account from here on."""
        for run in list(self._lives):
            self.hush(run)

    def _begin(self, claim: Claim, event: Progress) -> Life:
        loop = asyncio.get_running_loop()
        life = self._lives[claim.run_id] = Life(claim)
        life.hear(event, loop.time())
        self._look_in(life)
        return life

    def _look_in(self, life: Life) -> None:
        delay = self._pace.typing_after.total_seconds()
        life.timer = asyncio.get_running_loop().call_later(delay, self._appear, life)

    def _appear(self, life: Life) -> None:
        """Most runs have ended by now."""
        if life.over.is_set() or life.is_watched:
            return
        if self._may():
            life.is_watched = True
            self._spawn(self._show(life))
        else:
            self._look_in(life)  # the account may come to be served from here while the run goes on

    async def _show(self, life: Life) -> None:
        try:
            with structlog.contextvars.bound_contextvars(trace=life.claim.run_id):
                await self._until_over(life)
        except Exception:
            # A bug of ours: the answer itself is on another way.
            log.exception("cannot be seen at work", address=str(life.claim.address))

    async def _until_over(self, life: Life) -> None:
        while not life.over.is_set():
            await self._look(life)
            await self._pause(life)
        if life.typed and self._types and self._types.typing_lasts >= LINGERS:
            await self._type(self._types, life, "")

    async def _look(self, life: Life) -> None:
        """Show what is due."""
        now = asyncio.get_running_loop().time()
        if self._types and life.typing_is_due(now, self._types.typing_lasts, self._pace):
            await self._type(self._types, life, life.status)
        if life.saying_is_due(now, self._pace) and not life.over.is_set():
            text = life.text
            if await self._speak(life):
                life.said = now, text

    async def _type(self, types: Types, life: Life, status: str) -> None:
        address = life.claim.address
        # Before a long wait the first sign is free: that is soon after a start, when all buckets are empty to be safe.
        is_free = life.is_long and life.typed is None
        if self._may() and (self._rates.is_open(address) if is_free else self._rates.spare(address)):
            life.typed = asyncio.get_running_loop().time(), status
            await self._attempt(address, self._briefly(types.typing(address, status)))

    async def _speak(self, life: Life) -> bool:
        """Show the text so far; whether that was tried, and need not be again before it grows."""
        address = life.claim.address
        if self._drafts and self._drafts.drafts(address):
            if not (self._may() and self._rates.spare(address)):
                return False
            draft = self._drafts.draft(address, shortened(life.text))
            return await self._attempt(address, self._briefly(draft))
        return self._say is not None and await self._attempt(address, self._say(life.claim, life.text))

    async def _attempt(self, address: Address, call: Awaitable[bool]) -> bool:
        try:
            return await call
        except Retryable as error:
            await self._heed(address, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer itself is on another way
            log.debug("not seen at work", address=str(address), reason=str(error) or type(error).__name__)
        return True

    async def _briefly(self, call: Awaitable[None]) -> bool:
        async with asyncio.timeout(self._pace.glance.total_seconds()):
            await call
        return True

    async def _pause(self, life: Life) -> None:
        """Until the next look, or the end."""
        try:
            async with asyncio.timeout(self._pace.preview_every.total_seconds() / 4):
                await life.over.wait()
        except TimeoutError:
            return
