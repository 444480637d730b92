"""Everything that counts, put together: what the composition root wraps the parts of the process in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

from aiohttp import web

from bot.metrics.access import MetricsAccess
from bot.metrics.counting import Counting, CountingChain, CountingLoop
from bot.metrics.gauges import NO_SINKS, SinkState
from bot.metrics.labels import Labels
from bot.metrics.listener import Listener
from bot.metrics.meters import Meters
from bot.metrics.page import Page, metrics_routes
from bot.metrics.place import place_of
from bot.metrics.wrappers import MeteredAdapter, MeteredModel, MeteredTool
from bot.node.version import VERSION
from bot.settings.sections.operating import Metrics
from bot.settings.sections.rooms import Web
from bot.telemetry.instrument import Duty, Instrument
from runtime.context.watch import LoopWatch
from runtime.contract import ChannelAdapter, Model, Tool
from runtime.models.choice.chain import ModelChain
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import NO_BUDGETS, BudgetRules, Counter
from runtime.store.observer import Observer
from runtime.store.operations.queue_depths import Depths
from runtime.store.sql.driver import Watch
from runtime.store.store import Store

ReadSinks = Callable[[], Awaitable[SinkState]]
ReadBudgets = Callable[[], Awaitable[tuple[BudgetRules, Sequence[Counter]]]]


async def nothing_waits() -> Depths:
    """Before there is a store."""
    return Depths()


async def no_budget() -> tuple[BudgetRules, Sequence[Counter]]:
    return NO_BUDGETS, ()


async def no_sinks() -> SinkState:
    """Before there is a store."""
    return NO_SINKS


async def _sunk(store: Store) -> SinkState:
    """Tell where event sinks are; the newest event is looked up where there are some."""
    cursors = await store.events.cursors()
    return SinkState((await store.audit.audit_head()).number, cursors, store.now()) if cursors else NO_SINKS


async def _counted(store: Store) -> tuple[BudgetRules, Sequence[Counter]]:
    """The budgets that are set, with their counters; nothing is read where none is."""
    rules = store.budgets.rules
    return rules, await store.budgets.counters() if rules.is_set else ()


async def nobody_rests() -> list[Rest]:
    """Before there is a store."""
    return []


class Metering(Instrument):
    """Counts what happens, and shows it at `/metrics` on the web page's port or on one of its own."""

    def __init__(self, settings: Metrics, page: Web) -> None:
        self.meters: Final = Meters()
        self._place = place_of(settings, page)
        self._token = settings.token.get_secret_value() if settings.token else None
        self._labels = Labels()
        self._adapters: list[ChannelAdapter] = []
        self._loop = CountingLoop(self.meters)
        self._counting = Counting(self.meters, self._labels)
        self._depths = nothing_waits
        self._rests = nobody_rests
        self._budgets: ReadBudgets = no_budget
        self._sinks: ReadSinks = no_sinks

    @property
    def watch(self) -> Watch:
        return self.meters

    @property
    def observer(self) -> Observer:
        return self._counting

    @property
    def loop(self) -> LoopWatch:
        return self._loop

    def opened(self, store: Store) -> None:
        self._depths = store.queues.depths
        self._rests = store.cooldowns.resting
        self._budgets = partial(_counted, store)
        self._sinks = partial(_sunk, store)

    def model(self, model: Model) -> Model:
        if isinstance(model, ModelChain):
            model.watch(lambda name, one: MeteredModel(one, self.meters, name), CountingChain(self.meters))
            return model
        return MeteredModel(model, self.meters)

    def tools(self, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        self._labels.learn_tools(tools)
        return {name: MeteredTool(tool, self.meters) for name, tool in tools.items()}

    def adapter(self, adapter: ChannelAdapter) -> ChannelAdapter:
        self._labels.learn_account(adapter)
        self.meters.expect_account(adapter.channel, adapter.account)
        self._adapters.append(adapter)
        return MeteredAdapter(adapter, self.meters)

    def routes(self) -> Sequence[web.RouteDef]:
        return () if self._place.is_own else self._shown()

    def duties(self) -> Sequence[Duty]:
        place = self._place
        return (Listener(self._shown(), place.host, place.port).run,) if place.is_own else ()

    async def figures(self) -> str:
        return await self._page().text()

    def _shown(self) -> list[web.RouteDef]:
        return metrics_routes(self._page(), MetricsAccess(self._token, is_open=self._place.is_open))

    def _page(self) -> Page:
        return Page(
            meters=self.meters,
            labels=self._labels,
            adapters=self._adapters,
            depths=self._depths,
            rests=self._rests,
            budgets=self._budgets,
            sinks=self._sinks,
            version=VERSION,
        )
