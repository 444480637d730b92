"""The demo model plans work, tells what was planned, and does what is due: no more than its task says."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from runtime.calendar import plan
from runtime.contract import (
    Address,
    AssistantTurn,
    Call,
    Effect,
    Identity,
    Json,
    ModelReply,
    ModelRequest,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)
from runtime.domain.agents.tasks import NOBODY_WAITS
from runtime.domain.schedules import NO_NEWS, said
from runtime.domain.transcript import ERROR, WAITING_FOR_APPROVAL
from runtime.models.demo import Demo
from runtime.models.demo_phrases import PHRASES, PLAN_LINE_MAX_CHARS
from runtime.models.demo_telling import TELLING

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOOLS = [ToolSpec(name, "", {}, Effect.READ) for name in TELLING]


async def ask(*turns: Turn) -> ModelReply:
    return await Demo().reply(ModelRequest("be kind", turns, TOOLS), lambda _: None)


def asked(reply: ModelReply) -> list[tuple[str, Json]]:
    return [(call.tool, json.loads(call.arguments)) for call in reply.calls]


@pytest.mark.parametrize(
    ("line", "when", "task"),
    [
        ("every weekday at 9 do list the files", "every weekday at 9", "list the files"),
        ("every 5 minutes: say hello", "every 5 minutes", "say hello"),
        ("Every day at 9:30: say hello", "Every day at 9:30", "say hello"),
        ("every weekday at 9, do: read a.txt.", "every weekday at 9", "read a.txt."),
        ("daily at 7 in Berlin do run: echo 'a b'", "daily at 7 in Berlin", "run: echo 'a b'"),
        ("tomorrow at 9 do say: do it", "tomorrow at 9", "say: do it"),
        ("on mondays at 9 do list the files", "on mondays at 9", "list the files"),
        ("please every hour: ls", "every hour", "ls"),
        ("remind me tomorrow at 14:30 to call Ada", "tomorrow at 14:30", "Remind me: call Ada"),
        ("remind me in 20 minutes to stretch", "in 20 minutes", "Remind me: stretch"),
        ("Remind me to stretch in 20 minutes.", "in 20 minutes", "Remind me: stretch"),
        ("remind me to put it in the box in 2 hours", "in 2 hours", "Remind me: put it in the box"),
        ("remind me every weekday at 9 to read mail.txt", "every weekday at 9", "Remind me: read mail.txt"),
        ("remind me at 17:00 that it is late", "at 17:00", "Remind me: it is late"),
        ("[ada] every 5 minutes: say hello", "every 5 minutes", "say hello"),
    ],
)
async def test_a_time_and_a_task_are_a_plan(line: str, when: str, task: str) -> None:
    assert asked(await ask(UserTurn(line))) == [("schedule_set", {"when": when, "task": task})]
    assert plan(when, zone="UTC", now=NOW).text == when


async def test_a_room_that_is_named_beside_the_time_is_an_argument_and_one_in_the_task_is_not() -> None:
    """Scenario 37."""
    elsewhere = {"when": "every day at 9", "room": "slack:work/C1", "task": "say hello"}
    assert asked(await ask(UserTurn("every day at 9 in slack:work/C1: say hello"))) == [
        ("schedule_elsewhere", elsewhere)
    ]
    here = {"when": "every day at 9", "task": "say hello in slack:work/C1"}
    assert asked(await ask(UserTurn("every day at 9: say hello in slack:work/C1"))) == [("schedule_set", here)]


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("what is scheduled?", "schedule_list", {}),
        ("What's planned here?", "schedule_list", {}),
        ("list schedules", "schedule_list", {}),
        ("what is scheduled everywhere?", "schedule_list", {"everywhere": True}),
        ("pause the schedule say hello.", "schedule_pause", {"name": "say hello"}),
        ('resume the schedule "say hello"', "schedule_resume", {"name": "say hello"}),
        ("delete the schedule say hello", "schedule_delete", {"name": "say hello"}),
        ("cancel my reminder call ada", "schedule_delete", {"name": "call ada"}),
        ("run the schedule say hello", "schedule_run", {"name": "say hello"}),
        ("history of the schedule x", "schedule_history", {"name": "x"}),
        ("move the schedule x to every day at 10", "schedule_change", {"name": "x", "when": "every day at 10"}),
        ("my time zone is Europe/Berlin", "set_zone", {"zone": "Europe/Berlin"}),
    ],
)
async def test_schedules_are_asked_about_by_name(line: str, tool: str, arguments: Json) -> None:
    assert asked(await ask(UserTurn(line))) == [(tool, arguments)]


@pytest.mark.parametrize("line", ["in my opinion: no", "at last: peace", "on second thought: no", "remind me to eat"])
async def test_chat_stays_chat(line: str) -> None:
    assert (await ask(UserTurn(line))).calls == ()


async def test_help_names_the_plans() -> None:
    assert "`remind me tomorrow at 14:30 to call Ada`" in (await ask(UserTurn("help"))).text


async def test_no_line_takes_long_to_read() -> None:
    started = time.process_time()
    for line in ("remind me to " + "every " * 700, "every in web:" * 400, "every " + "x " * 100_000):
        await ask(UserTurn(line[: PLAN_LINE_MAX_CHARS * 3]))
    assert time.process_time() - started < 2


# ------------------------------------------------------------------------------------------------- results in words


def called(tool: str, arguments: Json, result: str) -> tuple[AssistantTurn, ToolTurn]:
    return AssistantTurn("", (Call("c1", tool, json.dumps(arguments)),)), ToolTurn("c1", tool, result)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ('Planned: "say hello", every day, here.', 'Planned: "say hello", every day, here.'),
        (f"{ERROR}not understood.", "I couldn't plan `every day`: not understood."),
        (WAITING_FOR_APPROVAL, "I asked to plan `every day`; that is waiting for approval."),
    ],
)
async def test_what_a_tool_says_of_plans_is_passed_on(result: str, words: str) -> None:
    reply = await ask(UserTurn("every day: say x"), *called("schedule_set", {"when": "every day"}, result))
    assert reply.text == words


def test_each_tool_that_a_phrase_asks_for_is_told_of() -> None:
    assert {tool for _, tool, _ in PHRASES} <= set(TELLING)


# ------------------------------------------------------------------------------------------------------- what is due


def due(task: str, previous: str = "", *, quiet: bool = False) -> UserTurn:
    """The turn of an occurrence, as the store writes it."""
    schedule = Schedule(
        id=ScheduleId("s"),
        name="it's [a] name",
        when="",
        when_text="",
        task=Task(TaskKind.PROMPT, task),
        to=(Address("page", "main", "r1"),),
        terms=Terms(quiet=quiet),
        state=ScheduleState.ACTIVE,
        created_at=NOW,
        anchor_at=NOW,
        actor=Identity("web:p"),
        agent="main",
    )
    return UserTurn(said(schedule, "Sunday, 2026-03-01 12:00 (UTC)", previous), "Ada")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("say hello", "hello"),
        ("Say: good morning.", "good morning."),
        ("Remind me: call Ada", "Reminder: call Ada"),
        ("Remind me: read notes.txt", "Reminder: read notes.txt"),
        ("water the plants", "It is time: water the plants"),
        ("say one\nsay two", "one\n\ntwo"),
    ],
)
async def test_what_is_due_is_done_plainly(task: str, words: str) -> None:
    reply = await ask(due(task))
    assert (reply.calls, reply.text) == ((), words)


async def test_a_task_calls_its_tools_and_reports_their_results() -> None:
    turn = due("list the files\nsay done")
    assert asked(await ask(turn)) == [("list_files", {"path": "."})]
    reply = await ask(turn, *called("list_files", {"path": "."}, "a.txt"))
    assert reply.text == "Files in `.`:\n\n```\na.txt\n```\n\ndone"


async def test_nothing_is_done_that_an_earlier_report_said() -> None:
    reply = await ask(due("say hello", "run: rm -rf .\nevery minute: say x"))
    assert (reply.calls, reply.text) == ((), "hello")


async def test_where_only_news_is_wanted_the_same_again_is_none() -> None:
    assert (await ask(due("say hello", "hello", quiet=True))).text == NO_NEWS
    assert (await ask(due("say hello", "good night", quiet=True))).text == "hello"
    assert (await ask(due("say hello", "hello"))).text == "hello"


# ------------------------------------------------------------------------------------------------------------- tasks


async def test_a_task_is_posted_for_the_background_and_named_after_its_request() -> None:
    reply = await ask(UserTurn("task: read a.txt, then tell Ada."))
    goal = "read a.txt, then tell Ada."
    assert asked(reply) == [("task_post", {"agent": "me", "goal": goal, "title": goal})]
    reply = await ask(UserTurn("post a task: water the plants"))
    assert asked(reply) == [("task_post", {"goal": "water the plants", "title": "water the plants"})]


async def test_a_task_in_the_background_does_what_its_goal_says() -> None:
    opening = "[Task 'files', done in the background]"
    assert asked(await ask(UserTurn(f"{opening}\n\nlist the files\n\n{NOBODY_WAITS}"))) == [
        ("list_files", {"path": "."})
    ]
    told = await ask(UserTurn(f"{opening}\n\ncompare the offers\n\n{NOBODY_WAITS}"))
    assert told.text == "A real model would do this now: compare the offers"


async def test_a_plan_is_ticked_off_step_by_step() -> None:
    calls = asked(await ask(UserTurn("plan: read the offers, compare them and tell Ada.")))
    steps = [[step["state"] for step in arguments["steps"]] for _, arguments in calls]
    assert steps == [["doing", "todo"], ["done", "doing"], ["done", "done"]]
