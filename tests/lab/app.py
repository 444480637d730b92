"""The program of the fault tests as the laboratory needs it: it freezes itself at a named point, and may have a bug put in.

    python -m tests.lab.app --data DIR [--plant NAME] [--lost SECONDS] …

The product itself knows of none of that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bot.accounts import failover
from runtime.domain import failover as decision
from runtime.store.cluster import store as cluster
from runtime.store.delivery import store as delivery
from runtime.store.sql.driver import Op, T
from tests.faults.app import arguments, serve
from tests.lab.plants import PLANTS
from tests.lab.points import BEAT_OPEN, CHECKPOINT_OPEN, FREEZER

SHARES_OF_LOST: Final = (
    (decision, "LOST"),
    (decision, "DOWN"),
    (failover, "LOST"),
    (failover, "QUIET_BEFORE_PING"),
    (failover, "TRY_INTERVAL"),
)


class FreezeAt:
    """A probe: once a file names this point, the process is frozen here, and takes the file away before."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, point: str) -> None:
        if self._file.exists() and self._file.read_text(encoding="utf-8") == point:
            self._file.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)


def opened(module: Any, name: str, point: str, probe: Callable[[str], None]) -> None:
    """The operation of this name passes a point between its first statement and its commit."""
    whole = getattr(module, name)

    def with_point(*given: Any) -> Op[T]:
        op = whole(*given)
        try:
            told = yield next(op)
            probe(point)
            while True:
                told = yield op.send(told)
        except StopIteration as end:
            result: T = end.value
            return result

    setattr(module, name, with_point)


def lose_after(seconds: float) -> None:
    """A way to a platform counts as lost after so long, and is tried as much more often."""
    share = seconds / decision.LOST.total_seconds()
    for module, name in SHARES_OF_LOST:
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
    freeze = FreezeAt(told.data.parent / FREEZER)
    opened(delivery, "checkpoint", CHECKPOINT_OPEN, freeze)
    opened(cluster, "beat", BEAT_OPEN, freeze)
    asyncio.run(serve(told, probe=None if told.kill else freeze))
