"""Models that rest, as this node knows them: from memory for each message, from the store when another node tells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from runtime.cluster.notifier import REST, LocalNotifier
from runtime.cluster.topics import COOLDOWNS
from runtime.contract import Now
from runtime.errors import Rejected, StoreError
from runtime.models.choice.cooling import Failed, Rest, is_news, rest_after
from runtime.store.protocol import Cooling

log = structlog.get_logger("models")

Tell = Callable[[Rest], Awaitable[None]]


class SharedCooldowns:
    """Implements `models.choice.cooling.Cooldowns`. `run` keeps it up to date and tells operators what they should know."""

    def __init__(self, *, store: Cooling, notifier: LocalNotifier, now: Now, every: timedelta = REST) -> None:
        self.clean: Callable[[str], str] = str
        """Takes out of a vendor's words what must not be stored; the process sets it once it has its guard."""
        self._store = store
        self._notifier = notifier
        self._rung = notifier.listen(COOLDOWNS)
        self._now = now
        self._every = every
        self._rests: dict[str, Rest] = {}
        self._told: set[tuple[str, datetime]] = set()

    def of(self, model: str) -> Rest | None:
        return self._rests.get(model)

    async def failed(self, failed: Failed) -> None:
        """The model rests from now on; in this process also where the store is away."""
        failed = replace(failed, reason=self.clean(failed.reason))
        try:
            self._rests[failed.model] = await self._store.failed(failed)
        except StoreError as error:
            log.warning("a model rests here alone", model=failed.model, reason=str(error))
            self._rests[failed.model] = rest_after(self.of(failed.model), failed, self._now())
        self._notifier.notify(COOLDOWNS)

    async def well(self, model: str) -> None:
        self._rests.pop(model, None)
        try:
            await self._store.clear(model)
        except StoreError as error:
            log.warning("other nodes still let a model rest", model=model, reason=str(error))
        self._notifier.notify(COOLDOWNS)

    async def may_probe(self, model: str) -> bool:
        try:
            return await self._store.probe(model)
        except StoreError:
            return True  # nobody can be asked: rather twice than never

    async def look(self) -> None:
        """Read anew. Errors: StoreError."""
        self._rests = {rest.model: rest for rest in await self._store.resting()}

    async def run(self, tell: Tell, marks: Mapping[str, str]) -> None:
        """Keep up to date for ever. `marks` are those of this process's models: of others nobody need be told."""
        while True:
            try:
                await self.look()
                for rest in [rest for rest in self._rests.values() if is_news(rest)]:
                    if marks.get(rest.model) == rest.mark:
                        await self._tell_once(rest, tell)
            except (StoreError, Rejected) as error:
                log.debug("models at rest are not looked at yet", reason=str(error))
            await self._rung.within(self._every.total_seconds())

    async def _tell_once(self, rest: Rest, tell: Tell) -> None:
        """Tell operators; of several nodes and processes that do so, the outbox keeps one."""
        if (rest.model, rest.since) not in self._told:
            log.error("model benched", model=rest.model, cause=rest.cause.value, reason=rest.reason)
            await tell(rest)
            self._told.add((rest.model, rest.since))
