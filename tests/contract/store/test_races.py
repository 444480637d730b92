"""Many tasks at once: nothing accepted is lost, nothing runs twice, and the counters agree with the rows."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from runtime.contract import Busy, NodeId, Outcome
from runtime.store.protocol import Claim, Lease
from tests.contract.store.stage import TTL, UMA, Stage, address

LONG = timedelta(hours=1)


async def work(stage: Stage, lease: Lease, busy: Busy, done: asyncio.Event, finished: list[Claim]) -> None:
    """A worker: claims and finishes until nothing is left and nothing will come."""
    while True:
        over = done.is_set()
        claim = await stage.store.runs.claim(lease, busy)
        if claim is None:
            if over:
                return
            await asyncio.sleep(0)
            continue
        if busy is Busy.STEER:
            await stage.store.runs.steer(claim.lane, claim.run_id)
        await stage.finish(claim)
        finished.append(claim)


@pytest.mark.parametrize("busy", list(Busy))
async def test_messages_racing_the_ends_of_runs_are_each_in_one_run(stage: Stage, busy: Busy) -> None:
    await stage.many()
    leases = [await stage.store.cluster.join(NodeId(f"n{n}"), "", LONG, alone=False) for n in range(3)]
    done, finished = asyncio.Event(), list[Claim]()

    async def people(who: int) -> None:
        for n in range(25):
            await stage.say(f"{who}.{n}", at=address(f"r{n % 3}"), actor=UMA)

    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(work(stage, leases[n % 3], busy, done, finished)) for n in range(6)]
        async with asyncio.TaskGroup() as talk:
            for who in range(6):
                talk.create_task(people(who))
        done.set()
    assert len(workers) == 6
    assert await stage.rows("SELECT state, count(*) FROM signals GROUP BY state") == [("consumed", 150)]
    assert Counter(await stage.column("SELECT state FROM runs")) == {"done": len(finished)}
    lanes = await stage.rows("SELECT state, waiting, resumable, last_seq FROM sessions ORDER BY key")
    assert lanes == [("idle", 0, 0, 54), ("idle", 0, 0, 48), ("idle", 0, 0, 48)]
    await stage.drain(*(address(f"r{n}") for n in range(3)))
    assert await stage.column("SELECT count(*) FROM signals WHERE answered_at IS NULL") == [0]


async def test_two_nodes_claiming_one_session_get_one_claim(stage: Stage) -> None:
    await stage.many()
    other = await stage.store.cluster.join(NodeId("n2"), "", LONG, alone=False)
    for n in range(10):
        await stage.say(f"{n}", at=address(f"r{n}"))
    claims = await asyncio.gather(
        *(stage.store.runs.claim(lease, Busy.STEER) for lease in (stage.lease, other) for _ in range(10))
    )
    sessions = [claim.lane.session for claim in claims if claim]
    assert len(sessions) == len(set(sessions))
    while claim := await stage.store.runs.claim(other, Busy.STEER):
        sessions.append(claim.lane.session)
    assert len(sessions) == len(set(sessions)) == 10


async def test_a_thousand_messages_at_once_are_all_taken_in(stage: Stage) -> None:
    await stage.many()
    taken = await asyncio.gather(*(stage.say(f"m{n}", at=address(f"r{n % 100}")) for n in range(1000)))
    assert {t.verdict.outcome for t in taken} == {Outcome.ACCEPTED}
    assert await stage.rows("SELECT DISTINCT last_seq, waiting FROM sessions") == [(10, 10)]


async def test_twins_racing_the_run_that_answers_them_are_answered(stage: Stage) -> None:
    await stage.many()
    for turn in range(15):
        await stage.say(f"words {turn}")
        claim = await stage.claim()

        async def answer(claim: Claim = claim) -> None:
            await stage.store.runs.steer(claim.lane, claim.run_id)
            await stage.finish(claim)
            await stage.drain()

        await asyncio.gather(answer(), *(stage.say(f"words {turn}") for _ in range(6)))
        while left := await stage.store.runs.claim(stage.lease, Busy.STEER):
            await stage.finish(left)
        await stage.drain()
        assert await stage.column("SELECT count(*) FROM signals WHERE answered_at IS NULL") == [0]


async def test_a_node_that_dies_while_it_claims_leaves_no_lane_behind(stage: Stage) -> None:
    await stage.many()
    for n in range(12):
        node = await stage.store.cluster.join(NodeId(f"doomed-{n}"), "", TTL, alone=False)
        await stage.say(f"{n}", at=address(f"r{n}"))
        await asyncio.gather(
            *(stage.store.runs.claim(node, Busy.STEER) for _ in range(3)),
            stage.store.cluster.leave(node) if n % 2 else _die(stage),
        )
    await _die(stage)
    heir = await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=False)
    claimed = 0
    while await stage.store.runs.claim(heir, Busy.STEER):
        claimed += 1
    while suspect := await stage.store.runs.claim_suspect(
        heir, Busy.STEER, most=100
    ):  # those that saw more than one death
        await stage.finish(suspect)
        claimed += 1
    assert claimed == 12


async def _die(stage: Stage) -> None:
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap()
