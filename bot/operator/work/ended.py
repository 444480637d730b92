"""Word of work that an operator ended, for whoever works on it or waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.operator.context import OperatorContext
from runtime.cluster.topics import LANES
from runtime.contract import Address, Notifier, RunId
from runtime.store.protocol import Below


@dataclass(frozen=True, slots=True)
class Hearers:
    """`stop_run` ends a run at work here, `nudge` wakes the courier of a room, and `notifier` the lanes that go on."""

    stop_run: Callable[[RunId], object]
    nudge: Callable[[Address], None]
    notifier: Notifier

    def tell(self, ended: Below) -> None:
        for run in ended.live:
            self.stop_run(run)
        for room in ended.told:
            self.nudge(room)
        if ended.woken:
            self.notifier.notify(LANES)


def hearers_of(context: OperatorContext) -> Hearers:
    return Hearers(context.stop, context.nudge, context.notifier)
