"""Nothing is written by a courier that lost its duty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import NodeId
from runtime.domain.deliveries import PartState
from tests.contract.store.sending import ACTS, SOON, WIRES, marked, queued, rendered, unsettled
from tests.contract.store.stage import TTL, Stage, address

BEFORE = {
    "render": queued,
    "render_shown": queued,
    "mark": rendered,
    "look_again": unsettled,
    "absent": unsettled,
    "repeat": unsettled,
    "hold": unsettled,
}


@pytest.mark.parametrize("act", ACTS)
async def test_a_lost_duty_changes_nothing(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, marked)(stage)
    await stage.store.cluster.leave(stage.lease)
    heir = await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=False)
    await stage.duty(lease=heir)
    before = await stage.everything()
    assert not await ACTS[act](sending, sending.duty)
    assert await stage.everything() == before


@pytest.mark.parametrize("act", ACTS)
async def test_an_older_fence_of_a_duty_changes_nothing(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, marked)(stage)
    before = await stage.everything()
    assert not await ACTS[act](sending, replace(sending.duty, fence=sending.duty.fence - 1))
    assert await stage.everything() == before


@pytest.mark.parametrize("act", [act for act in ACTS if act not in ("adopt", "pause")])
async def test_a_discarded_delivery_is_not_moved_any_more(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, rendered)(stage)
    assert await stage.store.operations.discard(sending.id, "Ada")
    before = await stage.everything()
    assert not await ACTS[act](sending, sending.duty)
    assert await stage.everything() == before


async def test_a_new_courier_looks_for_what_the_old_one_was_sending(stage: Stage) -> None:
    sending = await marked(stage)
    sent_at = stage.clock()
    other = await stage.enqueue(at=address("elsewhere"))
    await stage.store.outbox.render(sending.duty, other, WIRES, mark=False)
    stage.clock.advance(seconds=3)
    assert await stage.store.outbox.adopt(sending.duty, "web", "main", SOON)
    row = await sending.row()
    assert (row.parts[0].state, row.not_before) == (PartState.UNSETTLED, sent_at + SOON)
    assert await stage.column("SELECT state FROM parts WHERE delivery_id = :d", d=other) == ["pending"] * 3


async def test_a_courier_leaves_the_parts_of_other_accounts_alone(stage: Stage) -> None:
    sending = await marked(stage)
    assert await stage.store.outbox.adopt(sending.duty, "web", "another", SOON)
    assert (await sending.part()).state is PartState.MARKED
