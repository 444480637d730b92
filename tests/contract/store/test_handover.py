"""What is saved by doing two things in one commit, and that it is done only where nothing is lost by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import Busy, Kind, Outcome, Receipt, RunId, Said, Wire
from runtime.domain.runs import RunState
from runtime.store.protocol import Claim, Duty, Lease, NewDelivery, Offer, Released, Rendered, Taken
from runtime.store.runs import run_begin
from tests.contract.store.stage import GATE, OTHER_ROOM, ROOM, SHELL, Stage, reply

LINES = (Wire("part one", "plain one"), Wire("part two"))
SLIPS = (Receipt("m1"), Receipt("m2"))


async def offered(stage: Stage, text: str = "hello", lease: Lease | None = None) -> Taken:
    """Taken in by a node that has room for one more run."""
    return await stage.store.intake.accept(stage.signal(Said(text)), GATE, Offer(lease or stage.lease, Busy.STEER))


async def begun(stage: Stage, text: str = "hello") -> Claim:
    taken = await offered(stage, text)
    assert taken.claim is not None
    return taken.claim


async def finish(stage: Stage, claim: Claim, final: NewDelivery) -> Released:
    done = await stage.store.runs.finish(
        claim.lane, claim.run_id, claim.next_step, reply("done"), RunState.DONE, "done", [final]
    )
    assert done is not None
    return done


async def handed(stage: Stage, claim: Claim, duty: Duty | None) -> NewDelivery:
    """By a courier that sends under `duty`, or without one for a channel whose screen is our store."""
    return replace(stage.final(claim), rendered=Rendered(duty, LINES, () if duty else SLIPS))


async def parts(stage: Stage) -> list[tuple[object, ...]]:
    return await stage.rows("SELECT state, attempts, receipt, node FROM parts ORDER BY delivery_id, ordinal")


# ------------------------------------------------------------------------------------- a message and its run's start


async def test_a_message_for_an_idle_session_begins_its_run_in_the_commit(stage: Stage) -> None:
    taken = await offered(stage)
    assert taken.verdict.outcome is Outcome.ACCEPTED
    assert taken.claim is not None
    assert taken.claim.run_id == RunId(taken.verdict.signal_id)
    assert (taken.claim.resumed, taken.lane_ready) == (False, False)
    assert await stage.rows("SELECT state, owner, waiting FROM sessions") == [("running", stage.lease.node, 0)]
    assert await stage.rows("SELECT state, run_id FROM signals") == [("consumed", taken.claim.run_id)]
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_a_claim_brings_the_transcript_that_a_reading_would_find(stage: Stage) -> None:
    await stage.finish(await begun(stage, "first"), "answer")
    claim = await begun(stage, "second")
    assert claim.turns == tuple(await stage.store.runs.turns(claim.lane.session))
    assert [turn.text for turn in claim.turns or ()] == ["first", "answer", "second"]


async def test_a_long_transcript_stays_where_it_is(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer must not be kept by reading."""
    monkeypatch.setattr(run_begin, "NEAR", 3)
    await stage.finish(await begun(stage, "first"))
    assert (await begun(stage, "second")).turns is None


async def test_a_message_for_a_session_at_work_waits(stage: Stage) -> None:
    await begun(stage)
    taken = await offered(stage, "and another")
    assert (taken.claim, taken.lane_ready) == (None, False)
    assert await stage.column("SELECT waiting FROM sessions") == [1]


async def test_a_run_that_people_decided_about_goes_first(stage: Stage) -> None:
    """An offer is for the session: what is ready there longest is begun, as with any claim."""
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    claim = await begun(stage, "meanwhile")
    assert (claim.run_id, claim.resumed) == (parked.run, True)
    assert await stage.column("SELECT waiting FROM sessions") == [1]


async def test_the_offer_of_a_dead_node_is_not_taken(stage: Stage) -> None:
    taken = await offered(stage, lease=replace(stage.lease, fence=stage.lease.fence + 1))
    assert (taken.claim, taken.lane_ready) == (None, True)
    assert await stage.column("SELECT state FROM sessions") == ["ready"]


async def test_an_event_delivered_twice_begins_once(stage: Stage) -> None:
    signal, offer = stage.signal(Said("hello")), Offer(stage.lease, Busy.STEER)
    first, second = [await stage.store.intake.accept(signal, GATE, offer) for _ in range(2)]
    assert first.claim is not None
    assert (second.claim, second.verdict.outcome) == (None, Outcome.DUPLICATE)


async def test_lanes_of_tells_what_the_node_owns(stage: Stage) -> None:
    claim = await begun(stage)
    assert await stage.store.runs.lanes_of(stage.lease) == [claim.lane]
    await stage.finish(claim)
    assert await stage.store.runs.lanes_of(stage.lease) == []


# -------------------------------------------------------------------------------- a reply and its showing


async def test_a_reply_whose_screen_is_our_store_is_shown_by_the_commit_that_ends_its_run(stage: Stage) -> None:
    claim, node = await begun(stage), stage.lease.node
    final = await handed(stage, claim, None)
    assert (await finish(stage, claim, final)).begun == {final.id}
    assert await parts(stage) == [("shown", 0, "m1", node), ("shown", 0, "m2", node)]
    assert await stage.rows("SELECT state FROM deliveries WHERE settled_at IS NOT NULL") == [("shown",)]
    assert await stage.column("SELECT count(*) FROM signals WHERE answered_at IS NULL") == [0]
    assert [subject for _, subject, _ in await stage.audit("shown")] == [final.id]
    assert await stage.waiting() == []


async def test_a_reply_to_be_sent_has_its_first_marker_with_the_commit_that_ends_its_run(stage: Stage) -> None:
    claim, duty = await begun(stage), await stage.duty()
    final = await handed(stage, claim, duty)
    assert (await finish(stage, claim, final)).begun == {final.id}
    assert await parts(stage) == [("marked", 1, None, duty.node), ("pending", 0, None, None)]
    (open_,) = await stage.waiting()
    assert [(part.body, part.fallback) for part in open_.parts] == [(w.body, w.fallback) for w in LINES]
    assert await stage.store.outbox.checkpoint(duty, final.id, 1, SLIPS[0])
    assert await stage.store.outbox.mark(duty, final.id, 2)
    assert await stage.store.outbox.checkpoint(duty, final.id, 2, SLIPS[1])
    assert await stage.column("SELECT count(*) FROM signals WHERE answered_at IS NULL") == [0]


@pytest.mark.parametrize("stored", [True, False])
async def test_what_waits_at_its_address_goes_first(stored: bool, stage: Stage) -> None:
    claim, duty = await begun(stage), await stage.duty()
    await stage.enqueue(kind=Kind.APPROVAL)
    final = await handed(stage, claim, None if stored else duty)
    assert (await finish(stage, claim, final)).begun == frozenset()
    assert await parts(stage) == []
    assert [open_.delivery.kind for open_ in await stage.waiting()] == [Kind.APPROVAL, Kind.FINAL]


async def test_what_waits_elsewhere_does_not_hold_it_up(stage: Stage) -> None:
    claim, duty = await begun(stage), await stage.duty()
    await stage.enqueue(at=OTHER_ROOM)
    final = await handed(stage, claim, duty)
    assert (await finish(stage, claim, final)).begun == {final.id}


async def test_a_courier_that_lost_its_duty_marks_nothing(stage: Stage) -> None:
    """Its marker would let two send."""
    claim, duty = await begun(stage), await stage.duty()
    final = await handed(stage, claim, replace(duty, fence=duty.fence - 1))
    assert (await finish(stage, claim, final)).begun == frozenset()
    assert await parts(stage) == []
    assert [open_.delivery.id for open_ in await stage.waiting(ROOM)] == [final.id]
