"""Bugs put into the program from outside, each of which the laboratory must find. The product knows of none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from adapters.discord.incoming.backfill import Gap
from adapters.telegram.settling.search import Search, Searches
from bot.accounts.failover import Failover
from bot.http import health
from bot.node import watchdog
from bot.server import app
from runtime.cluster.node import Node
from runtime.contract import NodeId
from runtime.delivery import courier
from runtime.delivery.courier import Courier
from runtime.delivery.sender import DutyLost
from runtime.store import common
from runtime.store.cluster import store as cluster
from runtime.store.cluster.nodes import beat
from runtime.store.protocol import Lease
from runtime.store.protocol.leases import Beat
from runtime.store.schema import nodes, roles, sessions
from runtime.store.sql.connections import Way
from runtime.store.sql.driver import Op, micros

PATIENCE: Final = timedelta(seconds=2)
ANY_DUTY: Final = select(roles.c.name).where(roles.c.name == bindparam("role"))
ANY_LANE: Final = select(sessions.c.next_turn, sessions.c.waiting, sessions.c.resumable).where(
    sessions.c.key == bindparam("key")
)
REVIVE: Final = update(nodes).where(nodes.c.id == bindparam("node")).values(state="live", expires_at=bindparam("until"))


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
    """The first cancellation is lost in an error that comes at the same moment, as it could be once."""
    left = 1

    async def in_an_error(work: Any) -> Any:
        nonlocal left
        try:
            return await work
        except asyncio.CancelledError:
            left -= 1
            if left < 0:
                raise
            raise DutyLost from None

    setattr(courier, "cancellable", in_an_error)  # noqa: B010 - as above


def skipped() -> None:
    """Of two ids that a lost message may have one is never tried, and counts as tried."""
    left = Searches.left

    def without_one(self: Searches, search: Search, numbers: Iterable[int], since: datetime) -> list[int]:
        return [number for number in left(self, search, numbers, since) if number % 2]

    Searches.left = without_one  # type: ignore[method-assign]


def stale() -> None:
    """What a fenced process writes counts, and so it sends."""
    Node.fresh = lambda self: True  # type: ignore[method-assign]
    setattr(common, "HELD_DUTY", ANY_DUTY)  # noqa: B010 - a constant, in production
    setattr(common, "OWNED_LANE", ANY_LANE)  # noqa: B010 - as above


def unfenced() -> None:
    """A process that was declared dead takes its place again as if nothing had been, with all that it had begun."""
    stale()

    def revived(lease: Lease, ttl: timedelta, offset: timedelta | None, now: datetime) -> Op[Beat]:
        held = yield from beat(lease, ttl, offset, now)
        if held is None:
            yield REVIVE, {"node": lease.node, "until": micros(now + ttl)}
        return held or Beat()

    setattr(cluster, "beat", revived)  # noqa: B010 - as above


def dropped() -> None:
    """Of the rooms in which something may have been missed one is forgotten."""
    rooms = Gap.rooms

    def without_one(self: Gap, *given: Any, **more: Any) -> dict[str, int]:
        missed = rooms(self, *given, **more)
        return {channel: mark for channel, mark in missed.items() if channel != min(missed)}

    Gap.rooms = without_one  # type: ignore[method-assign]


def clung() -> None:
    """A role is never given up, though its platform does not answer."""

    async def keeps(self: Failover, lease: Lease, roles: Sequence[str], node: NodeId) -> None:
        del self, lease, roles, node

    Failover._give_up = keeps  # type: ignore[method-assign]


def ready() -> None:
    """/readyz says always that all is well."""

    async def none(checks: object) -> dict[str, str]:
        del checks
        return {}

    setattr(health, "reasons_against", none)  # noqa: B010 - as above


def leaked() -> None:
    """The connection of an operation that took too long never comes back: there is room for one less from then on."""
    leave, kept = Way.__aexit__, []

    async def keeps(
        self: Way, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await leave(self, kind, error, trace)
        finally:
            if self._is_dropped:
                kept.append(asyncio.ensure_future(self._ways._free.acquire()))

    Way.__aexit__ = keeps  # type: ignore[method-assign]


PLANTS: Final[Mapping[str, Callable[[], None]]] = {
    plant.__name__: plant for plant in (stuck, swallowed, skipped, stale, unfenced, dropped, clung, ready, leaked)
} | {"": lambda: None}

CONTROL: Final = "plant/none"
"""How the names of stages begin that have the faults by which bugs are found, and no bug."""

Find = tuple[str, int, str, Sequence[tuple[str, ...]], frozenset[str]]
ON: Final = ("postgres", 2, "telegram")
TWICE: Final = frozenset({"repeated", "lost", "disordered"})
SENT: Final = ("freeze", "sent", "3.0")
TAKEN_OVER: Final = ("freeze", "part-marked", "taken")
UNREACHED: Final = ("partition", "platform", "stall")
CUT: Final = ("partition", "store", "stall")
TIMED_OUT: Final = ("slow", "store", "delay500")
FINDS: Final[Mapping[str, Find]] = {
    "swallowed": (*ON, [SENT] * 3, frozenset({"hung"})),
    "skipped": (*ON, [SENT] * 6, frozenset({"repeated"})),
    "stale": (*ON, [TAKEN_OVER] * 3, TWICE),
    "unfenced": (*ON, [TAKEN_OVER] * 3, TWICE | {"not ready", "untrue"}),
    "dropped": ("sqlite", 1, "discord", [("kill",)] * 3, frozenset({"lost"})),
    "clung": (*ON, [UNREACHED] * 2, frozenset({"kept"})),
    "ready": (*ON, [CUT] * 2, frozenset({"untrue", "hung"})),
    "leaked": (*ON, [TIMED_OUT] * 6, frozenset({"hung"})),
}
"""Engine, number of nodes, platform, the faults after which it must have come to light at the latest, and first words of the
complaints that are what this bug does."""


def is_found(plant: str, complaints: Iterable[str]) -> bool:
    """True if one of these complaints is what the bug does."""
    return any(line.partition(":")[0] in FINDS[plant][-1] for line in complaints)
