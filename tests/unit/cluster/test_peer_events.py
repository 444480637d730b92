"""What other nodes are told, and what is done here when they ring."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from runtime.cluster import peer_events as module
from runtime.cluster.notifier import SharedNotifier
from runtime.cluster.peer_events import PeerEvents, outbox_topic, stop_topic
from runtime.contract import Address, RunId

ROOM = Address("fake", "main", "a room", "with a/thread")


@dataclass
class Node:
    """One node whose parts write down what they are asked. It works on the runs `mine`."""

    mine: frozenset[str] = frozenset()
    told: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    called_for: list[Address] = field(default_factory=list)
    looks: int = 0

    def __post_init__(self) -> None:
        self.notifier = SharedNotifier(self.told.append)
        self.elsewhere = PeerEvents(notifier=self.notifier, couriers=self, stop=self.stop)

    def stop(self, run_id: RunId) -> bool:
        self.stopped.append(run_id)
        return run_id in self.mine

    def called(self, address: Address) -> None:
        self.called_for.append(address)

    def look_around(self) -> None:
        self.looks += 1


def test_a_run_that_is_at_work_here_is_stopped_here() -> None:
    node = Node(mine=frozenset({"r1"}))
    node.elsewhere.stop(RunId("r1"))
    assert (node.stopped, node.told) == (["r1"], [])


def test_a_run_that_is_at_work_elsewhere_is_stopped_there() -> None:
    here, there = Node(), Node(mine=frozenset({"r1"}))
    here.elsewhere.stop(RunId("r1"))
    assert here.told == [stop_topic(RunId("r1"))]
    there.elsewhere.heard(here.told[0])
    assert (there.stopped, there.told) == (["r1"], [])  # a node that does not have it either tells nobody again


def test_a_call_from_elsewhere_reaches_the_couriers() -> None:
    node = Node()
    node.elsewhere.heard(outbox_topic(ROOM))
    assert node.called_for == [ROOM]


async def test_a_ring_from_elsewhere_is_heard_here_and_not_told_again() -> None:
    node = Node()
    listener = node.notifier.listen("lanes")
    node.elsewhere.heard("lanes")
    assert await listener.within(0)
    assert node.told == []


async def test_when_rings_were_lost_everybody_looks_and_nobody_is_told() -> None:
    node = Node()
    listeners = [node.notifier.listen("lanes"), node.notifier.listen("room:web:main/7")]
    node.elsewhere.look_around()
    assert [await listener.within(0) for listener in listeners] == [True, True]
    assert (node.looks, node.told) == (1, [])


async def test_every_listener_is_reminded_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMIND", timedelta(milliseconds=10))
    node = Node()
    reminding = asyncio.ensure_future(node.elsewhere.remind())
    listeners = [node.notifier.listen("lanes"), node.notifier.listen("room:web:main/7")]
    for _ in range(3):
        for listener in listeners:
            assert await listener.within(10)
    reminding.cancel()
    assert node.told == []
