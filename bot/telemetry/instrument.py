"""One that watches a process at work: it wraps the parts it wants to see."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from aiohttp import web

from runtime.context.watch import UNWATCHED as UNSEEN
from runtime.context.watch import LoopWatch
from runtime.contract import ChannelAdapter, Model, Sink, Tool
from runtime.intake.dispatch import Worker
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.sql.driver import UNWATCHED, Watch
from runtime.store.store import Store

Duty = Callable[[], Coroutine[Any, Any, None]]
"""A long loop: it runs until it is cancelled."""


class Instrument:
    """One that watches. This one sees nothing: it hands each part back as it is."""

    @property
    def watch(self) -> Watch:
        """Watch that the store's engine tells."""
        return UNWATCHED

    @property
    def observer(self) -> Observer:
        """Told what the store's transactions did."""
        return UNOBSERVED

    @property
    def loop(self) -> LoopWatch:
        """Told how conversations are condensed, and which runs the guard ended."""
        return UNSEEN

    def opened(self, store: Store) -> None:
        """The store is there."""

    def model(self, model: Model) -> Model:
        return model

    def tools(self, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        return tools

    def adapter(self, adapter: ChannelAdapter) -> ChannelAdapter:
        """An account as its courier has it."""
        return adapter

    def sink(self, sink: Sink) -> Sink:
        return sink

    def worker(self, worker: Worker) -> Worker:
        return worker

    def routes(self) -> Sequence[web.RouteDef]:
        """For the process's one web application; asked for once every account is known."""
        return ()

    def duties(self) -> Sequence[Duty]:
        """Duties that run as long as the process serves."""
        return ()

    async def figures(self) -> str:
        """The metrics as a page of text; empty where none are counted."""
        return ""

    async def close(self) -> None:
        """Hand over what was seen, within about a second. Never raises."""
