"""Word of work that an operator ended, for whoever works on it or waits for it."""

from __future__ import annotations

from collections.abc import Callable

from runtime.cluster.topics import LANES
from runtime.contract import Address, Notifier, RunId
from runtime.store.protocol import Below


def tell_of(
    ended: Below, *, stop_run: Callable[[RunId], object], nudge: Callable[[Address], None], notifier: Notifier
) -> None:
    """Stop the runs at work, wake the couriers of rooms that are told, and the lanes that go on."""
    for run in ended.live:
        stop_run(run)
    for room in ended.told:
        nudge(room)
    if ended.woken:
        notifier.notify(LANES)
