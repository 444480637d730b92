"""Instruments of a process at work: metrics, and traces where they are set.

What is turned off is not there: nothing is imported for it, and no call passes through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import reduce

from aiohttp import web

from bot.settings.sections.operating import Telemetry
from bot.settings.settings import Settings
from bot.telemetry.instrument import Duty, Instrument
from runtime.context.watch import UNWATCHED as UNSEEN
from runtime.context.watch import LoopWatch
from runtime.contract import ChannelAdapter, Model, Sink, Tool
from runtime.errors import ConfigError
from runtime.intake.dispatch import Worker
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.sql.driver import UNWATCHED, Watch
from runtime.store.store import Store


class Instruments(Instrument):
    """Several, one around the other."""

    def __init__(self, parts: Sequence[Instrument]) -> None:
        self._parts = parts

    @property
    def watch(self) -> Watch:
        return next((part.watch for part in self._parts if part.watch is not UNWATCHED), UNWATCHED)

    @property
    def observer(self) -> Observer:
        return next((part.observer for part in self._parts if part.observer is not UNOBSERVED), UNOBSERVED)

    @property
    def loop(self) -> LoopWatch:
        return next((part.loop for part in self._parts if part.loop is not UNSEEN), UNSEEN)

    def opened(self, store: Store) -> None:
        for part in self._parts:
            part.opened(store)

    def model(self, model: Model) -> Model:
        return reduce(lambda inner, part: part.model(inner), self._parts, model)

    def tools(self, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        return reduce(lambda inner, part: part.tools(inner), self._parts, tools)

    def adapter(self, adapter: ChannelAdapter) -> ChannelAdapter:
        return reduce(lambda inner, part: part.adapter(inner), self._parts, adapter)

    def sink(self, sink: Sink) -> Sink:
        return reduce(lambda inner, part: part.sink(inner), self._parts, sink)

    def worker(self, worker: Worker) -> Worker:
        return reduce(lambda inner, part: part.worker(inner), self._parts, worker)

    def routes(self) -> Sequence[web.RouteDef]:
        return [route for part in self._parts for route in part.routes()]

    def duties(self) -> Sequence[Duty]:
        return [duty for part in self._parts for duty in part.duties()]

    async def figures(self) -> str:
        return "".join([await part.figures() for part in self._parts])

    async def close(self) -> None:
        async with AsyncExitStack() as stack:
            for part in self._parts:
                stack.push_async_callback(part.close)


def instruments_of(settings: Settings) -> Instruments:
    """Instruments that the settings ask for. Errors: ConfigError when traces are wanted and their extra is not installed."""
    parts: list[Instrument] = []
    if settings.metrics.enabled:
        from bot.metrics.metering import Metering

        parts.append(Metering(settings.metrics, settings.web))
    if settings.telemetry.endpoint:
        parts.append(_tracing(settings.telemetry))
    return Instruments(parts)


def _tracing(settings: Telemetry) -> Instrument:
    try:
        from bot.telemetry.tracing.instrument import tracing_of
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"telemetry.endpoint: the package that sends traces is not installed ({error.name} is missing). "
            'Install it: pip install "signalbox-bot[otel]", or set telemetry.endpoint to "".'
        ) from error
    return tracing_of(settings)
