"""Runs under which processes die: counted, watched alone, written down as set aside, and cleared when they get on."""

from __future__ import annotations

import asyncio

import pytest

from runtime.contract import Busy, NodeId
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim, Lease
from tests.contract.store.stage import LIST, TTL, WRITE, Stage, address, step

MOST = 3


async def lives(stage: Stage, name: str) -> Lease:
    return await stage.store.cluster.join(NodeId(name), name, TTL, alone=False)


async def claims(stage: Stage, lease: Lease) -> Claim:
    claimed = await stage.store.runs.claim(lease, Busy.STEER)
    assert claimed is not None
    return claimed


async def watches(stage: Stage, lease: Lease, *, most: int = MOST) -> Claim | None:
    return await stage.store.runs.claim_suspect(lease, Busy.STEER, most=most)


async def dies(stage: Stage) -> None:
    """Every node whose lease is short gives no sign any more."""
    stage.clock.advance(seconds=6)
    assert await stage.store.cluster.reap() == 1


async def crashes(stage: Stage) -> dict[str, int]:
    """By room, the deaths counted against its run."""
    rows = await stage.rows("SELECT address, crashes FROM runs")
    return {place.rpartition("/")[2]: count for place, count in rows}


async def two_deaths(stage: Stage, *rooms: str) -> None:
    """Twice a node dies with a run of each room at work."""
    for room in rooms:
        await stage.say(f"work in {room}", at=address(room))
    for number in range(2):
        doomed = await lives(stage, f"doomed-{number}")
        for _ in rooms:
            await claims(stage, doomed)
        await dies(stage)


async def test_a_death_counts_against_every_run_at_work(stage: Stage) -> None:
    await stage.say("waits in its lane", at=address("idle"))
    done = await stage.claim()
    await stage.finish(done)
    for room in ("a", "b"):
        await stage.say("hello", at=address(room))
    doomed = await lives(stage, "doomed")
    for _ in range(2):
        await claims(stage, doomed)
    await dies(stage)
    assert await crashes(stage) == {"idle": 0, "a": 1, "b": 1}


async def test_joining_alone_counts_too(stage: Stage) -> None:
    await stage.begin()
    await stage.store.cluster.join(NodeId("heir"), "heir", TTL, alone=True)
    assert await crashes(stage) == {"r1": 1}


async def test_a_clean_end_counts_nothing(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.store.cluster.leave(stage.lease)
    assert await crashes(stage) == {"r1": 0}
    heir = await lives(stage, "heir")
    assert (await claims(stage, heir)).run_id == claim.run_id


async def test_after_one_death_a_run_is_claimed_as_ever(stage: Stage) -> None:
    claim = await stage.begin()
    heir = await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=True)
    assert await watches(stage, heir) is None
    again = await claims(stage, heir)
    assert (again.run_id, again.crashes) == (claim.run_id, 1)


async def test_after_two_it_is_a_suspect_and_kept_from_ordinary_claims(stage: Stage) -> None:
    await two_deaths(stage, "a")
    await stage.say("ordinary", at=address("b"))
    assert (await stage.claim()).address == address("b")
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    watched = await watches(stage, stage.lease)
    assert watched is not None
    assert (watched.address, watched.crashes, watched.resumed) == (address("a"), 2, True)


async def test_suspects_are_watched_one_at_a_time(stage: Stage) -> None:
    await two_deaths(stage, "a", "b", "c")
    first = await watches(stage, stage.lease)
    assert first is not None
    assert await watches(stage, stage.lease) is None
    await stage.finish(first)
    second = await watches(stage, stage.lease)
    assert second is not None
    assert second.address != first.address


async def test_nodes_that_look_at_once_watch_one_suspect(stage: Stage) -> None:
    await two_deaths(stage, "a", "b", "c")
    others = [await lives(stage, f"n{n}") for n in range(4)]
    await stage.many()
    found = await asyncio.gather(*(watches(stage, lease) for lease in others))
    assert len([claim for claim in found if claim]) == 1


async def test_a_death_beside_a_suspect_is_the_suspects_own(stage: Stage) -> None:
    await two_deaths(stage, "guilty")
    doomed = await lives(stage, "doomed")
    await stage.say("ordinary", at=address("innocent"))
    await claims(stage, doomed)
    assert await watches(stage, doomed) is not None
    await dies(stage)
    assert await crashes(stage) == {"guilty": 3, "innocent": 0}


async def test_an_innocent_suspect_clears_itself_by_ending_well(stage: Stage) -> None:
    await two_deaths(stage, "innocent")
    watched = await watches(stage, stage.lease)
    assert watched is not None
    assert await stage.finish(watched, "the answer") is not None
    assert await crashes(stage) == {"innocent": 0}
    assert await stage.drain(address("innocent")) == ["the answer"]
    assert await stage.audit("set aside") == []


async def test_a_recorded_model_call_clears_a_run(stage: Stage) -> None:
    await two_deaths(stage, "a")
    watched = await watches(stage, stage.lease)
    assert watched is not None
    await stage.record(watched, step(LIST))
    assert await crashes(stage) == {"a": 0}


async def test_a_recorded_result_clears_a_run_and_a_marker_does_not(stage: Stage) -> None:
    doomed = await lives(stage, "doomed")
    await stage.say("hello")
    first = await claims(stage, doomed)
    await stage.record(first, step(LIST))
    await stage.store.runs.mark_tool(first.lane, first.run_id, 2)
    await dies(stage)
    again = await stage.claim()
    await stage.store.runs.mark_tool(again.lane, again.run_id, 2)
    assert await crashes(stage) == {"r1": 1}
    await stage.store.runs.finish_tool(again.lane, again.run_id, 2, "done")
    assert await crashes(stage) == {"r1": 0}


async def test_a_run_that_parks_is_cleared(stage: Stage) -> None:
    """A call in doubt after a kill is asked about: a person decides whether it runs again, so it is no loop."""
    await two_deaths(stage, "a")
    watched = await watches(stage, stage.lease)
    assert watched is not None
    await stage.record(watched, step(WRITE, StepState.ASKED))
    await stage.write("UPDATE runs SET crashes = 2")
    await stage.store.runs.park(watched.lane, watched.run_id, [stage.ask(watched, 2, WRITE)])
    assert await crashes(stage) == {"a": 0}


async def test_the_cleared_suspect_lets_the_next_one_begin(stage: Stage) -> None:
    await two_deaths(stage, "a", "b")
    first = await watches(stage, stage.lease)
    assert first is not None
    await stage.record(first, step(LIST))
    assert await watches(stage, stage.lease) is not None


@pytest.mark.parametrize("how", ["release", "leave"])
async def test_a_suspect_given_back_stays_one(stage: Stage, how: str) -> None:
    await two_deaths(stage, "a")
    leaver = await lives(stage, "leaver")
    watched = await watches(stage, leaver)
    assert watched is not None
    await (stage.store.runs.release(watched.lane) if how == "release" else stage.store.cluster.leave(leaver))
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    again = await watches(stage, stage.lease)
    assert again is not None
    assert (again.run_id, again.crashes) == (watched.run_id, 2)


async def test_after_the_last_death_it_is_written_down_once(stage: Stage) -> None:
    await two_deaths(stage, "a")
    doomed = await lives(stage, "doomed")
    assert (await watches(stage, doomed)) is not None
    await dies(stage)
    spent = await watches(stage, stage.lease)
    assert spent is not None
    assert spent.crashes == MOST
    await stage.finish(spent, "I set it aside.", RunState.FAILED)
    assert [subject for _, subject, _ in await stage.audit("set aside")] == [spent.run_id]
    assert await stage.column("SELECT detail FROM moves WHERE what = 'process ended' ORDER BY number") == [
        "1",
        "2",
        "3",
    ]
    assert await stage.column("SELECT subject FROM moves WHERE what = 'set aside'") == [spent.run_id]
    assert await stage.drain(address("a")) == ["I set it aside."]
    assert await stage.column("SELECT state FROM sessions WHERE address LIKE '%/a'") == ["idle"]


async def test_what_is_said_meanwhile_waits_for_the_suspect(stage: Stage) -> None:
    await two_deaths(stage, "a")
    taken = await stage.say("are you there?", at=address("a"))
    assert not taken.lane_ready
    watched = await watches(stage, stage.lease)
    assert watched is not None
    released = await stage.finish(watched)
    assert released is not None
    assert released.more


async def test_a_suspect_can_be_stopped(stage: Stage) -> None:
    await two_deaths(stage, "a")
    assert (await stage.stop(at=address("a"))).stop_runs
    watched = await watches(stage, stage.lease)
    assert watched is not None
    assert watched.stop


async def test_operators_see_how_many_are_watched(stage: Stage) -> None:
    assert "runs.suspect" not in await stage.store.operations.counts()
    await two_deaths(stage, "a", "b")
    assert (await stage.store.operations.counts())["runs.suspect"] == 2


async def test_a_lane_kept_apart_for_a_row_that_is_gone_is_idle_and_takes_messages(stage: Stage) -> None:
    await stage.say("hello")
    [key] = await stage.column("SELECT key FROM sessions")
    assert await stage.store.runs.keep_unread(key, stage.lease.node, "ValueError: no role")
    assert not await stage.store.runs.keep_unread(key, stage.lease.node, "ValueError: no role"), "told once"
    assert await stage.audit("conversation unreadable") == [("node-1", key, "ValueError: no role")]
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    await stage.write("UPDATE signals SET state = 'stale'")
    assert await watches(stage, stage.lease) is None
    assert await stage.column("SELECT state FROM sessions") == ["idle"]
    await stage.say("once more")
    assert await claims(stage, stage.lease)


async def test_of_lanes_kept_apart_each_has_its_turn(stage: Stage) -> None:
    for room in ("a", "b"):
        await stage.say("hello", at=address(room))
    for key in await stage.column("SELECT key FROM sessions ORDER BY key"):
        await stage.store.runs.keep_unread(key, stage.lease.node, "ValueError: no role")
        stage.clock.advance(seconds=1)
    [first, second] = await stage.column("SELECT key FROM sessions ORDER BY key")
    await stage.store.runs.keep_unread(first, stage.lease.node, "ValueError: no role")
    claimed = await watches(stage, stage.lease)
    assert claimed is not None
    assert claimed.lane.session == second
