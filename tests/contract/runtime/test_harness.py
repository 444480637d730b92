"""Long work by a plan, over the real store: its files, its checkpoints, and that it goes on where it stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.operator.actor import Actor
from bot.operator.harness import HarnessOperations
from bot.operator.reports import LateReporters
from bot.testing.scripted import USAGE, Scripted
from runtime.contract import Address, ModelReply, ModelRequest
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.ids import new_id
from runtime.http.errors import Refusal
from tests.contract.runtime.stage import ADA, Process, Stage, address, crash_at
from tests.fakes.git_server import git
from tests.unit.tools.conftest import working
from tools.files.files import read_file
from tools.files.workspace import own
from tools.git.checkpoints import checkpoint_tool
from tools.goals import CLOCK_OF_GOAL, GOAL_BEGIN, PIECE_OF_GOAL, spent_tool
from tools.sandbox.shell import ShellSettings

ROOM: Final = address("r1")
PLAN: Final = "Say 7\nverify:\n- it says 7\nturns: 3"
PASSED: Final = '{"verdict": "PASS", "score": 10}'
FAILED: Final = '{"verdict": "FAIL", "score": 3, "unmet": ["it says 7"], "critique": "say 7, not 8"}'
STEPS: Final = "- think\n- say it"


async def process_of(stage: Stage, answers: Any, **more: Any) -> Process:
    model = answers if isinstance(answers, Scripted) else Scripted(answers)
    sandbox = await working(ShellSettings())
    own(stage.workspaces.folder(ROOM), ShellSettings().uid)
    saves = checkpoint_tool(sandbox, timeout=timedelta(seconds=30), lock_seconds=0)
    spent = spent_tool(stage.store.goals.cost_of)
    tools: list[Any] = [GOAL_BEGIN, CLOCK_OF_GOAL, PIECE_OF_GOAL, spent, saves, read_file]
    return await stage.process(model, tools, reporter=LateReporters(stage.clock), **more)


def operations(process: Process) -> HarnessOperations:
    stage = process.stage
    return HarnessOperations(
        store=stage.store,
        folders=lambda _: stage.workspaces,
        bounds=GoalBounds,
        notifier=process.notifier,
        named=str,
        called=str,
        mask=str,
        new_id=new_id,
        now=stage.clock,
    )


async def ada(stage: Stage) -> Actor:
    known = next(one for one in await stage.store.people.people() if ADA in one.identities)
    return Actor(known.person, ADA)


async def begun(process: Process, plan: str = PLAN) -> str:
    """The id of work by `plan`, which has begun."""
    work = operations(process)
    await work.begin_files(ROOM, "main", plan)
    row = await work.begin(ROOM, "main", await ada(process.stage))
    return str(row["id"])


def commits(stage: Stage) -> Sequence[str]:
    """Titles of the checkpoints, the first one first."""
    return git(stage.workspaces.folder(ROOM), "log", "--reverse", "--format=%s").splitlines()


def text_of(stage: Stage, name: str) -> str:
    return (stage.workspaces.folder(ROOM) / name).read_text(encoding="utf-8")


async def test_work_by_a_plan_is_judged_in_turns_with_a_checkpoint_after_each(any_stage: Stage) -> None:
    model = Scripted([STEPS, "8", FAILED, "7", PASSED])
    process = await process_of(any_stage, model)
    async with process.running():
        which = await begun(process)
        await process.rest()
    assert commits(any_stage) == ["The plan", "Turn 1: not accepted", "Turn 2: accepted"]
    told = (await any_stage.screen())[-1]
    assert told.startswith("**Goal met** after 2 turns: Say 7\n\n7")
    head = git(any_stage.workspaces.folder(ROOM), "rev-parse", "--short", "HEAD")
    assert f"Checkpoints: 3 in git, the last is `{head}`." in told
    assert "## Steps\n\n- [ ] think\n- [ ] say it\n" in text_of(any_stage, "PLAN.md")
    progress = text_of(any_stage, "PROGRESS.md")
    assert progress.index("## Turn 1: not accepted") < progress.index("## Turn 2: accepted")
    assert "> say 7, not 8" in progress
    assert re.search("Checkpoint: `[0-9a-f]{7,}`", progress)
    second = model.requests[3].turns[0].text
    assert "PLAN.md has the steps, and PROGRESS.md what was done so far" in second
    assert "say 7, not 8" in second
    view = await operations(process).shown(which)
    assert [turn["state"] for turn in view["turns"]] == ["not accepted", "accepted"]
    assert view["end"] == "met"


def answer(request: ModelRequest) -> ModelReply:
    """The words of a model that says what each piece asks for, whoever asks and however often."""
    words = request.turns[0].text
    judged = "```\n7\n```" in words
    text = PASSED if judged else FAILED if "What is judged" in words else "7" if "say 7, not 8" in words else "8"
    return ModelReply(STEPS if "in 3 to 10 steps" in words else text, (), USAGE)


@pytest.mark.parametrize(("point", "hit"), [("tool-finished", 4), ("child-ended", 3)])
async def test_killed_anywhere_each_turn_is_done_and_saved_once(any_stage: Stage, point: str, hit: int) -> None:
    process = await process_of(any_stage, [answer] * 12, probe=crash_at(point, hit))
    await operations(process).begin_files(ROOM, "main", PLAN)
    await operations(process).begin(ROOM, "main", await ada(any_stage))
    with pytest.raises(BaseExceptionGroup):
        async with process.running():
            await process.rest()
    process = await process_of(any_stage, [answer] * 12)
    async with process.running():
        await process.rest()
    assert commits(any_stage) == ["The plan", "Turn 1: not accepted", "Turn 2: accepted"]
    assert len(await any_stage.rows("SELECT id FROM children")) == 5
    assert [one for one in await any_stage.screen() if one.startswith("**Goal met**")] != []


async def test_work_that_was_not_accepted_is_resumed_once_with_all_that_it_knows(any_stage: Stage) -> None:
    model = Scripted([STEPS, "8", FAILED, "7", PASSED])
    process = await process_of(any_stage, model)
    work, who = operations(process), await ada(any_stage)
    async with process.running():
        which = await begun(process, PLAN.replace("turns: 3", "turns: 1"))
        await process.rest()
        stopped = (await any_stage.screen())[-1]
        resumed = await work.resume(which, who)
        await process.rest()
        with pytest.raises(Refusal, match="resumed already"):
            await work.resume(which, who)
        with pytest.raises(Refusal, match="was accepted"):
            await work.resume(resumed["id"], who)
    assert "I stopped, since its 1 turn is over." in stopped
    assert f"`signalbox harness resume {which[-6:]}` goes on with it." in stopped
    assert "say 7, not 8" in model.requests[3].turns[0].text
    assert commits(any_stage) == ["The plan", "Turn 1: not accepted", "Turn 2: accepted"]
    assert (await any_stage.screen())[-1].startswith("**Goal met** after 2 turns")


async def test_what_failed_at_the_end_is_done_again_after_a_resume(stage: Stage) -> None:
    process = await process_of(stage, [STEPS, " ", " ", " ", "7", PASSED])  # an answer without words fails its run
    async with process.running():
        which = await begun(process)
        await process.rest()
        await operations(process).resume(which, await ada(stage))
        await process.rest()
    assert commits(stage)[-1] == "Turn 1: accepted"
    assert (await stage.screen())[-1].startswith("**Goal met** after 1 turn")


async def test_a_plan_that_is_changed_meanwhile_makes_nothing_easier(stage: Stage) -> None:
    def eased(request: ModelRequest) -> ModelReply:
        (stage.workspaces.folder(ROOM) / "PLAN.md").write_text("# Plan\n\nSay 8\n\n## Verify\n\n- it says 8\n")
        return answer(request)

    model = Scripted([STEPS, eased, *[answer] * 4])
    process = await process_of(stage, model)
    async with process.running():
        await begun(process)
        await process.rest()
    judged = model.requests[2].turns[0].text
    assert "- it says 7" in judged
    assert "it says 8" not in judged


async def test_work_needs_a_plan_and_never_writes_over_one(stage: Stage) -> None:
    process = await process_of(stage, [])
    work, who = operations(process), await ada(stage)
    with pytest.raises(Refusal, match=r"There is no PLAN\.md"):
        await work.begin(ROOM, "main", who)
    await work.begin_files(ROOM, "main", PLAN)
    with pytest.raises(Refusal, match=r"PLAN\.md is there already"):
        await work.begin_files(ROOM, "main", PLAN)
    with pytest.raises(Refusal, match="it must come to an end"):
        await work.begin_files(Address("page", "main", "r2"), "main", f"{PLAN}\nturns: 99")
