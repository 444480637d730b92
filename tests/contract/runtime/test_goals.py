"""Goals at work: turns that another run judges, over the real store. Scenario 57."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from bot.operator.reports import LateReporters
from bot.testing.scripted import USAGE, Scripted
from runtime.agent.registry import Agents
from runtime.contract import Call, Choice, Commanded, Effect, ModelReply, ModelRequest, ToolTurn, no_probe
from runtime.domain.agents.manifest import SPRINTING, Manifest
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.runs import RunState
from runtime.models.demo import Demo
from runtime.policy.rules import Rule, Ruling
from runtime.workflows.goals.starting import StartedGoals
from tests.contract.runtime.stage import ADA, VERA, Process, Stage, address, crash_at, fake_tool
from tools.asking import ASK_PERSON
from tools.files.files import list_files, read_file
from tools.files.search import search_files
from tools.goals import CLOCK_OF_GOAL, GOAL_BEGIN, PIECE_OF_GOAL, goal_tools, spent_tool

VERIFIED: Final = "Say 7\nverify:\n- it says 7"
PASSED: Final = '{"verdict": "PASS", "score": 10}'
LOOK: Final = Call("c-look", "look", "{}")
WRITES: Final = (Call("c-write", "write", "{}"),)
FAILED: Final = '{"verdict": "FAIL", "score": 3, "unmet": ["it says 7"], "critique": "say 7, not 8"}'


async def process_of(stage: Stage, answers: Any, *tools: Any, goals: GoalBounds | None = None, **more: Any) -> Process:
    """A process whose model gives `answers`, one a piece of a goal."""
    model = answers if isinstance(answers, Scripted) else Scripted(answers)
    bounds = goals or GoalBounds()
    reporters = LateReporters(stage.clock, goals=lambda: bounds, probe=more.get("probe", no_probe))
    ours: tuple[Any, ...] = (
        ASK_PERSON,
        GOAL_BEGIN,
        CLOCK_OF_GOAL,
        PIECE_OF_GOAL,
        spent_tool(stage.store.goals.cost_of),
    )
    process = await stage.process(model, [*ours, *tools], reporter=reporters, **more)
    process.gate = replace(process.gate, goals=bounds)
    return process


async def command(process: Process, argument: str = "", who: Any = ADA) -> str:
    verdict = await process.reception.sink(process.stage.signal(Commanded("goal", argument), who, "r1"))
    return verdict.notice or ""


async def agree(process: Process, choice: Choice = Choice.FIRST) -> None:
    await process.rest()
    [card] = await process.stage.pending()
    await process.click(card.id, choice)
    await process.rest()


async def reached(stage: Stage, text: str, answers: Any, *tools: Any, **more: Any) -> list[str]:
    """The screen once a goal came to its end."""
    process = await process_of(stage, answers, *tools, **more)
    async with process.running():
        await command(process, text)
        await agree(process)
    return await stage.screen()


def told(model: Scripted, request: int) -> str:
    return model.requests[request].turns[0].text


async def test_what_is_not_accepted_goes_back_with_the_critique(any_stage: Stage) -> None:
    model = Scripted(["8", FAILED, "7", PASSED])
    screen = await reached(any_stage, VERIFIED, model)
    assert screen[-1] == "**Goal met** after 2 turns: Say 7\n\n7"
    assert "say 7, not 8" in told(model, 2)
    assert "It is done when: - it says 7" in told(model, 0)
    assert "```\n7\n```" in told(model, 3)


async def test_criteria_that_nobody_gave_are_made_once(any_stage: Stage) -> None:
    model = Scripted(["- it says 7\n- it is short\n- it is one number", "8", FAILED, "7", PASSED])
    screen = await reached(any_stage, "Say 7", model)
    assert screen[-1].startswith("**Goal met** after 2 turns")
    assert "- it is one number" in told(model, 2)
    assert "- it is one number" in told(model, 4)


async def test_the_contract_stands_on_the_card_and_nothing_begins_without_a_yes(any_stage: Stage) -> None:
    process = await process_of(any_stage, [])
    async with process.running():
        await command(
            process, f"{VERIFIED}\nconstraints: no digits but 7\nstop when: it is midnight\nturns: 3\nwithin: 1 hour"
        )
        await process.rest()
        card = next(one for one in await any_stage.screen() if "Begin this goal" in one)
        await agree(process, Choice.SECOND)
    for part in ("Say 7", "1) it says 7", "no digits but 7", "it is midnight", "at most 3 turns or 1 hour"):
        assert part in card
    assert (await any_stage.screen())[-1] == "The goal “Say 7” wasn't begun: Don't begin."
    assert not await any_stage.rows("SELECT id FROM children")


async def test_at_the_bound_the_best_is_shown_and_says_that_it_is_not_accepted(any_stage: Stage) -> None:
    better = json.dumps({"verdict": "FAIL", "score": 6, "critique": "nearly"})
    screen = await reached(any_stage, f"{VERIFIED}\nturns: 3", ["8", FAILED, "7.0", better, "9", FAILED])
    assert screen[-1] == (
        "**Goal not met:** Say 7\n\nI stopped, since its 3 turns are over.\n\n"
        "Best result, of turn 2, **not accepted:** nearly\n\n7.0"
    )


@pytest.mark.parametrize("said", ["PASSABLE", "I'd let it pass", '{"verdict": "PASS"', '{"verdict": "maybe"}'])
async def test_a_verdict_that_nobody_can_read_is_a_fail_and_is_told(stage: Stage, said: str) -> None:
    screen = await reached(stage, f"{VERIFIED}\nturns: 1", ["7", said])
    assert screen[-1].startswith("**Goal not met:** Say 7")
    assert "Nobody could read 1 verdict of the judge; each counted as a fail." in screen[-1]
    assert "**not accepted:**" in screen[-1]


async def test_a_judge_that_fails_accepts_nothing(stage: Stage) -> None:
    model = Scripted(["7", " "])  # an answer without words fails its run
    screen = await reached(stage, f"{VERIFIED}\nturns: 1", model)
    assert "The judge gave no verdict, which counts as a fail" in screen[-1]


@pytest.mark.parametrize("said", ["**PASS**", "PASS\nwell done", '```json\n{"verdict": "PASS"}\n```'])
async def test_a_pass_in_any_of_its_forms_ends_the_goal(stage: Stage, said: str) -> None:
    screen = await reached(stage, VERIFIED, ["7", said])
    assert screen[-1] == "**Goal met** after 1 turn: Say 7\n\n7"


async def test_one_goal_meets_each_kind_of_verdict_and_ends_at_the_first_that_passes(any_stage: Stage) -> None:
    """Scenario 57, in one goal: fail, fail, fail as it says, pass."""
    model = Scripted(["5", "PASSABLE", "6", " ", "8", FAILED, "7", "**PASS**", "never asked for"])
    process = await process_of(any_stage, model)
    async with process.running():
        await command(process, VERIFIED)
        await agree(process)
    assert (await any_stage.screen())[-1].startswith("**Goal met** after 4 turns: Say 7\n\n7")
    assert model.left == 1


ALLOWED: Final = [Rule(Ruling.ALLOW, "goal_set")]
POINTS: Final = (
    "step-recorded",
    "children-begun",
    "child-ended",
    "approval-stored",
    "model-answered",
    "tool-finished",
    "verdict",
)


@pytest.mark.parametrize("point", [*POINTS, "delivery-stored"])
async def test_killed_anywhere_each_piece_is_asked_for_once_and_the_end_is_told_once(
    any_stage: Stage, point: str
) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        words = request.turns[0].text
        judged = "```\n7\n```" in words
        text = PASSED if judged else FAILED if "What is judged" in words else "7" if "say 7, not 8" in words else "8"
        return ModelReply(text, (), USAGE)

    hit = 1 if point in ("approval-stored", "delivery-stored") else 2
    process = await process_of(any_stage, [answer] * 12, probe=crash_at(point, hit))
    await command(process, VERIFIED)
    with pytest.raises(BaseExceptionGroup):
        async with process.running():
            await agree(process)
    process = await process_of(any_stage, [answer] * 12)
    async with process.running():
        await process.rest()
        if await any_stage.pending():
            await agree(process)
    met = [one for one in await any_stage.screen() if one.startswith("**Goal met**")]
    assert met == ["**Goal met** after 2 turns: Say 7\n\n7"]
    assert len(await any_stage.rows("SELECT id FROM children")) == 4


async def test_a_judge_only_reads_and_has_the_model_that_is_named(any_stage: Stage) -> None:
    write = fake_tool("write", Effect.WRITE)
    model = Scripted([*WRITES, "wrote 7", *WRITES, "I may not write. FAIL"])
    bounds = GoalBounds(judge="haiku")
    rules: Any = [Rule(Ruling.ALLOW, "*")]
    await reached(any_stage, f"{VERIFIED}\nturns: 1", model, write, goals=bounds, rules=rules)
    assert len(write.calls) == 1
    assert [request.wanted for request in model.requests] == ["", "", "haiku", "haiku"]


async def test_a_goal_ends_at_its_deadline_with_the_best_so_far(any_stage: Stage) -> None:
    def late(_: ModelRequest) -> ModelReply:
        any_stage.clock.advance(timedelta(minutes=31))
        return ModelReply(FAILED, (), USAGE)

    screen = await reached(any_stage, f"{VERIFIED}\nwithin: 30 minutes", ["8", late])
    assert "I stopped, since its time of 30 minutes is over." in screen[-1]
    assert screen[-1].endswith("8")


async def test_what_a_goal_costs_is_looked_at_before_each_turn(any_stage: Stage) -> None:
    def dear(_: ModelRequest) -> ModelReply:
        return ModelReply("8", (), replace(USAGE, cost_micros=700_000))

    screen = await reached(any_stage, f"{VERIFIED}\nbudget: 0.50", [dear, FAILED])
    assert "I stopped, since its budget of $0.50 is spent." in screen[-1]
    assert screen[-1].endswith("8")


async def test_a_goal_ends_where_its_turns_keep_failing(stage: Stage) -> None:
    screen = await reached(stage, VERIFIED, [" ", " ", " "])
    assert "I stopped, since its turns fail" in screen[-1]


async def test_a_goal_without_an_end_is_refused(stage: Stage) -> None:
    process = await process_of(stage, [])
    async with process.running():
        for bound in ("turns: unlimited", "turns: 21", "turns: 0", "within: forever", "budget: -1", "budget: nan"):
            await command(process, f"Say 7\n{bound}")
        await command(process, "turns: 3")
        await process.rest()
    said = await stage.screen()
    assert said[0] == "A goal has 1 to 20 turns, not 'unlimited': it must come to an end."
    assert said[3].startswith("A goal has 1 minute to 4 hours, not 'forever'.")
    assert said[-1].startswith("Say what is to come of it: `/goal TEXT`.")
    assert await stage.states() == []


async def test_it_is_shown_with_its_turns_and_verdicts_and_stopped(any_stage: Stage) -> None:
    asked = fake_tool("look", Effect.WRITE)
    model = Scripted(["8", FAILED, LOOK])
    process = await process_of(any_stage, model, asked)
    async with process.running():
        await command(process, VERIFIED)
        await agree(process)
        await command(process, who=ADA)
        await command(process, "Say 8")
        await command(process, "stop")
        await process.rest()
    screen = await any_stage.screen()
    shown, busy = (next(one for one in screen if part in one) for part in ("Done when:", "at work here already"))
    assert "waiting, 2 of 20 turns" in shown
    assert "✗ turn 1: not accepted. say 7, not 8" in shown
    assert "▶ turn 2: at work" in shown
    assert busy.startswith("A goal is at work here already: **Say 7**")
    assert "The goal **Say 7** is stopped. What its turns did so far stays done." in screen
    assert RunState.PARKED not in await any_stage.states()


async def test_a_viewer_sets_no_goal(stage: Stage) -> None:
    process = await process_of(stage, [])
    async with process.running():
        await command(process, "Say 7", who=VERA)
        await process.rest()
    assert await stage.states() == []


async def test_an_agent_in_sprints_plans_works_and_is_judged(any_stage: Stage) -> None:
    model = Scripted(["- it says 7\n- short\n- plain", "1. say it", "8", FAILED, "1. say 7", "7", PASSED])
    process = await process_of(any_stage, model)
    sprinting(process)
    async with process.running():
        await process.reception.sink(any_stage.signal(Commanded("task", "Say 7"), ADA, "r1"))
        await process.rest()
    assert (await any_stage.screen())[-1] == "**Task done: Say 7**\n\n7"
    assert "[The plan:]\n1. say 7" in told(model, 5)


async def test_after_five_sprints_the_best_is_marked(any_stage: Stage) -> None:
    model = Scripted(["- a\n- b\n- c", *["plan", "8", FAILED] * 5])
    process = await process_of(any_stage, model)
    sprinting(process)
    async with process.running():
        await process.reception.sink(any_stage.signal(Commanded("task", "Say 7"), ADA, "r1"))
        await process.rest()
    last = (await any_stage.screen())[-1]
    assert "I stopped, since its 5 sprints are over." in last
    assert "**not accepted:** say 7, not 8" in last
    assert model.left == 0


def sprinting(process: Process) -> None:
    """From now on the main agent works on tasks in sprints."""
    agents, reporters = process.agent._agents, process.agent._reporter
    assert isinstance(reporters, LateReporters)
    main = replace(agents.main, manifest=Manifest(harness=SPRINTING), sprinting=reporters.sprints(""))
    process.agent._agents = Agents(main)


PAGE: Final = Path(__file__).parents[3] / "docs" / "goals.md"
PHRASES: Final = re.findall(r"```text demo\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0].splitlines()


@pytest.mark.parametrize(("phrase", "turns"), list(zip(PHRASES, ("1 turn", "2 turns"), strict=True)))
async def test_the_demo_plays_each_goal_of_the_page(stage: Stage, phrase: str, turns: str) -> None:
    goals = StartedGoals(book=stage.store.goals, bounds=GoalBounds, begun=lambda: None)
    tools: Any = (*goal_tools(goals, stage.store.goals.cost_of), ASK_PERSON, list_files, read_file, search_files)
    process = await stage.process(Demo(), tools, reporter=LateReporters(stage.clock), rules=ALLOWED)
    (stage.workspaces.folder(address("r1")) / "notes.txt").write_text("the kettle is on\n")
    async with process.running():
        await process.say(phrase)
        await agree(process)
    told = (await stage.screen())[-1]
    assert told.startswith(f"**Goal met** after {turns}:")
    assert "notes.txt" in told


async def test_a_goal_that_a_tool_sets_is_set_once_and_one_at_a_time(stage: Stage) -> None:
    goals = StartedGoals(book=stage.store.goals, bounds=GoalBounds, begun=lambda: None)
    tools: Any = (*goal_tools(goals, stage.store.goals.cost_of), ASK_PERSON)
    calls = [
        Call(f"c{number}", "goal_set", json.dumps({"text": text}))
        for number, text in enumerate(("Say 7\nverify: 7", "Say 8"))
    ]
    model = Scripted([(calls[0],), (calls[1],), "Set."])
    process = await stage.process(model, tools, reporter=LateReporters(stage.clock), rules=ALLOWED)
    async with process.running():
        await process.say("Do both.")
        await process.rest()
    results = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert results[0].startswith("The goal is set (")
    assert results[1].startswith("error: A goal is at work here already: **Say 7**")
    assert len(await stage.pending()) == 1


async def test_a_card_of_a_piece_names_the_goal(any_stage: Stage) -> None:
    write = fake_tool("write", Effect.WRITE)
    process = await process_of(any_stage, [*WRITES, "wrote 7", PASSED], write)
    async with process.running():
        await command(process, VERIFIED)
        await agree(process)
        card = next(one for one in await any_stage.screen() if "May I run `write`?" in one)
        await agree(process, Choice.APPROVE)
    assert "the goal say 7" in card.lower()
