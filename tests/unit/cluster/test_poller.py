"""The poller: who is woken for what, and when it looks again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from runtime.cluster import poller as module
from runtime.cluster.notifier import Listener, LocalNotifier, SharedNotifier
from runtime.cluster.poller import POLL_INTERVAL, Poller
from runtime.cluster.topics import DUE, LANES, ROLES, SUSPECTS, UNSEALED
from runtime.contract import NodeId
from runtime.errors import StoreError
from runtime.store.protocol.cluster import Agenda

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
NOTHING = Agenda()
TOPICS = (LANES, SUSPECTS, UNSEALED, ROLES, DUE)


@dataclass
class Store:
    """What it has to do is as listed, and then nothing."""

    agendas: list[Agenda | StoreError] = field(default_factory=list)
    asked: list[NodeId] = field(default_factory=list)

    def now(self) -> datetime:
        return NOW

    async def agenda(self, but: NodeId) -> Agenda:
        self.asked.append(but)
        match self.agendas.pop(0) if self.agendas else NOTHING:
            case StoreError() as error:
                raise error
            case agenda:
                return agenda


@dataclass
class Scene:
    store: Store
    notifier: LocalNotifier = field(default_factory=LocalNotifier)
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listeners: dict[str, Listener] = {topic: self.notifier.listen(topic) for topic in TOPICS}
        self.pulse = Poller(
            store=self.store,
            node=NodeId("n1"),
            notifier=self.notifier,
            reap=self._reap,
            look_around=lambda: self.done.append("looked around"),
        )

    async def _reap(self) -> None:
        self.done.append("reaped")

    async def rung(self) -> list[str]:
        return [topic for topic, listener in self.listeners.items() if await listener.within(0.001)]


@pytest.mark.parametrize(
    ("agenda", "rung"),
    [
        (NOTHING, []),
        (Agenda(lanes=True), [LANES]),
        (Agenda(suspects=True), [SUSPECTS]),
        (Agenda(facts=True), [UNSEALED]),
        (Agenda(roles=True), [ROLES]),
        (Agenda(fires_at=NOW - SECOND), [DUE]),
        (Agenda(fires_at=NOW + POLL_INTERVAL), [DUE]),
        (Agenda(fires_at=NOW + POLL_INTERVAL + SECOND), []),
        (Agenda(lanes=True, suspects=True, facts=True, roles=True, fires_at=NOW), list(TOPICS)),
    ],
)
async def test_whoever_has_something_to_do_is_woken_and_nobody_else(agenda: Agenda, rung: list[str]) -> None:
    """What fires within the next second is told now, since the timer is exact and a look is not."""
    scene = Scene(Store([agenda]))
    await scene.pulse.look()
    assert await scene.rung() == rung
    assert scene.done == []


async def test_what_is_not_done_is_told_again() -> None:
    """So that no ring that was lost is missed for long."""
    scene = Scene(Store([Agenda(lanes=True)] * 2))
    for _ in range(2):
        await scene.pulse.look()
        assert await scene.rung() == [LANES]


async def test_couriers_look_around_while_something_is_to_be_shown() -> None:
    scene = Scene(Store([Agenda(deliveries=True), NOTHING]))
    for _ in range(2):
        await scene.pulse.look()
    assert scene.done == ["looked around"]


async def test_other_nodes_are_not_woken() -> None:
    """They have a pulse of their own."""
    told: list[str] = []
    scene = Scene(
        Store([Agenda(lanes=True, suspects=True, facts=True, roles=True, fires_at=NOW)]), SharedNotifier(told.append)
    )
    await scene.pulse.look()
    assert told == []


@pytest.mark.parametrize(
    ("ends_in", "reaped", "rest"),
    [
        (None, False, POLL_INTERVAL),
        (SECOND * 5, False, POLL_INTERVAL),
        (SECOND / 4, False, SECOND / 4),
        (SECOND * 0, True, POLL_INTERVAL),
        (-SECOND, True, POLL_INTERVAL),
    ],
)
async def test_a_lease_that_ends_is_seen_at_once(ends_in: timedelta | None, reaped: bool, rest: timedelta) -> None:
    """Of others: our own is none of our business."""
    ends = None if ends_in is None else NOW + ends_in
    scene = Scene(Store([Agenda(lease_ends_at=ends)]))
    assert await scene.pulse.look() == rest
    assert scene.done == ["reaped"] * reaped
    assert scene.store.asked == ["n1"]


async def test_what_comes_later_is_waited_for_as_anything_else() -> None:
    """So a store with thousands of schedules is asked as often as one with none."""
    agenda = Agenda(fires_at=NOW + SECOND / 4)
    assert await Scene(Store([agenda, replace(agenda, fires_at=NOW)])).pulse.look() == POLL_INTERVAL


async def test_a_store_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_INTERVAL", SECOND / 1000)
    scene = Scene(Store([StoreError("away"), Agenda(lanes=True)]))
    with capture_logs():
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            beating = group.create_task(scene.pulse.run())
            assert await scene.listeners[LANES].within(5)
            beating.cancel()
