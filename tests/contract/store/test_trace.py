"""A trail is all rows of one message, with the times and nodes of everything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import (
    Busy,
    Commanded,
    Kind,
    NodeId,
    Outcome,
    Receipt,
    Said,
    Urgency,
    Wire,
)
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim
from tests.contract.store.stage import (
    GATE,
    LIST,
    ROOM,
    SHELL,
    STRANGER,
    TTL,
    Stage,
    step,
)
from tests.contract.store.tracing import REASON, not_rendered, trail


async def worked(stage: Stage, claim: Claim) -> None:
    """A reading tool call and the reply, each a second after the other."""
    stage.clock.advance(seconds=1)
    await stage.record(claim, step(LIST))
    stage.clock.advance(seconds=1)
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    stage.clock.advance(seconds=1)
    assert await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    stage.clock.advance(seconds=1)
    assert await stage.finish(replace(claim, next_step=3), "There is a.txt.")


async def test_a_trail_has_the_times_and_nodes_of_everything(stage: Stage) -> None:
    start = stage.clock()
    claim = await stage.begin("list the files")
    await worked(stage, claim)
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    stage.clock.advance(seconds=1)
    assert await stage.store.outbox.render(duty, delivery, [Wire("There is a.txt.")], mark=True)
    stage.clock.advance(seconds=1)
    assert await stage.store.outbox.checkpoint(duty, delivery, 1, Receipt("m1"))

    def after(at: object) -> float:
        return (at - start).total_seconds()  # type: ignore[operator, no-any-return]  # a missing time fails the test

    found = await trail(stage, claim.run_id)
    (signal,), (model, tool, last), (reply,) = found.signals, found.steps, found.deliveries
    assert found.run is not None
    assert (signal.who, signal.text, after(signal.accepted_at), after(signal.answered_at)) == (
        "Ada",
        "list the files",
        0,
        6,
    )
    assert (found.run.state, found.run.requester, found.run.node) == (RunState.DONE, "Ada", "node-1")
    assert (model.is_model, model.tool, after(model.ended_at), model.node) == (True, "demo", 1, "node-1")
    assert model.spent is not None
    assert (model.spent.input_tokens, model.spent.output_tokens, model.spent.cost_micros) == (10, 5, 7)
    assert (tool.tool, tool.effect, after(tool.started_at), after(tool.ended_at)) == ("list_files", "read", 2, 3)
    assert (tool.result, tool.node, after(last.ended_at)) == ("a.txt", "node-1", 4)
    assert (reply.id, reply.kind, reply.text, after(reply.created_at)) == (delivery, Kind.FINAL, "There is a.txt.", 4)
    (part,) = reply.parts
    assert (part.attempts, after(part.marked_at), after(part.shown_at), part.receipt, part.node) == (
        1,
        5,
        6,
        "m1",
        "node-1",
    )
    assert found.labels == {"node-1": "one"}
    assert (found.behind, found.moves, found.approvals) == (None, (), ())


async def test_every_id_of_a_message_leads_to_the_same_run(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    twin = await stage.say("do it")
    await stage.click(parked.approvals[0])
    claim = await stage.claim()
    late = await stage.say("and hurry")
    assert await stage.store.runs.steer(claim.lane, claim.run_id)
    found = await trail(stage, parked.run)
    deliveries = [one.id for one in found.deliveries]
    assert len(deliveries) == 2  # the card, and the settled card
    for about in (twin.verdict.signal_id, late.verdict.signal_id, parked.approvals[0], *deliveries):
        assert replace(await trail(stage, about), about=found.about) == found
    assert {one.id for one in found.signals} == {parked.run, twin.verdict.signal_id, late.verdict.signal_id}
    assert [one.id for one in found.approvals] == list(parked.approvals)


async def test_the_time_at_which_a_later_message_joined_is_known(stage: Stage) -> None:
    claim = await stage.begin("list the files")
    stage.clock.advance(seconds=1)
    late = await stage.say("and hurry")
    await stage.record(claim, step(LIST))
    stage.clock.advance(seconds=2)
    assert await stage.store.runs.note(claim.lane, claim.run_id, "our own words")
    assert await stage.store.runs.steer(claim.lane, claim.run_id)
    joined = {one.id: one.joined_at for one in (await trail(stage, claim.run_id)).signals}
    assert joined == {claim.run_id: None, late.verdict.signal_id: stage.clock()}


async def test_it_is_known_which_run_a_message_waited_behind(stage: Stage) -> None:
    first = await stage.begin("one")
    stage.clock.advance(seconds=1)
    await stage.say("two")
    waiting = await stage.store.traces.recent(ROOM, limit=1)
    assert (await trail(stage, waiting[0].id)).behind == first.run_id
    stage.clock.advance(seconds=1)
    await stage.finish(first)
    stage.clock.advance(seconds=1)
    second = await stage.claim()
    assert (await trail(stage, second.run_id)).behind == first.run_id
    assert (await trail(stage, first.run_id)).behind is None


async def test_a_run_that_had_ended_or_parked_before_was_not_waited_for(stage: Stage) -> None:
    first = await stage.begin("one")
    stage.clock.advance(seconds=1)
    await stage.finish(first)
    stage.clock.advance(seconds=1)
    parked = await stage.park(SHELL, text="two")
    stage.clock.advance(seconds=1)
    third = await stage.begin("three")
    assert (await trail(stage, parked.run)).behind is None
    assert (await trail(stage, third.run_id)).behind is None


async def test_a_run_that_parked_while_another_message_waited_was_waited_for(stage: Stage) -> None:
    first = await stage.begin("one")
    await stage.record(first, step(SHELL, StepState.ASKED))
    stage.clock.advance(seconds=1)
    await stage.say("two")
    stage.clock.advance(seconds=1)
    assert await stage.store.runs.park(first.lane, first.run_id, [stage.ask(first, 2, SHELL)])
    second = await stage.claim(Busy.FOLLOWUP)
    assert (await trail(stage, second.run_id)).behind == first.run_id


async def test_a_message_that_nothing_came_of_has_a_trail_too(stage: Stage) -> None:
    refused = await stage.say("let me in", actor=STRANGER)
    found = await trail(stage, refused.verdict.signal_id)
    assert [(one.state, one.text) for one in found.signals] == [("refused", "")]
    assert [one.what for one in found.moves] == [Outcome.REFUSED]
    assert found.moves[0].detail.startswith("I don't know you yet.")
    assert found.run is None


async def test_a_message_merged_with_one_that_waits_shows_both(stage: Stage) -> None:
    first = await stage.say("hello")
    stage.clock.advance(seconds=1)
    second = await stage.say("hello")
    found = await trail(stage, second.verdict.signal_id)
    assert [(one.id, one.state) for one in found.signals] == [
        (first.verdict.signal_id, "waiting"),
        (second.verdict.signal_id, "merged"),
    ]


async def test_a_report_without_a_run_has_a_trail(stage: Stage) -> None:
    delivery = await not_rendered(stage)
    found = await trail(stage, delivery[0])
    assert [(one.id, one.reason) for one in found.deliveries] == [(delivery[0], REASON)]
    assert [one.what for one in found.moves] == ["give-up"]
    assert found.labels == {"node-1": "one"}


async def test_moves_of_the_run_and_of_its_deliveries_are_in_order(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.store.runs.release(claim.lane)
    claim = await stage.claim()
    stage.clock.advance(seconds=1)
    await stage.finish(claim)
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    assert await stage.store.outbox.render(duty, delivery, [Wire("x")], mark=True)
    stage.clock.advance(seconds=1)
    assert await stage.store.outbox.retry(duty, delivery, 1, stage.clock(), REASON)
    found = await trail(stage, claim.run_id)
    assert [(one.subject, one.what) for one in found.moves] == [(claim.run_id, "resume"), (delivery, "retry")]


async def test_a_node_that_is_not_kept_any_more_has_no_label(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.write("DELETE FROM nodes")
    found = await trail(stage, claim.run_id)
    assert (found.labels, found.run and found.run.node) == ({}, "node-1")
    assert found.gone == {"node-1"}


async def test_a_node_that_gives_no_sign_any_more_is_known_to_be_gone(stage: Stage) -> None:
    brief = await stage.store.cluster.join(NodeId("node-0"), "zero", TTL, alone=False)
    await stage.say("hello")
    claim = await stage.store.runs.claim(brief, Busy.STEER)
    assert claim is not None
    assert (await trail(stage, claim.run_id)).gone == frozenset()
    stage.clock.advance(seconds=TTL.total_seconds())
    assert (await trail(stage, claim.run_id)).gone == {"node-0"}
    await stage.store.cluster.reap()
    assert (await trail(stage, claim.run_id)).gone == {"node-0"}


async def test_where_the_run_is_not_kept_its_message_and_its_reply_are(stage: Stage) -> None:
    claim = await stage.begin("hello")
    await stage.finish(claim)
    await stage.write("DELETE FROM runs")
    found = await trail(stage, claim.run_id)
    assert found.run is None
    assert ([one.text for one in found.signals], [one.text for one in found.deliveries]) == (["hello"], ["done"])
    assert replace(await trail(stage, found.deliveries[0].id), about=found.about) == found


@pytest.mark.parametrize("about", ["", "nothing", "\0", "x" * 5000])
async def test_what_is_not_there_has_no_trail(stage: Stage, about: str) -> None:
    await stage.say("hello")
    assert await stage.store.traces.trail(about) is None


async def test_a_command_leads_to_its_answer_and_the_answer_to_the_command(stage: Stage) -> None:
    taken = await stage.take_in(stage.signal(Commanded("status")))
    (waiting,) = await stage.waiting()
    for about in (taken.verdict.signal_id, waiting.delivery.id):
        found = await trail(stage, about)
        assert [(one.kind, one.text) for one in found.signals] == [("commanded", "/status")]
        assert [one.id for one in found.deliveries] == [waiting.delivery.id]


async def test_a_stranger_and_their_pairing_code_are_one_trail(stage: Stage) -> None:
    taken = await stage.say("let me in", actor=STRANGER, gate=replace(GATE, pairs=True))
    found = await trail(stage, taken.verdict.signal_id)
    assert [one.state for one in found.signals] == ["refused"]
    assert [one.origin for one in found.deliveries] == [f"signal:{taken.verdict.signal_id}"]


async def test_what_was_observed_is_no_run_that_had_the_lane(stage: Stage) -> None:
    await stage.take_in(replace(stage.signal(Said("by the way")), urgency=Urgency.LOW))
    claim = await stage.begin("and now?")
    assert (await trail(stage, claim.run_id)).behind is None
