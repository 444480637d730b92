"""Bugs put into the program from outside, each of which the laboratory must find. The product knows of none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from bot.node import watchdog
from bot.server import app
from runtime.delivery import courier
from runtime.delivery.courier import Courier

PATIENCE: Final = timedelta(seconds=2)


def stuck() -> None:
    """Couriers do not end when they are cancelled. The watchdog is in a hurry."""
    run = Courier.run

    async def goes_on(self: Courier) -> None:
        while True:
            try:
                await run(self)
            except asyncio.CancelledError:
                continue

    def hasty(**given: Any) -> watchdog.Watchdog:
        return watchdog.Watchdog(**given, patience=PATIENCE)

    Courier.run = goes_on  # type: ignore[method-assign]
    setattr(app, "Watchdog", hasty)  # noqa: B010 - a plant: the module has it for itself alone


def swallowed() -> None:
    """A cancellation that comes beside an error is lost in it, as it was once."""

    async def as_it_was(work: Any) -> Any:
        return await work

    setattr(courier, "cancellable", as_it_was)  # noqa: B010 - as above


PLANTS: Final[Mapping[str, Callable[[], None]]] = {"stuck": stuck, "swallowed": swallowed, "": lambda: None}
