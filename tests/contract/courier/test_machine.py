"""Whatever befalls sends, looks and processes: every part is shown exactly once, in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import HandClock
from runtime.contract import Kind
from runtime.domain.deliveries import DeliveryState
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import Stage
from tests.contract.runtime.stage import LEASE, Crash, crash_at
from tests.contract.runtime.stores import memory_store

POINTS = ["part-marked", "part-shown", "part-checkpointed"]


@dataclass(frozen=True)
class Message:
    room: int
    origin: int
    parts: int
    kind: Kind


messages = st.builds(
    Message,
    room=st.integers(1, 2),
    origin=st.integers(1, 2),
    parts=st.integers(1, 3),
    kind=st.sampled_from([Kind.APPROVAL, Kind.FINAL, Kind.REPORT]),
)
kills = st.tuples(st.sampled_from(POINTS), st.integers(1, 4))


async def play(plan: list[Message], ends: list[End], lives: list[tuple[str, int]]) -> list[str]:
    """The texts on screen at the end."""
    clock = HandClock()
    store = memory_store(clock)
    stage = Stage(store, clock, Channel(kind=ChannelKind.NONE), url="")
    adapter = ScriptedAdapter(ends)
    try:
        for number, message in enumerate(plan):
            words = "|".join(f"{number}.{part}" for part in range(1, message.parts + 1))
            origin = f"run:{message.room}.{message.origin}"
            await stage.put(words, room=f"r{message.room}", origin=origin, ordinal=number, kind=message.kind)
        for point, hit in lives:
            try:
                await stage.settle(await stage.courier(adapter=adapter, probe=crash_at(point, hit)))
            except Crash:
                clock.advance(LEASE)
        await stage.settle(await stage.courier(adapter=adapter), timedelta(days=9))
        dead = {row.content.text.split(".")[0] for row in await stage.outbox(DeliveryState.DEAD)}
        check_order(plan, [body for body in adapter.texts if body.split(".")[0] not in dead])
        for row in await stage.outbox(DeliveryState.DEAD):
            await store.operations.requeue(row.id, "ada")
        adapter.ends, adapter._ends = (), iter(())
        await stage.settle(await stage.courier(adapter=adapter), timedelta(days=9))
        assert {row.state for row in await stage.outbox()} == {DeliveryState.SHOWN}
    finally:
        await store.close()
    return adapter.texts


def check_order(plan: list[Message], texts: list[str]) -> None:
    """Within an origin at an address, all parts come in the order enqueued."""
    by_origin: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for body in texts:
        number, part = map(int, body.split("."))
        by_origin.setdefault((plan[number].room, plan[number].origin), []).append((number, part))
    for shown in by_origin.values():
        assert shown == sorted(shown)


@given(
    plan=st.lists(messages, min_size=1, max_size=6),
    ends=st.lists(st.sampled_from(End), max_size=15),
    lives=st.lists(kills, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_every_part_is_shown_exactly_once_whatever_happens(
    plan: list[Message], ends: list[End], lives: list[tuple[str, int]]
) -> None:
    """Scenarios 28 to 30, for every channel that lets us look."""
    with capture_logs():
        shown = asyncio.run(play(plan, ends, lives))
    every = [f"{n}.{part}" for n, message in enumerate(plan) for part in range(1, message.parts + 1)]
    assert Counter(shown) == Counter(every)
