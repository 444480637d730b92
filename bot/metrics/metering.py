"""Everything that counts, put together: what the composition root wraps the parts of the process in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aiohttp import web

from bot.instruments import Duty, Instrument
from bot.metrics.door import LOOPBACK, Door
from bot.metrics.labels import Labels
from bot.metrics.listener import Listener
from bot.metrics.meters import Meters
from bot.metrics.page import Page, metrics_routes
from bot.metrics.store import CountedStore
from bot.metrics.wrappers import MeteredAdapter, MeteredModel, MeteredTool
from bot.settings import Metrics, Web
from bot.version import VERSION
from runtime.contract import ChannelAdapter, Model, Tool
from runtime.store.depths import Depths
from runtime.store.driver import Watch
from runtime.store.store import SqlStore


async def nothing_waits() -> Depths:
    """Before there is a store."""
    return Depths()


class Metering(Instrument):
    """Counts what happens, and shows it at `/metrics` on the web page's port or on one of its own."""

    def __init__(self, settings: Metrics, page: Web) -> None:
        self.meters: Final = Meters()
        self._settings = settings
        self._web = page
        self._labels = Labels()
        self._adapters: list[ChannelAdapter] = []
        self._depths = nothing_waits

    @property
    def watch(self) -> Watch:
        return self.meters

    def store(self, store: SqlStore) -> SqlStore:
        self._depths = store.depths
        return CountedStore(store, self.meters, self._labels)

    def model(self, model: Model) -> Model:
        return MeteredModel(model, self.meters)

    def tools(self, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        self._labels.learn_tools(tools)
        return {name: MeteredTool(tool, self.meters) for name, tool in tools.items()}

    def adapter(self, adapter: ChannelAdapter) -> ChannelAdapter:
        self._labels.learn_account(adapter.channel, adapter.identity, adapter.account)
        self.meters.expect_account(adapter.channel, adapter.account)
        self._adapters.append(adapter)
        return MeteredAdapter(adapter, self.meters)

    def routes(self) -> Sequence[web.RouteDef]:
        return () if self._has_own_port else self._routes(self._web.host, names=self._web.hosts)

    def duties(self) -> Sequence[Duty]:
        host, port = self._settings.host, self._settings.port
        return (Listener(self._routes(host), host, port).run,) if self._has_own_port else ()

    @property
    def _has_own_port(self) -> bool:
        return self._settings.port not in (0, self._web.port)

    def _routes(self, host: str, names: Sequence[str] = ()) -> list[web.RouteDef]:
        """`names` are those under which others reach us: then a proxy stands before the port."""
        token = self._settings.token.get_secret_value() if self._settings.token else None
        page = Page(
            meters=self.meters,
            labels=self._labels,
            adapters=self._adapters,
            depths=self._depths,
            version=VERSION,
        )
        return metrics_routes(page, Door(token, is_open=host not in LOOPBACK or bool(names)))
