"""Ends of tasks and changes of agents fire the triggers that wait for them, once each."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from runtime.contract import RunId, SessionKey, TaskActor
from runtime.contract.agents.tasks import PostedTask, TaskRequest
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.triggers.trigger import EventKind, EventTrigger
from tests.contract.store.stage import OTHER_ROOM, ROOM, Stage
from tests.contract.store.test_trigger_fires import begun, kept

SAYS: Final = "Say so."


async def waiting_for(stage: Stage, kind: EventKind, to: str = "") -> None:
    await kept(stage, EventTrigger("t1", "told", kind, prompt=SAYS, agent="main", to=to))


@pytest.mark.parametrize("failed", [False, True])
async def test_the_end_of_a_task_fires_once_and_no_other_end_does(stage: Stage, failed: bool) -> None:
    await waiting_for(stage, EventKind.TASK_FAILED if failed else EventKind.TASK_DONE)
    by = TaskActor(ROOM, SessionKey("s"), RunId("r1"), None, "k1")
    for outcome in (not failed, failed):
        task = await stage.store.tasks.post(TaskRequest(f"Compare {outcome}", "compare"), replace(by, key=str(outcome)))
        assert isinstance(task, PostedTask)
        await stage.store.tasks.claim(task.id, by)
        for _ in range(2):  # a call that was cut is made again
            await stage.store.tasks.complete(task.id, "the second one", by, failed=outcome)
    (report,) = await begun(stage)
    assert (report.to, report.because) == ((ROOM,), "a task failed" if failed else "a task is done")
    assert "the second one" in report.task.text


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        (EventKind.AGENT_SUSPENDED, AgentEvent.SUSPEND),
        (EventKind.AGENT_RESUMED, AgentEvent.RESUME),
        (EventKind.AGENT_TERMINATED, AgentEvent.TERMINATE),
    ],
)
async def test_a_change_of_an_agent_fires_its_trigger_alone(stage: Stage, kind: EventKind, event: AgentEvent) -> None:
    await waiting_for(stage, kind, str(OTHER_ROOM))
    for one in (AgentEvent.SUSPEND, AgentEvent.RESUME, AgentEvent.TERMINATE, AgentEvent.TERMINATE):
        await stage.store.lives.turn_agent("ops", one, f"drill {one}", "Otto")
    (report,) = await begun(stage)
    assert report.to == (OTHER_ROOM,)
    assert f"ops: drill {event}" in report.task.text


async def test_an_agent_that_is_made_fires(stage: Stage) -> None:
    await waiting_for(stage, EventKind.AGENT_SPAWNED, str(OTHER_ROOM))
    (ada,) = [one.person for one in await stage.store.people.people() if one.person.name == "Ada"]
    await stage.store.lives.spawn_agent("news", "{}", ada)
    (report,) = await begun(stage)
    assert (report.to, report.because) == ((OTHER_ROOM,), "an agent was made")
    assert "news" in report.task.text
