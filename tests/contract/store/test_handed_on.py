"""What is handed on ends with whoever handed it on, at whatever moment that comes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

from runtime.contract import Order, RunId
from runtime.domain.runs import RunState
from runtime.store.protocol import Claim, Ordered, Recorded
from tests.contract.store.stage import LIST, Stage, address, reply, step

ROUNDS: Final = 8
WIDE: Final = 12


def order(goal: str, *, awaits: bool = True) -> Ordered:
    return Ordered(Order(agent="main", goal=goal, awaits=awaits, time=timedelta(minutes=10)), goal)


async def marked(stage: Stage, claim: Claim) -> int:
    """The number of a call that is about to be handed on."""
    [call] = (await stage.record(claim, step(LIST))).steps
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, call.number)
    return call.number


async def hand(stage: Stage, claim: Claim, number: int, *orders: Ordered) -> Recorded:
    chain = ("main",) * (1 + len(claim.child.chain if claim.child else ()))
    recorded = await stage.store.runs.spawn(claim.lane, claim.run_id, number, chain, orders or [order("go")])
    assert recorded is not None
    return recorded


async def open_children(stage: Stage) -> list[RunId]:
    return [RunId(child) for child in await stage.column("SELECT id FROM children WHERE state = 'open'")]


async def open_waits(stage: Stage) -> list[str]:
    return await stage.column("SELECT subject FROM waits WHERE settled_at IS NULL")


async def test_a_run_that_was_stopped_begins_nothing_more(stage: Stage) -> None:
    claim = await stage.begin()
    number = await marked(stage, claim)
    await stage.stop()
    assert (await hand(stage, claim, number)).stop
    assert await open_children(stage) == []


async def test_a_run_that_is_interrupted_takes_its_children_with_it(stage: Stage) -> None:
    claim = await stage.begin()
    await hand(stage, claim, number := await marked(stage, claim))
    assert await stage.finish(replace(claim, next_step=number + 1), "Stopped here.", RunState.STOPPED)
    assert await open_children(stage) == []
    assert await open_waits(stage) == []


async def test_a_stop_ends_work_that_nobody_waits_for(stage: Stage) -> None:
    claim = await stage.begin()
    await hand(stage, claim, number := await marked(stage, claim), order("go", awaits=False))
    assert await stage.finish(replace(claim, next_step=number + 1), "I'm on it.")
    await stage.stop()
    assert await open_children(stage) == []


async def test_what_a_child_hands_on_in_the_moment_of_a_stop_ends_too(stage: Stage) -> None:
    for number in range(ROUNDS):
        await stage.say("hello", at=address(f"room{number}"))
        while not (claim := await stage.claim()).lane.session.endswith(f"room{number}"):
            pass  # a child of an earlier round that ended before it began
        await hand(stage, claim, await marked(stage, claim))
        [begun] = await open_children(stage)
        while (child := await stage.claim()).run_id != begun:
            pass
        at = await marked(stage, child)
        await asyncio.gather(stage.stop(at=address(f"room{number}")), hand(stage, child, at))
        assert await open_children(stage) == []


async def test_children_that_end_in_one_moment_are_all_seen_to_be_over(stage: Stage) -> None:
    """They have different parents, so nothing but the tree that people see makes them wait for each other."""
    root = await stage.begin()
    await hand(stage, root, await marked(stage, root), *[order("part")] * WIDE)
    parents = [await stage.claim() for _ in range(WIDE)]
    for parent in parents:
        await hand(stage, parent, await marked(stage, parent))
    pieces = [await stage.claim() for _ in range(WIDE)]
    await asyncio.gather(*(end(stage, piece) for piece in pieces))
    shown = await stage.rows("SELECT ordinal, content FROM deliveries WHERE origin LIKE 'children:%' ORDER BY ordinal")
    assert [ordinal for ordinal, _ in shown] == list(range(1 + 2 * WIDE))
    assert (shown[-1][1].count("✅"), shown[-1][1].count("⏳")) == (WIDE, WIDE)


async def end(stage: Stage, claim: Claim) -> None:
    runs, text = stage.store.runs, "it is done"
    assert await runs.finish(claim.lane, claim.run_id, claim.next_step, reply(text), RunState.DONE, text, [])
