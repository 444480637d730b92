"""Rows of processes: bounded by conversation, moved by a table, ended by a stop, and lost with their node."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from runtime.contract import Address, NodeId, RunId, Stopped
from runtime.contract.agents.processes import Process, ProcessEvent, ProcessState, Starter
from runtime.domain.agents.processes import ENDED_WITH_NODE
from runtime.store.common import session_key
from tests.contract.store.stage import OTHER_ROOM, ROOM, UMA, Stage

OWN = NodeId("node-1")


def starter(room: Address = ROOM, run: str = "run") -> Starter:
    return Starter("main", session_key("main", room), room, RunId(run), "call-1")


async def begun(stage: Stage, by: Starter | None = None, node: NodeId = OWN) -> Process:
    made = await stage.store.processes.begin_process("sleep 60", by or starter(), node, 5)
    assert made is not None
    return made


async def states(stage: Stage) -> list[ProcessState]:
    return [one.state for one in reversed(await stage.store.processes.processes())]


async def test_a_conversation_has_so_many_at_once(stage: Stage) -> None:
    first = [await begun(stage) for _ in range(5)]
    assert await stage.store.processes.begin_process("sleep 60", starter(), OWN, 5) is None
    await begun(stage, starter(OTHER_ROOM))
    await stage.store.processes.happen(first[0].id, ProcessEvent.EXIT, 0, "")
    await begun(stage)
    (ended,) = await stage.store.processes.processes_named(first[0].id[-6:])
    assert (ended.state, ended.exit, ended.ended_at) == (ProcessState.ENDED, 0, stage.clock())
    assert not await stage.store.processes.happen(first[0].id, ProcessEvent.STOP, None, "too late")
    assert [subject for _, subject, _ in await stage.audit("process ended")] == [first[0].id]


async def test_those_of_a_dead_node_are_told_as_ended_with_it(stage: Stage) -> None:
    await stage.store.cluster.join(NodeId("node-2"), "two", timedelta(seconds=5), alone=False)
    lost, kept = await begun(stage, node=NodeId("node-2")), await begun(stage)
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap(but=OWN)
    found = {one.id: one for one in await stage.store.processes.processes(session_key("main", ROOM))}
    assert (found[lost.id].state, found[lost.id].reason) == (ProcessState.LOST, ENDED_WITH_NODE)
    assert found[kept.id].state is ProcessState.RUNNING
    assert [subject for _, subject, _ in await stage.audit("process lost")] == [lost.id]


async def test_a_stop_ends_the_processes_of_its_room_and_threads(stage: Stage) -> None:
    thread = replace(ROOM, thread="t")
    for room in (ROOM, thread, OTHER_ROOM):
        await begun(stage, starter(room))
    taken = await stage.stop()
    assert await states(stage) == [ProcessState.STOPPING, ProcessState.STOPPING, ProcessState.RUNNING]
    assert taken.verdict.notice == "Stopped 2 processes."
    wanted = await stage.store.processes.to_stop(OWN)
    assert [reason for _, reason in wanted] == ["Stopped by Ada."] * 2
    for process, _ in wanted:
        await stage.store.processes.happen(process, ProcessEvent.EXIT, 143, "")
    assert await states(stage) == [ProcessState.STOPPED, ProcessState.STOPPED, ProcessState.RUNNING]
    assert (await stage.stop()).verdict.notice == "There's nothing to stop here."


async def test_a_stop_of_ones_own_leaves_those_of_others_alone(stage: Stage) -> None:
    claim = await stage.begin(actor=UMA)
    await begun(stage, starter(run=claim.run_id))
    await begun(stage, starter(run="another"))

    await stage.take_in(stage.signal(Stopped(own=True), actor=UMA))
    assert await states(stage) == [ProcessState.STOPPING, ProcessState.RUNNING]
