"""`GET /metrics`: how the page is put together at each look."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog
from aiohttp import web

from bot.metrics import gauges
from bot.metrics.access import MetricsAccess
from bot.metrics.labels import Labels
from bot.metrics.meters import Meters
from runtime.contract import ChannelAdapter
from runtime.errors import StoreError
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import BudgetRules, Counter
from runtime.store.operations.queue_depths import Depths

if TYPE_CHECKING:
    from bot.metrics.exposition import Exposition

log = structlog.get_logger("metrics")

PATH: Final = "/metrics"
SCRAPE_TIMEOUT: Final = timedelta(
    seconds=3
)  # a scrape is given up after 10 by default; what we count must arrive anyway


class Page:
    """Page that a look at the metrics shows."""

    def __init__(
        self,
        *,
        meters: Meters,
        labels: Labels,
        adapters: Sequence[ChannelAdapter],
        depths: Callable[[], Awaitable[Depths]],
        rests: Callable[[], Awaitable[Sequence[Rest]]],
        budgets: Callable[[], Awaitable[tuple[BudgetRules, Sequence[Counter]]]],
        sinks: Callable[[], Awaitable[gauges.SinkState]],
        version: str,
    ) -> None:
        self._meters = meters
        self._labels = labels
        self._adapters = adapters
        self._depths = depths
        self._rests = rests
        self._budgets = budgets
        self._sinks = sinks
        self._version = version
        self._exposition: Exposition | None = None

    async def render(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type. A store that is away is told on the page, and everything else still stands."""
        exposition = await self._loaded()
        found = await self._look()
        return exposition.page(self._readings(found), accept)

    async def text(self) -> str:
        """The page, for whoever hands it on."""
        page, _ = await self.render("text/plain")
        return page.decode()

    def _readings(self, found: gauges.Found | None) -> Iterator[gauges.Reading]:
        yield from gauges.of_process(self._version, self._adapters)
        yield from gauges.of_store(found, self._labels)

    async def _look(self) -> gauges.Found | None:
        try:
            async with asyncio.timeout(SCRAPE_TIMEOUT.total_seconds()):
                return gauges.Found(
                    await self._depths(), await self._rests(), *await self._budgets(), await self._sinks()
                )
        except (StoreError, TimeoutError) as error:
            log.debug("the queues cannot be read", reason=str(error) or "no answer in time")
            return None

    async def _loaded(self) -> Exposition:
        """In a thread, since the library takes a while to load and messages need not wait for it."""
        if self._exposition is None:
            make = await asyncio.to_thread(_library)
            self._exposition = make(self._meters.all())
        return self._exposition


def _library() -> type[Exposition]:
    from bot.metrics.exposition import Exposition

    return Exposition


def metrics_routes(page: Page, access: MetricsAccess) -> list[web.RouteDef]:
    async def metrics(request: web.Request) -> web.Response:
        if objection := access.objection(request):
            headers = {"WWW-Authenticate": "Bearer"} if objection.status == 401 else None
            return web.Response(status=objection.status, text=f"{objection.sentence}\n", headers=headers)
        body, content_type = await page.render(request.headers.get("Accept", ""))
        response = web.Response(body=body, headers={"Content-Type": content_type})
        response.enable_compression()
        return response

    return [web.get(PATH, metrics)]
