"""Suspend, resume and end of an agent, and the supervisor: what waits, what ends, and who is told, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from runtime.cluster.agent_alarms import AgentAlarms
from runtime.contract import Address, Busy, Choice, Commanded, Identity, NodeId, Person, Said, ScheduleState
from runtime.domain.agents.binding import binding_of
from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.domain.agents.manifest import Manifest
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim, Offer, Taken
from runtime.store.protocol.agents import TurnedAgent
from tests.contract.store.stage import ADA, GATE, OTHER_ROOM, OTTO, ROOM, SHELL, TTL, UMA, Stage, step
from tests.contract.store.test_counted_schedules import planned

OPS: Final = Manifest(name="ops", mentions=("ops",), rooms=("web:main/r*",))
SEVERAL: Final = replace(GATE, agents=(OPS,), bindings=(binding_of(OPS),))
ELSEWHERE: Final = replace(ROOM, room="elsewhere")
WAITS: Final = "ops is suspended: drill. I keep your messages, and it answers them once it's back."


async def turn(stage: Stage, event: AgentEvent, reason: str = "drill") -> TurnedAgent:
    return await stage.store.lives.turn_agent("ops", event, reason, "Otto")


async def say(stage: Stage, text: str, *, actor: Identity = ADA, at: Address = ROOM, offer: bool = False) -> Taken:
    """Said where ops answers."""
    signal = stage.signal(Said(text), actor=actor, at=at)
    return await stage.store.intake.accept(signal, SEVERAL, Offer(stage.lease, Busy.STEER) if offer else None)


async def claim(stage: Stage) -> Claim | None:
    return await stage.store.runs.claim(stage.lease, Busy.STEER)


async def texts(stage: Stage, at: Address = ROOM) -> list[str]:
    return [one.delivery.content.text for one in await stage.waiting(at)]


# ------------------------------------------------------------------------------------------------- suspend and resume


@pytest.mark.parametrize("offer", [True, False])
async def test_messages_for_a_suspended_agent_wait_and_each_sender_is_told_once(stage: Stage, *, offer: bool) -> None:
    assert (await turn(stage, AgentEvent.SUSPEND)).state is AgentState.SUSPENDED
    for text in ("one", "two"):
        taken = await say(stage, text, offer=offer)
        assert (taken.claim, taken.lane_ready) == (None, False)
    await say(stage, "three", actor=UMA, offer=offer)
    await say(stage, "four", at=OTHER_ROOM, offer=offer)
    assert await claim(stage) is None
    assert await texts(stage) == [WAITS, WAITS]
    assert await texts(stage, OTHER_ROOM) == []
    assert await stage.audit("agent.suspended") == [("Otto", "ops", "drill")]


async def test_after_the_resume_all_are_worked_on_in_order(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    for text, room in (("one", ROOM), ("two", OTHER_ROOM), ("three", ROOM)):
        await say(stage, text, actor=UMA, at=room)
        stage.clock.advance(seconds=61)
    assert (await turn(stage, AgentEvent.RESUME, "")).lanes_ready
    first, second = await stage.claim(), await stage.claim()
    assert [first.address, second.address] == [ROOM, OTHER_ROOM]
    heard = [[turn.text for turn in await stage.store.runs.turns(one.lane.session)] for one in (first, second)]
    assert heard == [["one", "three"], ["two"]]
    assert await stage.audit("agent.resumed") == [("Otto", "ops", "")]


async def test_suspended_again_everybody_is_told_again(stage: Stage) -> None:
    for _ in range(2):
        await turn(stage, AgentEvent.SUSPEND)
        await say(stage, "hello")
        stage.clock.advance(seconds=61)
        await turn(stage, AgentEvent.RESUME)
    assert await texts(stage) == [WAITS, WAITS]


async def test_others_go_on_while_one_is_suspended(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "for ops")
    taken = await say(stage, "for main", at=ELSEWHERE, offer=True)
    assert taken.claim is not None
    assert taken.claim.agent == "main"


async def test_a_run_at_work_goes_on_to_its_end_while_its_agent_is_suspended(stage: Stage) -> None:
    await say(stage, "one")
    begun = await stage.claim()
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "two")
    joined = await stage.store.runs.steer(begun.lane, begun.run_id)
    assert joined is not None
    assert joined.waiting == 1
    released = await stage.finish(begun)
    assert released is not None
    assert await claim(stage) is None
    await turn(stage, AgentEvent.RESUME)
    assert (await stage.claim()).agent == "ops"


async def test_a_kill_between_suspend_and_resume_loses_nothing(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    stage.lease = await stage.store.cluster.join(NodeId("node-2"), "two", TTL, alone=True)
    await say(stage, "two")
    assert await claim(stage) is None
    await turn(stage, AgentEvent.RESUME)
    after = await stage.claim()
    assert [turn.text for turn in await stage.store.runs.turns(after.lane.session)] == ["one", "two"]


async def test_the_poller_finds_no_work_in_lanes_of_a_suspended_agent(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    assert not (await stage.store.cluster.agenda(stage.lease.node)).lanes
    await turn(stage, AgentEvent.RESUME)
    assert (await stage.store.cluster.agenda(stage.lease.node)).lanes


async def test_the_status_of_a_room_says_that_its_agent_is_suspended(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    told = await stage.take_in(replace(stage.signal(Commanded("status")), private=2000), SEVERAL)
    assert told.verdict.notice == "Right now in this room:\n\n- 1 message waiting\n- ops is suspended: drill"


async def test_a_room_whose_messages_wait_for_a_suspended_agent_is_not_shown_as_busy(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    await stage.drain()
    assert not (await stage.store.history.view(ROOM)).busy
    await turn(stage, AgentEvent.RESUME)
    assert (await stage.store.history.view(ROOM)).busy


@pytest.mark.parametrize(
    "events",
    [
        (AgentEvent.RESUME,),
        (AgentEvent.SUSPEND, AgentEvent.SUSPEND),
        (AgentEvent.TERMINATE, AgentEvent.RESUME),
        (AgentEvent.TERMINATE, AgentEvent.TERMINATE),
    ],
)
async def test_what_is_no_move_changes_nothing(stage: Stage, events: tuple[AgentEvent, ...]) -> None:
    for event in events[:-1]:
        await turn(stage, event)
    before = await stage.everything()
    assert not (await turn(stage, events[-1])).done
    assert await stage.everything() == before


# ------------------------------------------------------------------------------------------------------------- the end


async def test_an_ended_agents_work_stops_at_its_next_step(stage: Stage) -> None:
    await say(stage, "one")
    begun = await stage.claim()
    ended = await turn(stage, AgentEvent.TERMINATE)
    assert (ended.state, ended.stop_runs) == (AgentState.TERMINATED, (begun.run_id,))
    assert (await stage.record(begun, step(SHELL))).stop
    assert await stage.audit("agent.terminated") == [("Otto", "ops", "drill")]


async def test_what_waits_for_people_ends_with_its_cards(stage: Stage) -> None:
    await say(stage, "do it")
    begun = await stage.claim()
    await stage.record(begun, step(SHELL, StepState.ASKED))
    question = stage.ask(begun, begun.next_step + 1, SHELL)
    assert await stage.store.runs.park(begun.lane, begun.run_id, [question])
    ended = await turn(stage, AgentEvent.TERMINATE)
    assert [one.run for one in ended.ended] == [begun.run_id]
    assert await stage.column("SELECT state FROM runs") == ["stopped"]
    assert (await stage.click(question.id, Choice.APPROVE)).verdict.outcome.value == "unchanged"
    assert "Stopped, because ops has ended: drill." in await texts(stage)


async def test_messages_that_wait_for_an_ended_agent_are_told_and_given_to_no_other(stage: Stage) -> None:
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    await say(stage, "two", actor=UMA)
    await turn(stage, AgentEvent.TERMINATE)
    assert (await texts(stage))[-1] == (
        "ops has ended: drill. 2 messages that waited for it got no answer. If it still matters, ask again: the usual "
        "agent answers here now."
    )
    assert await claim(stage) is None
    assert await stage.column("SELECT state FROM signals ORDER BY id") == ["stale", "stale"]
    assert await stage.rows("SELECT state, waiting FROM sessions") == [("idle", 0)]


async def test_the_room_of_an_ended_agent_falls_to_the_usual_one_and_is_told_once(stage: Stage) -> None:
    await stage.take_in(stage.signal(Commanded("agent", "ops"), actor=OTTO, at=ELSEWHERE), SEVERAL)
    await turn(stage, AgentEvent.TERMINATE)
    for room, usual in ((ELSEWHERE, "The usual agent"), (ROOM, "main")):
        for text in ("hello", "again"):
            taken = await say(stage, text, at=room, offer=True)
            assert taken.claim is not None
            assert taken.claim.agent == "main"
            await stage.finish(taken.claim)
            stage.clock.advance(seconds=61)
        told = [one for one in await texts(stage, room) if "has ended" in one]
        assert told == [f"ops has ended: drill. {usual} answers here now."]


async def test_the_schedules_of_an_ended_agent_end_and_their_rooms_are_told(stage: Stage) -> None:
    schedule = await planned(stage)
    await stage.write("UPDATE schedules SET agent = 'ops'")
    assert (await turn(stage, AgentEvent.TERMINATE)).deliveries == (ROOM,)
    after = await stage.store.schedules.schedule(schedule.id)
    assert after is not None
    assert after.state is ScheduleState.ENDED
    assert await texts(stage) == ["The schedule **news** has ended, because its agent ops has: drill."]


async def test_what_reaches_an_ended_agent_all_the_same_is_worked_on_by_nobody(stage: Stage) -> None:
    """Another node's settings may still name it at that very moment."""
    await turn(stage, AgentEvent.TERMINATE)
    await stage.take_in(stage.signal(Said("late")), replace(GATE, agent="ops"))
    assert (await stage.claim()).agent == "ops (ended)"


async def test_what_was_said_to_an_ended_agent_is_kept(stage: Stage) -> None:
    await say(stage, "one")
    begun = await stage.claim()
    await stage.finish(begun, "answered")
    before = await stage.store.runs.turns(begun.lane.session)
    await turn(stage, AgentEvent.TERMINATE)
    assert await stage.store.runs.turns(begun.lane.session) == before


# ------------------------------------------------------------------------------------------------------ the supervisor


async def fail(stage: Stage, times: int, at: Address = ROOM, state: RunState = RunState.FAILED) -> None:
    for _ in range(times):
        await say(stage, "go", at=at)
        await stage.finish(await stage.claim(), "no answer", state)
        stage.clock.advance(seconds=61)


async def test_an_agent_whose_runs_fail_five_times_in_a_row_is_suspended(stage: Stage) -> None:
    await fail(stage, 4)
    await fail(stage, 1, state=RunState.DONE)
    await fail(stage, 4, OTHER_ROOM)
    assert await stage.store.lives.rows() == []
    await fail(stage, 1)
    (row,) = await stage.store.lives.rows()
    assert (row.name, row.state) == ("ops", AgentState.SUSPENDED)
    assert row.reason == "5 of its runs failed in a row. The last one: no answer"
    assert await stage.audit("agent.suspended") == [("supervisor", "ops", row.reason)]


async def test_once_resumed_it_may_fail_as_often_again(stage: Stage) -> None:
    await fail(stage, 5)
    await turn(stage, AgentEvent.RESUME)
    await fail(stage, 4)
    assert [row.state for row in await stage.store.lives.rows()] == [AgentState.RUNNING]
    await fail(stage, 1)
    assert [row.state for row in await stage.store.lives.rows()] == [AgentState.SUSPENDED]


async def test_the_usual_agent_is_never_suspended_for_failing(stage: Stage) -> None:
    await fail(stage, 6, ELSEWHERE)
    assert await stage.store.lives.rows() == []


async def test_operators_are_told_of_each_suspension_once(stage: Stage) -> None:
    told: list[tuple[str, str]] = []

    async def tell(origin: str, text: str) -> None:
        told.append((origin, text))

    alarms = AgentAlarms(store=stage.store.lives, tell=tell)
    for _ in range(2):
        await fail(stage, 5)
        await alarms.look()
        await alarms.look()
        stage.clock.advance(seconds=1)
        await turn(stage, AgentEvent.RESUME)
    await alarms.look()
    assert [text for _, text in told] == [
        "**The agent ops is suspended**: 5 of its runs failed in a row. The last one: no answer. Messages for it wait. "
        "Once the cause is gone: `signalbox agents resume ops`"
    ] * 2
    assert len({origin for origin, _ in told}) == 2


# ------------------------------------------------------------------------------------------------------ made in a chat


async def test_an_agent_that_was_made_is_noted_with_whoever_asked(stage: Stage) -> None:
    ada = await person(stage, "Ada")
    assert await stage.store.lives.spawn_agent("news", '{"effects": "read"}', ada)
    assert await stage.audit("agent.spawned") == [("Ada", "news", '{"effects": "read"}')]
    assert await stage.rows("SELECT name, state, made_by FROM agents") == [("news", "running", ada.id)]


async def test_one_that_was_ended_is_not_made_again(stage: Stage) -> None:
    ada = await person(stage, "Ada")
    await turn(stage, AgentEvent.TERMINATE)
    assert not await stage.store.lives.spawn_agent("ops", "{}", ada)
    assert await stage.audit("agent.spawned") == []


async def person(stage: Stage, name: str) -> Person:
    return next(one.person for one in await stage.store.people.people() if one.person.name == name)
