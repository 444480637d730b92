"""What became of a message is read from its rows, and whatever went another way than straight on has left one row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import (
    Busy,
    Commanded,
    DeliveryId,
    Kind,
    NodeId,
    Outcome,
    Receipt,
    Said,
    Urgency,
    Wire,
)
from runtime.runs import RunState, StepState
from runtime.store.admission import STRANGER as STRANGER_TOLD
from runtime.store.protocol import Claim, Duty
from runtime.trails import Candidate, Thing, Trail
from tests.contract.store.stage import (
    ADA,
    GATE,
    LIST,
    OTHER_ROOM,
    ROOM,
    SHELL,
    STRANGER,
    TTL,
    VERA,
    Stage,
    step,
)

REASON = "the platform said 500"
CUT = "part 1: its courier ended between sending and checkpoint"
Row = tuple[str, str | None, str, str]


async def moves(stage: Stage) -> list[Row]:
    """(subject, node, what, detail) of each move, oldest first."""
    return await stage.rows("SELECT subject, node, what, detail FROM moves ORDER BY number")


async def trail(stage: Stage, about: str) -> Trail:
    found = await stage.store.trail(about)
    assert found is not None
    return found


async def sent(stage: Stage, *, ordinal: int = 1, parts: int = 1) -> tuple[Duty, DeliveryId]:
    """A delivery of which a part is marked."""
    duty, delivery = await stage.duty(), await stage.enqueue()
    assert await stage.store.render(duty, delivery, [Wire(f"p{n}", "plain") for n in range(1, parts + 1)], mark=True)
    for number in range(1, ordinal):
        assert await stage.store.checkpoint(duty, delivery, number, Receipt(f"m{number}"))
        assert await stage.store.mark(duty, delivery, number + 1)
    return duty, delivery


async def doubted(stage: Stage) -> tuple[Duty, DeliveryId]:
    """A delivery that is being looked for; its own move is forgotten."""
    duty, delivery = await sent(stage)
    assert await stage.store.doubt(duty, delivery, 1, stage.clock(), REASON)
    await stage.write("DELETE FROM moves")
    return duty, delivery


async def given_up(stage: Stage) -> DeliveryId:
    duty, delivery = await sent(stage)
    assert await stage.store.give_up(duty, delivery, 1, REASON)
    await stage.write("DELETE FROM moves")
    return delivery


# ------------------------------------------------------------------------------------------- one row for each of them


async def _retry(stage: Stage) -> Row:
    duty, delivery = await sent(stage, ordinal=2, parts=2)
    assert await stage.store.retry(duty, delivery, 2, stage.clock(), REASON)
    return delivery, "node-1", "retry", f"part 2: {REASON}"


async def _doubt(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.doubt(duty, delivery, 1, stage.clock(), REASON)
    return delivery, "node-1", "doubt", f"part 1: {REASON}"


async def _adopt(stage: Stage) -> Row:
    _, delivery = await sent(stage)
    duty = await stage.duty("another role")
    assert await stage.store.adopt(duty, "web", "main", timedelta(seconds=10))
    return delivery, "node-1", "doubt", CUT


async def _looked(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.look_again(duty, delivery, 1, stage.clock(), counted=True)
    return delivery, "node-1", "look", "part 1: being looked for: not there yet"


async def _could_not_look(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.look_again(duty, delivery, 1, stage.clock(), counted=False)
    return delivery, "node-1", "look", "part 1: being looked for: the platform could not be asked"


async def _absent(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.absent(duty, delivery, 1)
    return delivery, "node-1", "absent", "part 1"


async def _repeat(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.repeat(duty, delivery, 1)
    return delivery, "node-1", "repeat", "part 1"


async def _plain(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.plain(duty, delivery, 1)
    return delivery, "node-1", "plain", "part 1"


async def _hold(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.hold(duty, delivery, 1, REASON)
    return delivery, "node-1", "hold", f"part 1: {REASON}"


async def _give_up(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.give_up(duty, delivery, 1, REASON)
    return delivery, "node-1", "give-up", f"part 1: {REASON}"


async def _not_rendered(stage: Stage) -> Row:
    duty, delivery = await stage.duty(), await stage.enqueue()
    assert await stage.store.give_up(duty, delivery, None, REASON)
    return delivery, "node-1", "give-up", REASON


async def _requeue(stage: Stage) -> Row:
    delivery = await given_up(stage)
    assert await stage.store.requeue(delivery, "Otto")
    return delivery, None, "requeue", "Otto"


async def _discard(stage: Stage) -> Row:
    delivery = await given_up(stage)
    assert await stage.store.discard(delivery, "Otto")
    return delivery, None, "discard", "Otto"


async def _taken_over(stage: Stage) -> Row:
    first = await stage.store.join(NodeId("node-0"), "zero", TTL, alone=False)
    await stage.say("hello")
    assert await stage.store.claim(first, Busy.STEER)
    await stage.store.leave(first)
    return (await stage.claim()).run_id, "node-1", "resume", "node-0"


async def _given_back(stage: Stage) -> Row:
    claim = await stage.begin()
    await stage.store.release(claim.lane)
    return (await stage.claim()).run_id, "node-1", "resume", "node-1"


async def _stopped(stage: Stage) -> Row:
    claim = await stage.begin()
    await stage.stop()
    return claim.run_id, None, "stop", "Ada"


async def _stopped_while_parked(stage: Stage) -> Row:
    parked = await stage.park(SHELL)
    await stage.stop()
    return parked.run, None, "stop", "Ada"


async def _refused(stage: Stage) -> Row:
    taken = await stage.say("let me in", actor=STRANGER)
    return taken.verdict.signal_id, None, "refused", STRANGER_TOLD


async def _click_refused(stage: Stage) -> Row:
    parked = await stage.park(SHELL)
    taken = await stage.click(parked.approvals[0], actor=VERA)
    return parked.run, None, "click refused", f"Vera: {taken.verdict.notice}"


STRAY: dict[str, Callable[[Stage], Awaitable[Row]]] = {
    "a part that was not shown": _retry,
    "a part that was perhaps shown": _doubt,
    "a part whose courier died": _adopt,
    "a look that found nothing": _looked,
    "a look that could not be made": _could_not_look,
    "a part that is absent": _absent,
    "a part sent again with a mark": _repeat,
    "a part refused for its form": _plain,
    "a part on hold": _hold,
    "a part given up": _give_up,
    "a delivery that cannot be rendered": _not_rendered,
    "a delivery requeued": _requeue,
    "a delivery discarded": _discard,
    "a run whose node is gone": _taken_over,
    "a run given back": _given_back,
    "a stop while it works": _stopped,
    "a stop while it is parked": _stopped_while_parked,
    "a message the gate refused": _refused,
    "a click that does not count": _click_refused,
}


@pytest.mark.parametrize("what", STRAY)
async def test_what_goes_another_way_leaves_exactly_one_row(stage: Stage, what: str) -> None:
    expected = await STRAY[what](stage)
    assert await moves(stage) == [expected]


async def test_the_straight_way_leaves_none(stage: Stage) -> None:
    claim = await stage.begin("list the files")
    await stage.record(claim, step(LIST))
    assert await stage.store.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.store.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    assert await stage.finish(replace(claim, next_step=3))
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    assert await stage.store.render(duty, delivery, [Wire("1"), Wire("2")], mark=True)
    assert await stage.store.checkpoint(duty, delivery, 1, Receipt("m1"))
    assert await stage.store.mark(duty, delivery, 2)
    assert await stage.store.checkpoint(duty, delivery, 2, Receipt("m2"))
    assert await moves(stage) == []


async def test_neither_does_a_question_and_its_answer(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    claim = await stage.claim()
    assert await stage.store.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.store.finish_tool(claim.lane, claim.run_id, 2, "Linux")
    assert await stage.finish(claim)
    await stage.drain()
    assert await moves(stage) == []


async def test_a_courier_that_lost_its_duty_leaves_none(stage: Stage) -> None:
    duty, delivery = await sent(stage)
    stale = replace(duty, fence=duty.fence - 1)
    assert not await stage.store.retry(stale, delivery, 1, stage.clock(), REASON)
    assert not await stage.store.give_up(stale, delivery, 1, REASON)
    assert not await stage.store.adopt(stale, "web", "main", timedelta(seconds=10))
    assert await moves(stage) == []


async def test_what_cannot_be_requeued_or_discarded_leaves_none(stage: Stage) -> None:
    _, delivery = await sent(stage)
    assert await stage.store.requeue(delivery, "Otto") is None
    assert await stage.store.discard(delivery, "Otto") is None
    assert await moves(stage) == []


# -------------------------------------------------------------------------------------------------- what may be meant


def ids(found: list[Candidate]) -> list[str]:
    return [one.id for one in found]


async def test_an_id_is_found_whatever_it_names(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    report = await stage.enqueue("the report")
    (signal,) = await stage.store.find(parked.run)
    (approval,) = await stage.store.find(parked.approvals[0])
    (delivery,) = await stage.store.find(report)
    assert (signal.thing, signal.text, signal.who, signal.state) == (Thing.SIGNAL, "do it", "Ada", "at work")
    assert (approval.thing, approval.text, approval.who, approval.state) == (Thing.APPROVAL, "shell", "Ada", "pending")
    assert (delivery.thing, delivery.text, delivery.state) == (Thing.DELIVERY, "the report", "queued")
    assert {one.address for one in (signal, approval, delivery)} == {ROOM}


async def test_a_run_is_found_when_its_message_is_not_kept_any_more(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.write("DELETE FROM signals")
    (found,) = await stage.store.find(claim.run_id)
    assert (found.thing, found.who) == (Thing.RUN, "Ada")
    assert (await trail(stage, claim.run_id)).signals == ()


async def test_the_first_characters_are_enough_where_they_are_unlike_others(stage: Stage) -> None:
    ours = await stage.say("one")
    await stage.write("UPDATE signals SET id = 'QQ' || substr(id, 3)")
    await stage.say("two", at=OTHER_ROOM)
    begins = f"QQ{ours.verdict.signal_id[2:6]}"
    assert [one.text for one in await stage.store.find(begins)] == ["one"]
    assert [one.text for one in await stage.store.find(begins.lower())] == []


async def test_several_that_begin_alike_are_listed_newest_first_up_to_a_limit(stage: Stage) -> None:
    for number in range(4):
        await stage.say(f"m{number}", at=replace(ROOM, room=f"r{number}"))
        stage.clock.advance(seconds=1)
    await stage.write("UPDATE signals SET id = 'QQQQ' || text")
    assert [one.text for one in await stage.store.find("QQQQ", limit=3)] == ["m3", "m2", "m1"]


@pytest.mark.parametrize("words", ["", "Q", "QQQ", "%%%%", "____", "QQQ%", "Q' OR 1=1", "QQ\0QQ", "é" * 30, "x" * 5000])
async def test_what_is_no_id_finds_nothing(stage: Stage, words: str) -> None:
    await stage.say("hello")
    await stage.write("UPDATE signals SET id = 'QQQQ' || id")
    assert await stage.store.find(words) == []


async def test_the_id_that_the_page_gave_a_message_finds_it(stage: Stage) -> None:
    for key, text in (
        (f"{ADA}#page-id-0001", "by page"),
        (f"console:{ADA}#console-0001", "by command"),
        ("77", "by wire"),
    ):
        signal = replace(stage.signal(Said(text)), dedupe_key=key, platform=f"account of {key}")
        await stage.take_in(signal)
    found = [await stage.store.find(words) for words in ("page-id-0001", "console-0001", "77", "page-id")]
    assert [[one.text for one in each] for each in found] == [["by page"], ["by command"], ["by wire"], []]


async def test_the_newest_messages_are_listed_of_all_rooms_or_of_one(stage: Stage) -> None:
    for number in range(6):
        room, text = (OTHER_ROOM, "there") if number % 2 else (ROOM, "here")
        taken = await stage.say(f"{text} {number // 2}", at=room)
        # Ids begin with their time; these are made in one and the same millisecond.
        await stage.write("UPDATE signals SET id = :n WHERE id = :id", n=f"{number}", id=taken.verdict.signal_id)
        stage.clock.advance(seconds=1)
    await stage.stop()
    assert [one.text for one in await stage.store.recent(ROOM)] == ["here 2", "here 1", "here 0"]
    everywhere = [one.text for one in await stage.store.recent(limit=4)]
    assert everywhere == ["there 2", "here 2", "there 1", "here 1"]


async def test_the_state_in_a_list_tells_how_far_it_came(stage: Stage) -> None:
    await stage.say("waits")
    assert [one.state for one in await stage.store.recent()] == ["waiting"]
    claim = await stage.claim()
    assert [one.state for one in await stage.store.recent()] == ["at work"]
    await stage.finish(claim)
    await stage.drain()
    assert [one.state for one in await stage.store.recent()] == ["answered"]


async def test_platforms_are_those_that_something_came_from(stage: Stage) -> None:
    assert await stage.store.platforms() == []
    for platform in ("b", "a", "b"):
        await stage.take_in(replace(stage.signal(Said("x")), platform=platform))
    assert await stage.store.platforms() == ["a", "b"]


# ---------------------------------------------------------------------------------------------------------- the trail


async def worked(stage: Stage, claim: Claim) -> None:
    """A reading tool call and the reply, each a second after the other."""
    stage.clock.advance(seconds=1)
    await stage.record(claim, step(LIST))
    stage.clock.advance(seconds=1)
    assert await stage.store.mark_tool(claim.lane, claim.run_id, 2)
    stage.clock.advance(seconds=1)
    assert await stage.store.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    stage.clock.advance(seconds=1)
    assert await stage.finish(replace(claim, next_step=3), "There is a.txt.")


async def test_a_trail_has_the_times_and_nodes_of_everything(stage: Stage) -> None:
    start = stage.clock()
    claim = await stage.begin("list the files")
    await worked(stage, claim)
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    stage.clock.advance(seconds=1)
    assert await stage.store.render(duty, delivery, [Wire("There is a.txt.")], mark=True)
    stage.clock.advance(seconds=1)
    assert await stage.store.checkpoint(duty, delivery, 1, Receipt("m1"))

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
    assert await stage.store.steer(claim.lane, claim.run_id)
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
    assert await stage.store.note(claim.lane, claim.run_id, "our own words")
    assert await stage.store.steer(claim.lane, claim.run_id)
    joined = {one.id: one.joined_at for one in (await trail(stage, claim.run_id)).signals}
    assert joined == {claim.run_id: None, late.verdict.signal_id: stage.clock()}


async def test_it_is_known_which_run_a_message_waited_behind(stage: Stage) -> None:
    first = await stage.begin("one")
    stage.clock.advance(seconds=1)
    await stage.say("two")
    waiting = await stage.store.recent(ROOM, limit=1)
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
    assert await stage.store.park(first.lane, first.run_id, [stage.ask(first, 2, SHELL)])
    second = await stage.claim(Busy.FOLLOWUP)
    assert (await trail(stage, second.run_id)).behind == first.run_id


async def test_a_message_that_nothing_came_of_has_a_trail_too(stage: Stage) -> None:
    refused = await stage.say("let me in", actor=STRANGER)
    found = await trail(stage, refused.verdict.signal_id)
    assert [(one.state, one.text) for one in found.signals] == [("refused", "")]
    assert [one.what for one in found.moves] == [Outcome.REFUSED]
    assert found.moves[0].detail.startswith("I do not know you.")
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
    delivery = await _not_rendered(stage)
    found = await trail(stage, delivery[0])
    assert [(one.id, one.reason) for one in found.deliveries] == [(delivery[0], REASON)]
    assert [one.what for one in found.moves] == ["give-up"]
    assert found.labels == {"node-1": "one"}


async def test_moves_of_the_run_and_of_its_deliveries_are_in_order(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.store.release(claim.lane)
    claim = await stage.claim()
    stage.clock.advance(seconds=1)
    await stage.finish(claim)
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    assert await stage.store.render(duty, delivery, [Wire("x")], mark=True)
    stage.clock.advance(seconds=1)
    assert await stage.store.retry(duty, delivery, 1, stage.clock(), REASON)
    found = await trail(stage, claim.run_id)
    assert [(one.subject, one.what) for one in found.moves] == [(claim.run_id, "resume"), (delivery, "retry")]


async def test_a_node_that_is_not_kept_any_more_has_no_label(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.write("DELETE FROM nodes")
    found = await trail(stage, claim.run_id)
    assert (found.labels, found.run and found.run.node) == ({}, "node-1")
    assert found.gone == {"node-1"}


async def test_a_node_that_gives_no_sign_any_more_is_known_to_be_gone(stage: Stage) -> None:
    brief = await stage.store.join(NodeId("node-0"), "zero", TTL, alone=False)
    await stage.say("hello")
    claim = await stage.store.claim(brief, Busy.STEER)
    assert claim is not None
    assert (await trail(stage, claim.run_id)).gone == frozenset()
    stage.clock.advance(seconds=TTL.total_seconds())
    assert (await trail(stage, claim.run_id)).gone == {"node-0"}
    await stage.store.reap()
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
    assert await stage.store.trail(about) is None


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
