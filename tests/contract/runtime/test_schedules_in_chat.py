"""Schedules made, looked at and changed in chat: the demo model, the tools, the policy, and what is shown when one is due."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.wiring.scheduling import LateTimetable
from runtime.contract import Address, Call, Choice, Identity, Model, Schedule, ScheduleState, Task, TaskKind
from runtime.guard.door import OPEN_DOOR
from runtime.models.demo import Demo
from runtime.policy.rules import SHIPPED, Rule, Ruling
from runtime.store.schema import metadata
from tests.contract.runtime.stage import ADA, OTTO, UMA, Process, Stage, address, crash_at
from tests.contract.runtime.strict import Strict
from tests.unit.guard.secrets import SECRETS
from tools.files.files import list_files
from tools.schedules import schedule_tools

HOUR: Final = timedelta(hours=1)
OTHER: Final = "web:main/r2"
"""How people call the room r2."""


@dataclass
class Chat:
    """A room in which people talk with the agent."""

    stage: Stage
    process: Process

    async def say(self, words: str, *, who: Identity = ADA, room: str = "r1") -> str:
        """The answer, once nothing is left to do."""
        await self.process.say(words, who=who, room=room)
        await self.process.answer_all()
        return (await self.stage.answers(room))[-1]

    async def fire(self, after: timedelta = HOUR) -> None:
        self.stage.clock.advance(after)
        await self.process.timer.look()
        await self.process.answer_all()

    async def planned(self) -> list[Schedule]:
        return await self.stage.store.schedules.schedules()


async def chat(stage: Stage, model: Model | None = None, rules: Sequence[Rule] = SHIPPED, **more: Any) -> Chat:
    process: Process
    timetable = LateTimetable(lambda: process.booking, lambda: OPEN_DOOR)
    tools: list[Any] = [list_files, *schedule_tools(timetable, rooms=OtherRoom(), named=named)]
    process = await stage.process(model or Demo(), tools, rules=rules, **more)
    return Chat(stage, process)


class OtherRoom:
    """One room has a name."""

    def known(self, text: str) -> Address | None:
        return address("r2") if text == OTHER else None

    async def found(self, text: str) -> Address | None:
        return self.known(text)


def named(at: Address) -> str:
    return OTHER if at == address("r2") else str(at)


# -------------------------------------------------------------------------------------------------- from words to a report


async def test_what_is_said_of_a_time_is_planned_without_a_question_and_done_then(any_stage: Stage) -> None:
    at = await chat(any_stage)
    (any_stage.workspaces.folder(address()) / "notes.txt").write_text("hello")
    answer = await at.say("every weekday at 9 do list the files", who=UMA)
    assert answer == (
        'Planned: "list the files", every weekday at 09:00 (UTC), here. Next: Monday 2026-03-02 09:00, '
        "Tuesday 2026-03-03 09:00, Wednesday 2026-03-04 09:00. "
        "I read times as UTC until I know your time zone."
    )
    assert await any_stage.pending() == []
    await at.fire(timedelta(hours=21))
    assert (await any_stage.screen())[1:] == ["Files in `.`:\n\n```\nnotes.txt  5 bytes\n```"]


async def test_a_reminder_comes_once(any_stage: Stage) -> None:
    at = await chat(any_stage)
    answer = await at.say("remind me in 20 minutes to stretch", who=UMA)
    assert answer == (
        "I'll do that on Sunday 1 March 2026 at 12:20 (UTC), here. It's called \"stretch\", in case you want to change or cancel it. "
        "I read times as UTC until I know your time zone."
    )
    for _ in range(3):
        await at.fire(timedelta(minutes=20))
    assert (await any_stage.screen())[1:] == ["Reminder: stretch"]
    assert [one.state for one in await at.planned()] == [ScheduleState.ENDED]
    for words in ("what is scheduled?", "/schedules"):
        assert (await at.say(words, who=UMA)).startswith("Nothing is planned here.")
    assert "done, posted" in await at.say("history of the reminder stretch", who=UMA)


async def test_what_comes_once_names_its_instant_once(any_stage: Stage) -> None:
    at = await chat(any_stage)
    await at.say("remind me in 20 minutes to stretch", who=UMA)
    listed = await at.say("what is scheduled?", who=UMA)
    assert listed == '- "stretch": on Sunday 1 March 2026 at 12:20 (UTC), here; task: Remind me: stretch'


async def test_a_task_is_stored_as_it_was_written(any_stage: Stage) -> None:
    """Scenario 36."""
    task = "Look at these:\n\n  - `a.txt`\n  - b\n\nThen tell me.  "
    call = Call("c1", "schedule_set", json.dumps({"when": "every hour", "task": task, "quiet": True}))
    at = await chat(any_stage, Strict([call, "planned"]))
    await at.say("please")
    [one] = await at.planned()
    assert (one.task, one.terms.quiet, one.home) == (Task(TaskKind.PROMPT, task), True, address())


async def test_a_time_that_is_not_understood_is_answered_with_an_example(stage: Stage) -> None:
    at = await chat(stage)
    answer = await at.say("every 0 minutes: say hello")
    assert answer.startswith("I couldn't plan `every 0 minutes`:")
    assert "For example:" in answer
    assert await at.planned() == []


async def test_times_are_read_by_the_clocks_of_whoever_speaks(any_stage: Stage) -> None:
    at = await chat(any_stage)
    assert "use Europe/Berlin for times that Uma mentions" in await at.say("my time zone is berlin", who=UMA)
    assert "every day at 09:00 (Europe/Berlin)" in await at.say("every day at 9: say hello", who=UMA)
    assert "every day at 09:00 (UTC)" in await at.say("every day at 9: say hello", who=ADA)


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "step-recorded"])
async def test_killed_in_the_middle_it_is_planned_once(any_stage: Stage, point: str) -> None:
    first = await chat(any_stage, probe=crash_at(point))
    await first.process.say("every hour: say hello")
    await first.process.until_crash()
    at = await chat(any_stage)
    await at.process.answer_all()
    assert [one.name for one in await at.planned()] == ["say hello"]
    assert "every hour" in (await any_stage.answers())[-1]
    assert await any_stage.pending() == [], "nobody is asked what became of it"


# ------------------------------------------------------------------------------------------------------ another room


@pytest.mark.parametrize(("choice", "shown"), [(Choice.APPROVE, ["hello"]), (Choice.DENY, [])])
async def test_for_another_room_a_plain_user_needs_somebodys_word(
    any_stage: Stage, choice: Choice, shown: list[str]
) -> None:
    """Scenario 37."""
    at = await chat(any_stage)
    await at.process.say(f"every hour in {OTHER}: say hello", who=UMA)
    await at.process.answer_all()
    [asked] = await any_stage.pending()
    assert (asked.tool, asked.address) == ("schedule_elsewhere", address())
    assert await at.planned() == []
    await at.process.click(asked.id, Choice.APPROVE, who=UMA)
    assert await at.planned() == [], "not their own"
    await at.process.click(asked.id, choice, who=OTTO)
    await at.process.answer_all()
    await at.fire()
    assert await any_stage.screen("r2") == shown
    said = (await any_stage.answers())[-1]
    assert (f"every hour (UTC), in {OTHER}." in said) is (choice is Choice.APPROVE)


async def test_an_owner_may_give_that_word_themselves(stage: Stage) -> None:
    at = await chat(stage)
    await at.process.say(f"every hour in {OTHER}: say hello", who=ADA)
    await at.process.answer_all()
    [asked] = await stage.pending()
    await at.process.click(asked.id, Choice.APPROVE, who=ADA)
    await at.process.answer_all()
    assert [one.to for one in await at.planned()] == [(address("r2"),)]


async def test_a_room_that_is_named_in_a_task_has_no_power(any_stage: Stage) -> None:
    """Scenario 37."""
    at = await chat(any_stage)
    await at.say(f"every hour: say hello in {OTHER}", who=UMA)
    assert [one.to for one in await at.planned()] == [(address(),)]
    await at.fire()
    assert (await any_stage.screen())[1:] == [f"hello in {OTHER}"]
    assert await any_stage.screen("r2") == []


async def test_what_was_approved_for_another_room_is_not_made_something_else_there(stage: Stage) -> None:
    at = await chat(stage)
    await at.process.say(f"every day at 9 in {OTHER}: say hello", who=UMA)
    await at.process.answer_all()
    [asked] = await stage.pending()
    await at.process.click(asked.id, Choice.APPROVE, who=OTTO)
    await at.process.answer_all()
    before = await at.planned()
    for words in ("move the schedule say hello to every hour", "run the schedule say hello"):
        assert "is posted in another room." in await at.say(words, who=UMA)
    assert await at.planned() == before
    assert "is paused (by Uma)" in await at.say("pause the schedule say hello", who=UMA)
    assert "every hour" in await at.say("move the schedule say hello to every hour", who=OTTO)


async def test_a_rule_of_the_settings_is_before_what_comes_with_the_program(stage: Stage) -> None:
    at = await chat(stage, rules=(Rule(Ruling.ASK, "schedule_*"), *SHIPPED))
    await at.process.say("every hour: say hello")
    await at.process.answer_all()
    assert [one.tool for one in await stage.pending()] == ["schedule_set"]


# ------------------------------------------------------------------------------------------------- looking and changing


async def test_a_schedule_is_looked_at_and_turned_by_its_name(any_stage: Stage) -> None:
    at = await chat(any_stage)
    assert await at.say("what is scheduled?") == "Nothing is planned here."
    await at.say("every hour: say hello")
    assert await at.say("what is scheduled?") == (
        '- "say hello": every hour (UTC), here; next Sunday 2026-03-01 13:00; task: say hello'
    )
    await at.fire()
    assert "Sunday 2026-03-01 13:00: done, posted" in await at.say("history of the schedule say hello")
    assert "is paused (by Ada)" in await at.say("pause the schedule say hello")
    await at.fire()
    assert (await any_stage.screen()).count("hello") == 1
    assert (await at.say("resume the schedule say hello")).startswith(
        'Resumed: "say hello", every hour (UTC), here. Next:'
    )
    assert "every day at 10:00 (UTC)" in await at.say("move the schedule say hello to every day at 10")
    assert 'started "say hello"' in await at.say("run the schedule say hello")
    assert (await any_stage.screen()).count("hello") == 2
    assert "is deleted" in await at.say("delete the schedule say hello")
    assert await at.planned() == []
    assert "no schedule called 'say hello'" in await at.say("pause the schedule say hello")


async def test_others_change_nothing_unless_they_lead(any_stage: Stage) -> None:
    at = await chat(any_stage)
    await at.say("every hour: say hello", who=ADA)
    for words in ("pause", "delete", "run"):
        assert "was made by somebody else" in await at.say(f"{words} the schedule say hello", who=UMA)
    assert [one.state for one in await at.planned()] == [ScheduleState.ACTIVE]
    assert "by Ada" in await at.say("what is scheduled?", who=UMA)
    assert "is paused (by Otto)" in await at.say("pause the schedule say hello", who=OTTO)


async def test_a_room_is_told_of_its_own_plans_and_only_counts_those_of_others(stage: Stage) -> None:
    at = await chat(stage)
    await at.say("every hour: say secret", room="r2")
    assert await at.say("what is scheduled?") == (
        "Nothing is planned here.\n1 more in other rooms that the person can see."
    )
    assert "say secret" in await at.say("what is scheduled everywhere?")
    assert await at.say("what is scheduled everywhere?", who=UMA) == "Nothing is planned here."


async def test_scheduled_work_plans_no_more_work(any_stage: Stage) -> None:
    at = await chat(any_stage)
    await at.say("every hour: every 5 minutes: say hello")
    await at.fire()
    assert "can't schedule more work" in (await any_stage.screen())[-1]
    assert len(await at.planned()) == 1


# --------------------------------------------------------------------------------------------------------- the leak guard


@pytest.mark.parametrize("named_too", [False, True])
async def test_a_secret_in_a_wish_is_not_kept_with_the_schedule(stage: Stage, *, named_too: bool) -> None:
    """The call is made with its true arguments, which hold it."""
    _, secret = SECRETS["github"]
    wish = {"when": "every hour", "task": f"tell {secret}"} | ({"name": f"tell {secret}"} if named_too else {})
    at = await chat(stage, Strict([Call("c1", "schedule_set", json.dumps(wish)), "Planned.", "Told."]))
    await at.say("plan it")
    for question in await stage.pending():
        await at.process.click(question.id)
    await at.process.answer_all()
    [planned] = await at.planned()
    assert planned.task.text.startswith("tell [redacted: ")
    await at.fire()
    for table in metadata.sorted_tables:
        assert secret not in str(await stage.rows(f"SELECT * FROM {table.name}")), table.name
