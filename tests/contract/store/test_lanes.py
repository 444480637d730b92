"""A lane's life: claimed oldest first, worked on by one owner at a time, and every write of a stale one refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import (
    AssistantTurn,
    Busy,
    Identity,
    NodeId,
    Outcome,
    Role,
    Said,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.domain.programs.token import program_identity
from runtime.domain.routing import RoomRules
from runtime.domain.runs import RunState, StepState
from runtime.domain.transcript import WAITING_FOR_APPROVAL
from runtime.errors import IllegalMove
from runtime.store.protocol import Claim, Lane, Lease, Recorded, Released
from tests.contract.store.stage import ADA, GATE, LIST, OTTO, ROOM, SHELL, TTL, UMA, WRITE, Stage, address, reply, step

# ------------------------------------------------------------------------------------------------------- claiming


async def test_nothing_to_do_is_no_claim(stage: Stage) -> None:
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_the_session_that_waits_longest_is_claimed_first(stage: Stage) -> None:
    for room in ("c", "a", "b"):
        await stage.say("hello", at=address(room))
        stage.clock.advance(seconds=1)
    assert [(await stage.claim()).address.room for _ in range(3)] == ["c", "a", "b"]


async def test_a_claim_tells_whose_run_it_is_and_where(stage: Stage) -> None:
    claim = await stage.begin(actor=UMA)
    assert claim.requester is not None
    assert (claim.requester.name, claim.address, claim.resumed, claim.iterations) == ("Uma", ROOM, False, 0)


async def test_a_working_session_is_not_claimed_again(stage: Stage) -> None:
    await stage.begin("one")
    await stage.say("two")
    assert await stage.store.runs.claim(stage.lease, Busy.FOLLOWUP) is None


async def test_a_dead_node_claims_nothing(stage: Stage) -> None:
    await stage.say("hello")
    assert await stage.store.runs.claim(Lease(stage.lease.node, stage.lease.fence + 1), Busy.STEER) is None


async def test_an_unknown_node_claims_nothing(stage: Stage) -> None:
    await stage.say("hello")
    assert await stage.store.runs.claim(Lease(NodeId("ghost"), 1), Busy.STEER) is None


@pytest.mark.parametrize("busy", [Busy.STEER, Busy.COLLECT])
async def test_all_that_wait_share_the_next_run(stage: Stage, busy: Busy) -> None:
    for text in ("one", "two", "three"):
        await stage.say(text)
    claim = await stage.claim(busy)
    assert await stage.store.runs.turns(claim.lane.session) == [UserTurn(t, "Ada") for t in ("one", "two", "three")]


async def test_a_message_that_came_late_is_heard_where_it_was_said(stage: Stage) -> None:
    """The connection on which Slack told it first was dead: it comes again, after one that was said later."""
    first = await stage.begin("one")
    for text, at in (("three", "1700000003.000000"), ("two", "1700000002.000000"), ("four", "1700000004.000000")):
        await stage.take_in(replace(stage.signal(Said(text)), message_id=at))
    joined = await stage.store.runs.steer(first.lane, first.run_id)
    assert joined is not None
    heard = [UserTurn(text, "Ada") for text in ("one", "two", "three", "four")]
    assert await stage.store.runs.turns(first.lane.session) == heard


async def test_with_followup_each_message_gets_a_run_of_its_own(stage: Stage) -> None:
    for text in ("one", "two"):
        await stage.say(text)
    first = await stage.claim(Busy.FOLLOWUP)
    assert await stage.finish(first) == Released(more=True)
    second = await stage.claim(Busy.FOLLOWUP)
    assert second.run_id != first.run_id
    assert (await stage.store.runs.turns(first.lane.session))[-1] == UserTurn("two", "Ada")


async def test_a_message_during_a_run_waits_for_the_next(stage: Stage) -> None:
    first = await stage.begin("one")
    await stage.say("two")
    assert await stage.finish(first) == Released(more=True)
    assert (await stage.claim(Busy.COLLECT)).run_id != first.run_id


async def test_a_run_with_nothing_behind_it_leaves_the_lane_idle(stage: Stage) -> None:
    assert await stage.finish(await stage.begin()) == Released(more=False)
    assert await stage.rows("SELECT state, owner, waiting, resumable FROM sessions") == [("idle", None, 0, 0)]


async def test_two_hundred_waiting_sessions_are_claimed_once_each(stage: Stage) -> None:
    for n in range(200):
        await stage.say("hello", at=address(f"r{n}"))
    claims = [await stage.claim() for _ in range(200)]
    assert len({claim.lane.session for claim in claims}) == 200
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


# ---------------------------------------------------------------------------------------------------------- steps


async def test_a_model_step_leaves_a_valid_history(stage: Stage) -> None:
    claim = await stage.begin("list them")
    await stage.record(claim, step(LIST), step(WRITE, StepState.ASKED), step(SHELL, StepState.DONE, "Not allowed."))
    assert await stage.store.runs.turns(claim.lane.session) == [
        UserTurn("list them", "Ada"),
        AssistantTurn("", (LIST, WRITE, SHELL)),
        ToolTurn(LIST.id, LIST.tool, WAITING_FOR_APPROVAL),
        ToolTurn(WRITE.id, WRITE.tool, WAITING_FOR_APPROVAL),
        ToolTurn(SHELL.id, SHELL.tool, "Not allowed."),
    ]


async def test_a_model_step_tells_which_calls_are_left(stage: Stage) -> None:
    claim = await stage.begin()
    recorded = await stage.record(claim, step(LIST), step(SHELL, StepState.DONE, "no"), step(WRITE, StepState.ASKED))
    assert [(s.number, s.call, s.state) for s in recorded.steps] == [
        (2, LIST, StepState.OPEN),
        (4, WRITE, StepState.ASKED),
    ]


async def test_a_result_takes_the_place_of_its_placeholder(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST), step(WRITE))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 3)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 3, "written")
    assert (await stage.store.runs.turns(claim.lane.session))[2:] == [
        ToolTurn(LIST.id, LIST.tool, WAITING_FOR_APPROVAL),
        ToolTurn(WRITE.id, WRITE.tool, "written"),
    ]


async def test_usage_is_kept_once_a_model_call(stage: Stage) -> None:
    claim = await stage.begin(actor=UMA)
    await stage.record(claim, step(LIST))
    await stage.store.runs.finish(claim.lane, claim.run_id, 3, reply("done"), RunState.DONE, "done", [])
    used = Usage("demo", 10, 5, 7)
    sql = "SELECT step, agent, address, model, input_tokens, output_tokens, cost_micros FROM usage ORDER BY step"
    rest = ("main", str(ROOM), used.model, used.input_tokens, used.output_tokens, used.cost_micros)
    assert await stage.rows(sql) == [(1, *rest), (3, *rest)]


async def test_a_step_is_timed_by_its_marker_and_its_result(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    stage.clock.advance(seconds=3)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "x")
    run = await stage.store.operations.run(claim.run_id)
    assert run is not None
    tool = run[1][1]
    assert tool.started_at is not None
    assert tool.ended_at == tool.started_at + timedelta(seconds=3)


async def test_what_a_tool_did_is_audited(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "x")
    assert [subject for _, subject, _ in await stage.audit("tool ran")] == [f"{claim.run_id}/2"]


@pytest.mark.parametrize("state", [StepState.ASKED, StepState.DONE])
async def test_only_an_open_step_is_marked(stage: Stage, state: StepState) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST, state))
    before = await stage.everything()
    with pytest.raises(IllegalMove):
        await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.everything() == before


async def test_a_result_without_a_marker_is_refused(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST))
    with pytest.raises(IllegalMove):
        await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "x")


async def test_a_write_tells_how_many_wait(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.say("one")
    await stage.say("two")
    assert (await stage.record(claim, step(LIST))).waiting == 2
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2) == Recorded(waiting=2)


async def test_steered_messages_join_the_run_before_its_next_call(stage: Stage) -> None:
    claim = await stage.begin("one", actor=OTTO)
    await stage.say("two", actor=OTTO)
    await stage.say("three")
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=0)
    assert (await stage.store.runs.turns(claim.lane.session))[1:] == [UserTurn("two", "Otto"), UserTurn("three", "Ada")]
    assert await stage.finish(claim) == Released(more=False)


async def test_what_somebody_of_less_rights_says_waits_and_so_does_what_is_behind_it(stage: Stage) -> None:
    claim = await stage.begin("one", actor=OTTO)
    await stage.say("two")
    await stage.say("three", actor=UMA)
    await stage.say("four", actor=OTTO)
    for _ in range(2):  # the second look finds the same
        assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=2)
    assert (await stage.store.runs.turns(claim.lane.session))[1:] == [UserTurn("two", "Ada")]
    assert await stage.finish(claim) == Released(more=True)
    second = await stage.claim()
    assert second.requester is not None
    assert second.requester.name == "Uma"
    assert (await stage.store.runs.turns(claim.lane.session))[-2:] == [
        UserTurn("three", "Uma"),
        UserTurn("four", "Otto"),
    ]


@pytest.mark.parametrize("busy", [Busy.STEER, Busy.COLLECT])
async def test_of_all_who_share_a_run_the_one_who_began_it_has_the_least_rights(stage: Stage, busy: Busy) -> None:
    for number, who in enumerate([UMA, OTTO, ADA, OTTO, UMA, ADA, UMA]):
        await stage.say(str(number), actor=who)
    claim = await stage.claim(busy)
    assert claim.requester is not None
    assert claim.requester.name == "Uma"
    assert await stage.finish(claim) == Released(more=False)

    for number, who in enumerate([ADA, OTTO, ADA, UMA, ADA, UMA]):
        await stage.say(f"more {number}", actor=who)
    for name, texts in [("Ada", {"more 0"}), ("Otto", {"more 1", "more 2"}), ("Uma", {"more 3", "more 4", "more 5"})]:
        claim = await stage.claim(busy)
        assert claim.requester is not None
        assert claim.requester.name == name
        mine = await stage.column("SELECT text FROM signals WHERE run_id = :run", run=claim.run_id)
        assert set(mine) == texts
        await stage.finish(claim)
    assert await stage.store.runs.claim(stage.lease, busy) is None


async def test_what_a_role_is_by_now_counts(stage: Stage) -> None:
    claim = await stage.begin("one", actor=OTTO)
    await stage.say("two", actor=UMA)
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=1)
    await stage.write("UPDATE people SET role = :role WHERE name = 'Uma'", role=int(Role.OWNER))
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=0)


async def test_somebody_who_was_forgotten_has_no_rights_to_lend(stage: Stage) -> None:
    claim = await stage.begin("one", actor=OTTO)
    await stage.say("two", actor=UMA)
    await stage.write("DELETE FROM people WHERE name = 'Uma'")
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=1)
    await stage.write("DELETE FROM people WHERE name = 'Otto'")
    await stage.say("three")
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=0)
    assert [turn.author for turn in await stage.store.runs.turns(claim.lane.session) if isinstance(turn, UserTurn)] == [
        *("Otto", "Uma", "Ada")
    ]


BOT = Identity("web:ci")
BOTS = replace(GATE, rooms=RoomRules(bots=frozenset([BOT])))


async def of_program(stage: Stage, text: str) -> None:
    signal = replace(stage.signal(Said(text), actor=BOT), by_bot=True)
    assert (await stage.take_in(signal, BOTS)).verdict.outcome is Outcome.ACCEPTED


async def test_what_a_program_says_joins_no_run_of_a_person_even_of_the_same_role(stage: Stage) -> None:
    claim = await stage.begin("one", actor=UMA)
    await of_program(stage, "beep")
    await stage.say("two", actor=UMA)
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=2)
    await stage.finish(claim)
    own = await stage.claim()
    assert own.requester is not None
    assert own.requester.name == "Ci (web:ci)"
    assert own.requester.role is Role.USER


async def test_a_program_and_people_may_join_its_own_run(stage: Stage) -> None:
    await of_program(stage, "beep")
    claim = await stage.claim()
    await of_program(stage, "boop")
    await stage.say("what is this?", actor=UMA)
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=0)


async def test_a_program_with_a_token_joins_no_run_of_a_person(stage: Stage) -> None:
    """What it says is a wish of its own, so it is no bot; but a person's run has that person's rights."""
    program = program_identity("ci")
    assert await stage.store.people.add_person("ci", Role.OWNER, [program], actor="test")
    claim = await stage.begin("one", actor=UMA)
    await stage.say("beep", actor=program)
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=1)


async def test_a_program_of_high_role_joins_nobody_either(stage: Stage) -> None:
    assert await stage.store.people.add_person("Robot", Role.OWNER, [BOT], actor="test")
    claim = await stage.begin("one", actor=UMA)
    await of_program(stage, "beep")
    assert await stage.store.runs.steer(claim.lane, claim.run_id) == Recorded(waiting=1)


async def test_a_note_is_a_turn_of_nobody(stage: Stage) -> None:
    claim = await stage.begin("one")
    await stage.store.runs.note(claim.lane, claim.run_id, "decided meanwhile")
    assert (await stage.store.runs.turns(claim.lane.session))[1:] == [UserTurn("decided meanwhile", "")]


# -------------------------------------------------------------------------------------------------------- endings


@pytest.mark.parametrize("state", [RunState.DONE, RunState.FAILED, RunState.STOPPED])
async def test_a_run_ends_with_its_last_words(stage: Stage, state: RunState) -> None:
    claim = await stage.begin()
    await stage.finish(claim, "the end", state)
    (run,) = await stage.store.operations.runs()
    assert (run.state, run.ended_at, run.signals) == (state, stage.clock(), ("hello",))
    assert run.error == {RunState.DONE: "", RunState.STOPPED: "Stopped."}.get(state, "the end")
    assert (await stage.store.runs.turns(claim.lane.session))[-1] == AssistantTurn("the end")


async def test_the_end_and_its_delivery_are_one(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.finish(claim, "the end")
    assert await stage.drain() == ["the end"]


async def test_an_end_closes_what_was_open(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST), step(WRITE), step(SHELL, StepState.ASKED))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 3)
    await stage.store.runs.finish(claim.lane, claim.run_id, 5, None, RunState.STOPPED, "Stopped.", [])
    assert await stage.column("SELECT DISTINCT state FROM steps") == ["done"]
    results = [turn.text for turn in await stage.store.runs.turns(claim.lane.session) if isinstance(turn, ToolTurn)]
    assert results == ["Not finished: Stopped."] * 3


async def test_an_end_without_a_model_call_has_no_model_step(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.store.runs.finish(claim.lane, claim.run_id, 1, None, RunState.FAILED, "The model is away.", [])
    run = await stage.store.operations.run(claim.run_id)
    assert run is not None
    assert (run[0].iterations, run[1]) == (0, [])


async def test_ended_runs_are_not_resumed(stage: Stage) -> None:
    first = await stage.begin("one")
    await stage.finish(first)
    second = await stage.begin("two")
    assert (second.resumed, second.run_id == first.run_id) == (False, False)


# --------------------------------------------------------------------------------------------- giving back, dying


async def test_a_released_run_goes_on_where_it_stood(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST), step(WRITE))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.release(claim.lane)
    again = await stage.claim()
    assert (again.run_id, again.resumed, again.iterations, again.next_step) == (claim.run_id, True, 1, 4)
    assert [s.state for s in again.steps] == [StepState.MARKED, StepState.OPEN]


async def test_a_lane_given_back_twice_is_given_back_once(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.store.runs.release(claim.lane)
    again = await stage.claim()
    await stage.store.runs.release(claim.lane)
    assert await stage.rows("SELECT state, fence FROM sessions") == [("running", again.lane.fence)]


async def test_a_dead_nodes_run_goes_on_elsewhere(stage: Stage) -> None:
    node = await stage.store.cluster.join(NodeId("doomed"), "", TTL, alone=False)
    await stage.say("hello")
    doomed = await stage.store.runs.claim(node, Busy.STEER)
    assert doomed is not None
    await stage.record(doomed, step(LIST), step(SHELL))
    await stage.store.runs.mark_tool(doomed.lane, doomed.run_id, 3)
    stage.clock.advance(seconds=6)
    assert await stage.store.cluster.reap() == 1
    heir = await stage.claim()
    assert (heir.run_id, heir.resumed) == (doomed.run_id, True)
    assert [(s.call, s.state) for s in heir.steps] == [(LIST, StepState.OPEN), (SHELL, StepState.MARKED)]


async def test_a_resumed_run_is_not_overtaken(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST))
    await stage.store.runs.release(claim.lane)
    assert not (await stage.claim()).overtaken


async def test_a_parked_run_that_others_passed_is_overtaken(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.finish(await stage.begin("something else"))
    await stage.click(parked.approvals[0])
    assert (await stage.claim()).overtaken


async def test_a_parked_run_that_nobody_passed_is_not_overtaken(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    assert not (await stage.claim()).overtaken


# --------------------------------------------------------------------------------------------------------- fences

Write = Callable[[Stage, Claim], Awaitable[object]]
WRITES: dict[str, Write] = {
    "record_model": lambda s, c: s.store.runs.record_model(c.lane, c.run_id, 3, reply("", SHELL), [step(SHELL)]),
    "mark_tool": lambda s, c: s.store.runs.mark_tool(c.lane, c.run_id, 2),
    "finish_tool": lambda s, c: s.store.runs.finish_tool(c.lane, c.run_id, 2, "x"),
    "steer": lambda s, c: s.store.runs.steer(c.lane, c.run_id),
    "note": lambda s, c: s.store.runs.note(c.lane, c.run_id, "x"),
    "park": lambda s, c: s.store.runs.park(c.lane, c.run_id, [s.ask(c, 2, LIST)]),
    "finish": lambda s, c: s.finish(c),
    "release": lambda s, c: s.store.runs.release(c.lane),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("owner", ["nobody", "another", "itself again"])
async def test_a_stale_owners_write_changes_nothing(stage: Stage, write: str, owner: str) -> None:
    node = await stage.store.cluster.join(NodeId("stale"), "", TTL, alone=False)
    await stage.say("hello")
    stale = await stage.store.runs.claim(node, Busy.STEER)
    assert stale is not None
    await stage.record(stale, step(LIST))
    await stage.say("more")
    if owner == "itself again":
        await stage.store.runs.release(stale.lane)
        assert await stage.store.runs.claim(node, Busy.STEER) is not None
    else:
        stage.clock.advance(seconds=6)
        await stage.store.cluster.reap()
    if owner == "another":
        await stage.claim()
    before = await stage.everything()
    assert await WRITES[write](stage, stale) is None
    assert await stage.everything() == before


@pytest.mark.parametrize("write", WRITES)
async def test_a_lane_that_does_not_exist_is_nobodys(stage: Stage, write: str) -> None:
    claim = await stage.begin()
    ghost = Claim(
        Lane(claim.lane.session, claim.lane.node, claim.lane.fence + 1),
        claim.agent,
        claim.run_id,
        claim.address,
        claim.requester,
        resumed=False,
        iterations=0,
        next_step=1,
        stop=False,
    )
    before = await stage.everything()
    assert await WRITES[write](stage, ghost) is None
    assert await stage.everything() == before


async def test_a_finished_lane_refuses_its_old_owner(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.finish(claim)
    assert await stage.finish(claim) is None


# --------------------------------------------------------------------------------------------------- while parked


async def test_a_parked_run_gives_its_lane_up(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    (run,) = await stage.store.operations.runs(state=RunState.PARKED)
    assert run.id == parked.run


async def test_parking_with_messages_behind_it_leaves_the_lane_ready(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(SHELL, StepState.ASKED))
    await stage.say("meanwhile")
    assert await stage.store.runs.park(claim.lane, claim.run_id, [stage.ask(claim, 2, SHELL)]) == Released(more=True)


async def test_others_are_served_while_a_run_waits_and_see_the_open_call(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    other = await stage.begin("what now?", actor=ADA)
    seen: list[Turn] = await stage.store.runs.turns(other.lane.session)
    assert other.run_id != parked.run
    assert seen[-2:] == [ToolTurn(SHELL.id, SHELL.tool, WAITING_FOR_APPROVAL), UserTurn("what now?", "Ada")]


async def test_a_cut_call_whose_outcome_is_asked_waits_for_its_answer(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(SHELL))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.release(claim.lane)
    again = await stage.claim()
    await stage.store.runs.park(again.lane, again.run_id, [stage.ask(again, 2, SHELL)])
    assert await stage.column("SELECT state FROM steps WHERE kind = 'tool'") == [StepState.ASKED]
