"""The program of the fault tests, with a bug put into it: what the laboratory must find, and the watchdog mend.

python -m tests.lab.app --plant stuck --data DIR …
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from bot.accounts import failover
from bot.node import watchdog
from bot.server import app
from runtime.delivery import courier
from runtime.delivery.courier import Courier
from runtime.domain import failover as decision
from tests.faults.app import arguments, serve

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


def lose_after(seconds: float) -> None:
    """A way to a platform counts as lost after so long, and is tried as much more often."""
    share = seconds / decision.LOST.total_seconds()
    for module, name in (
        (decision, "LOST"),
        (decision, "DOWN"),
        (failover, "LOST"),
        (failover, "QUIET_BEFORE_PING"),
        (failover, "TRY_INTERVAL"),
    ):
        setattr(module, name, getattr(module, name) * share)


def given() -> argparse.Namespace:
    parser = arguments()
    parser.add_argument("--lost", type=float, metavar="SECONDS", help="silence after which a platform counts as lost")
    parser.add_argument("--plant", choices=PLANTS, default="")
    return parser.parse_args()


if __name__ == "__main__":
    told = given()
    PLANTS[told.plant]()
    if told.lost:
        lose_after(told.lost)
    asyncio.run(serve(told))
