"""Tells operators of budgets that are nearly spent or spent, and of models whose price nobody knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.chat import budgets as words
from runtime.contract import Now
from runtime.errors import Rejected, StoreError
from runtime.policy.budgets import Counter
from runtime.store.protocol import Budgeting

log = structlog.get_logger("budgets")

LOOKS_EVERY: Final = timedelta(seconds=10)

Tell = Callable[[str, str], Awaitable[None]]
"""Posts a text for operators under an origin: once, however many nodes and processes do so. Errors: Rejected."""
Naming = Callable[[Counter], Awaitable[str]]
"""Name of whoever a counter is of, as people call them."""


class BudgetAlarms:
    """One of each process; the outbox keeps one of what all tell."""

    def __init__(
        self, *, store: Budgeting, naming: Naming, tell: Tell, now: Now, every: timedelta = LOOKS_EVERY
    ) -> None:
        self._store = store
        self._naming = naming
        self._tell = tell
        self._now = now
        self._every = every
        self._told: set[str] = set()

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (StoreError, Rejected) as error:
                log.debug("budgets are not looked at yet", reason=str(error))
            await asyncio.sleep(self._every.total_seconds())

    async def look(self) -> None:
        """Tell what nobody was told yet; nothing while no budget is set. Errors: StoreError, Rejected."""
        if not self._store.rules.is_set:
            return
        for counter in await self._store.alarms():
            mark = f"{counter.scope}:{counter.subject}:{counter.level}:{counter.ends_at:%Y%m%d%H}"
            if mark not in self._told:
                text = words.alarm(counter, self._store.rules.limit(counter), await self._naming(counter))
                log.warning("budget", scope=counter.scope.value, subject=counter.subject, used=counter.used)
                await self._tell(f"budget-alarm:{mark}", text)
                self._told.add(mark)
        for model in await self._store.without_price():
            mark = f"{model}:{self._now():%Y%m%d}"
            if mark not in self._told:
                log.warning("model without a price", model=model)
                await self._tell(f"unpriced:{mark}", words.unpriced(model))
                self._told.add(mark)
