"""Work in the background: begun at once, done beside the room's lane, and its end told exactly once."""

from __future__ import annotations

import random

import pytest

from runtime.contract import (
    ApprovalKind,
    Choice,
    Effect,
    ModelReply,
    ModelRequest,
    OnText,
    TaskState,
    UserTurn,
    no_probe,
)
from runtime.domain.runs import RunState
from runtime.errors import ModelFailed
from runtime.store.tasks.turning import Turned
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    READ,
    SHELL,
    UMA,
    VERA,
    WRITE,
    Crash,
    Process,
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned, Strict
from tests.contract.runtime.test_crash import FREE, ROOMS, crash_by_chance

POINTS = ["accepted", "claimed", "model-answered", "step-recorded", "tool-marked", "tool-finished", "delivery-stored"]
BEGUN = "I'm on it: task **compare the offers**"
TOLD = "**Task done: compare the offers**\n\nTake the second."


class Failing(Strict):
    """A model whose vendor answers only from the n-th time on."""

    def __init__(self, from_: int) -> None:
        super().__init__([])
        self.asked, self._from = 0, from_

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.asked += 1
        if self.asked < self._from:
            raise ModelFailed("The model is away.")
        self._answers = ["Take the second."]
        return await super().reply(request, on_text)


class Acting(Failing):
    """The same, but its first answer is a call that writes."""

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if self.asked:
            return await super().reply(request, on_text)
        self.asked, self._answers = 1, [WRITE]
        return await Strict.reply(self, request, on_text)


async def told(stage: Stage) -> list[str]:
    """The final messages of the room, without the ids in them."""
    return [text.partition(" (`")[0] for text in await stage.answers()]


@pytest.mark.parametrize("point", ["accepted", "claimed", "delivery-stored"])
async def test_a_task_that_is_killed_is_done_and_told_once_on_every_store(point: str, any_stage: Stage) -> None:
    await cut(any_stage, point)


@pytest.mark.parametrize("point", POINTS)
async def test_a_task_that_is_killed_at_any_point_is_done_and_told_once(point: str, stage: Stage) -> None:
    await cut(stage, point)


async def cut(stage: Stage, point: str) -> None:
    """The process dies at `point`, and the platform tells of the command again."""
    model, tool = Planned(READ, end="Take the second."), fake_tool("look", Effect.READ)
    before = await stage.process(model, [tool], probe=crash_at(point))
    if point == "accepted":
        with pytest.raises(Crash):
            await before.say("/task compare the offers", key="t-1")
    else:
        await before.say("/task compare the offers", key="t-1")
        await before.until_crash()
    stage.clock.advance(LEASE)
    after = await stage.process(model, [tool])
    await after.say("/task compare the offers", key="t-1")
    await after.answer_all()
    assert await told(stage) == [BEGUN, TOLD]
    [task] = await stage.store.tasks.tasks()
    assert (task.state, task.result, task.attempts) == (TaskState.DONE, "Take the second.", 1)


async def test_a_room_goes_on_while_its_task_waits_for_people(stage: Stage) -> None:
    shell = fake_tool("shell", Effect.DANGER)
    process = await stage.process(Planned(SHELL, end="Linux"), [shell])
    await process.say("/task which system is it?")
    await process.answer_all()
    [asked] = await stage.pending()
    assert "“which system is it?”" in (await stage.screen())[-1]
    [task] = await stage.store.tasks.tasks()
    assert task.asks
    process.ask(Planned(end="hello"))
    await process.say("hi")
    await process.answer_all()
    assert (await told(stage))[-1] == "hello"
    process.ask(Planned(SHELL, end="Linux"))
    await process.click(asked.id)
    await process.answer_all()
    assert (await told(stage))[-1] == "**Task done: which system is it?**\n\nLinux"
    assert len(shell.calls) == 1


async def test_a_task_reads_its_own_request_and_nothing_of_the_room(stage: Stage) -> None:
    model = Planned(end="ok")
    process = await stage.process(model)
    await process.say("a secret of the room")
    await process.answer_all()
    await process.say("/task compare the offers\nThey are in a.txt and b.txt.")
    await process.answer_all()
    [turn] = model.requests[-1].turns
    assert isinstance(turn, UserTurn)
    assert "They are in a.txt and b.txt." in turn.text
    assert "a secret" not in turn.text
    assert "Task done: compare the offers" in (await stage.answers())[-1]


async def test_nothing_of_a_task_is_shown_before_its_end(stage: Stage) -> None:
    process = await stage.process(Planned(READ, end="ok"), [fake_tool("look", Effect.READ)])
    await process.say("/task look")
    await process.answer_all()
    assert process.page.seen == []


async def test_a_task_that_fails_is_tried_three_times_told_once_and_tried_again_by_an_operators_word(
    stage: Stage,
) -> None:
    process = await stage.process(model := Failing(4))
    await process.say("/task compare the offers")
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    assert (task.state, task.attempts, model.asked) == (TaskState.FAILED, 3, 3)
    assert await told(stage) == [BEGUN, "**Task failed: compare the offers**\n\nThe model is away."]
    [ada] = [known.person for known in await stage.store.people.people() if known.person.name == "Ada"]
    assert isinstance(await stage.store.tasks.retry_task(task.id[-6:], ada), Turned)
    await process.answer_all()
    assert (await told(stage))[-1] == TOLD
    assert await stage.store.tasks.retry_task(task.id, ada) == (
        "This task is done: only one that failed or was dropped can be tried again."
    )


async def test_a_task_that_has_changed_something_is_not_begun_anew(stage: Stage) -> None:
    process = await stage.process(model := Acting(9), [write := fake_tool("write", Effect.WRITE)], rules=FREE)
    await process.say("/task compare the offers")
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    assert (task.state, task.attempts, len(write.calls), model.asked) == (TaskState.FAILED, 1, 1, 2)
    assert await told(stage) == [BEGUN, "**Task failed: compare the offers**\n\nThe model is away."]


# ------------------------------------------------------------------------------------------------------- what people do


async def test_a_dropped_task_ends_its_run_and_withdraws_its_question(stage: Stage) -> None:
    shell = fake_tool("shell", Effect.DANGER)
    process = await stage.process(Planned(SHELL, end="Linux"), [shell])
    await process.say("/task which system is it?")
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    await process.say(f"/tasks drop {task.id[-6:]}", who=OTTO)
    await process.answer_all()
    assert await stage.pending() == []
    assert await stage.states() == [RunState.STOPPED]
    stopped = "**Task stopped: which system is it?**\n\nStopped by Otto."
    assert sorted((await told(stage))[1:]) == [stopped, "Dropped: **which system is it?**."]
    await process.say("/tasks")
    await process.answer_all()
    assert "**which system is it?**: dropped, asked by Ada" in (await stage.answers())[-1]


async def test_a_task_that_is_dropped_before_it_begins_never_begins(stage: Stage) -> None:
    process = await stage.process(model := Planned(end="ok"))
    await process.say("/task compare the offers")
    [task] = await stage.store.tasks.tasks()
    await process.say(f"/tasks drop {task.id}")
    await process.answer_all()
    assert model.requests == []
    assert await stage.states() == []
    assert await told(stage) == [BEGUN, "Dropped: **compare the offers**."]


async def test_a_stop_in_the_room_ends_its_tasks(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("/task which system is it?")
    await process.answer_all()
    await process.stop()
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    assert task.state is TaskState.DROPPED


async def test_viewers_neither_post_nor_drop_tasks(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("/task which system is it?", who=VERA)
    await process.answer_all()
    assert await stage.store.tasks.tasks() == []
    await process.say("/task which system is it?", who=ADA)
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    await process.say(f"/tasks drop {task.id}", who=VERA)
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    assert task.state is TaskState.CLAIMED


async def test_a_removed_persons_tasks_are_dropped_and_work_for_nobody(stage: Stage) -> None:
    process = await stage.process(model := Planned(end="ok"))
    await process.say("/task compare the offers", who=UMA)
    await stage.store.people.remove("Uma", actor="Ada")
    await process.answer_all()
    assert model.requests == []
    [task] = await stage.store.tasks.tasks()
    assert (task.state, task.result) == (TaskState.DROPPED, "Uma was removed.")
    [ada] = [known.person for known in await stage.store.people.people() if known.person.name == "Ada"]
    assert "it would work for nobody" in str(await stage.store.tasks.retry_task(task.id, ada))


async def test_two_people_who_are_one_have_their_tasks_together(stage: Stage) -> None:
    process = await stage.process(Planned(end="ok"))
    await process.say("/task compare the offers", who=UMA)
    await stage.store.people.merge("Uma", "Ada", actor="Ada")
    await process.answer_all()
    [task] = await stage.store.tasks.tasks()
    assert (task.posted_by, task.state) == ("Ada", TaskState.DONE)


@pytest.mark.parametrize(
    ("words", "told_of"),
    [
        ("/task", "Say `/task` and what to do"),
        ("/tasks", "There are no tasks here."),
        ("/tasks drop zzzzzz", "No task is called 'zzzzzz'."),
        ("/tasks away", "I understand `/tasks` and `/tasks drop ID`."),
    ],
)
async def test_a_command_that_can_do_nothing_says_so(words: str, told_of: str, stage: Stage) -> None:
    process = await stage.process(Planned())
    await process.say(words)
    await process.answer_all()
    [answer] = await stage.answers()
    assert answer.startswith(told_of)


# --------------------------------------------------------------------------------------------------- kills left to chance


async def was_cut(process: Process) -> bool:
    """One life: the command is said once more, people answer what is asked, and all work is done, unless it is cut."""
    try:
        for room in ROOMS:
            await process.say("/task do it", room=room, key=f"t-{room}")
        for asked in await process.stage.pending():
            happened = asked.session in process.tools["write"].sessions  # a person looks before answering
            unknown = Choice.DONE if happened else Choice.AGAIN
            choice = Choice.APPROVE if asked.kind is ApprovalKind.CALL else unknown
            await process.click(asked.id, choice, room=asked.address.room)
        await process.answer_all()
    except Crash:
        return True
    except BaseExceptionGroup as group:
        if group.split(Crash)[1]:
            raise
        return True
    return False


@pytest.mark.parametrize("seed", range(4))
async def test_any_row_of_kills_does_each_task_once_and_tells_it_once(seed: int, stage: Stage) -> None:
    chance, model = random.Random(seed), Planned((READ, READ), WRITE, READ, end="done")
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE)
    for life in range(30):
        stage.clock.advance(LEASE)
        probe = crash_by_chance(chance) if life < 12 else no_probe
        process = await stage.process(model, [look, write], probe=probe)
        if not await was_cut(process) and not await stage.pending():
            break
    for room in ROOMS:
        begun, ended = await stage.answers(room)
        assert begun.startswith("I'm on it: task **do it**")
        assert ended == "**Task done: do it**\n\ndone"
    assert len(write.sessions) == len(set(write.sessions)) == len(ROOMS)
    assert {task.state for task in await stage.store.tasks.tasks()} == {TaskState.DONE}
