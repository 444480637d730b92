"""Work that agents handed on, as people look at it in a chat, and as operators end it."""

from __future__ import annotations

from dataclasses import replace

from runtime.agent.registry import Agent
from runtime.contract import ChildState, Choice, Effect
from runtime.domain.runs import RunState
from tests.contract.runtime.stage import ADA, SHELL, UMA, VERA, Process, Stage, fake_tool
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_delegation import BOTH, agent, may_delegate, order, orders, tree

ASKS = "- ✋ **research**: Look. (waits for approval of `shell`)"
WORKS = "- ⏳ **research**: Look."


def looking(stage: Stage) -> Agent:
    """An agent that runs a shell call, which asks, and then answers."""
    return agent(
        stage, "research", Strict([SHELL, "found"]), [fake_tool("shell", Effect.DANGER)], effects=Effect.DANGER
    )


async def with_a_child_that_asks(stage: Stage) -> Process:
    main = Strict([order(goal="Look.", agent="research"), "It is over."])
    process = await stage.process(main, [*BOTH, fake_tool("shell", Effect.DANGER)], others=[looking(stage)])
    may_delegate(process, "research")
    return process


async def test_the_tree_in_the_room_tells_that_a_child_asks_and_goes_on(any_stage: Stage) -> None:
    process = await with_a_child_that_asks(any_stage)
    async with process.running():
        await process.say("look around")
        await process.rest()
        assert await tree(any_stage) == ASKS
        [question] = await any_stage.pending()
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    every = "SELECT content FROM deliveries WHERE origin LIKE 'children:%' ORDER BY ordinal"
    told = [row[0] for row in await any_stage.rows(every)]
    assert [WORKS in one for one in told] == [True, False, True, False]
    assert (await tree(any_stage)).startswith("- ✅ **research**: Look. (")
    assert (await any_stage.answers())[-1] == "It is over."


async def test_children_that_ask_at_once_are_all_shown_as_such(any_stage: Stage) -> None:
    goals = [f"Look {number}." for number in range(5)]
    shell = fake_tool("shell", Effect.DANGER)
    research = replace(looking(any_stage), model=Strict([SHELL] * 5 + ["found"] * 5))
    main = Strict([orders(*goals, agents=["research"] * 5), "It is over."])
    process = await any_stage.process(main, [*BOTH, shell], others=[research])
    may_delegate(process, "research")
    async with process.running():
        await process.say("look around")
        await process.rest()
        assert (await tree(any_stage)).count("✋ **research**") == 5
        for question in await any_stage.pending():
            await process.click(question.id, Choice.APPROVE)
        await process.rest()
    assert (await tree(any_stage)).count("✅ **research**") == 5
    assert (await any_stage.answers())[-1] == "It is over."


async def test_the_command_shows_what_is_handed_on_for_whoever_gives_it(any_stage: Stage) -> None:
    process = await with_a_child_that_asks(any_stage)
    async with process.running():
        await process.say("look around")
        await process.rest()
        await process.say("/children")
        await process.rest()
        mine = (await any_stage.answers())[-1]
        await process.say("/children", who=UMA)
        await process.rest()
        other = (await any_stage.answers())[-1]
        await process.say("/children", room="r2")
        await process.rest()
        elsewhere = (await any_stage.answers())[-1]
    assert "“look around”: **main** waits for research." in mine
    assert "- ✋ **research**: Look. (waits for approval of `shell`, " in mine
    assert mine.endswith("`/stop` ends all work here.")
    assert other == elsewhere == "Nothing of yours is handed on here."


async def test_what_is_over_is_shown_until_something_is_at_work(stage: Stage) -> None:
    process = await stage.process(Strict([orders("One.", "Two."), "1", "2", "It is over."]), BOTH)
    async with process.running():
        await process.say("do it twice")
        await process.rest()
        await process.say("/children", who=ADA)
        await process.rest()
    told = (await stage.answers())[-1]
    assert told.startswith(
        "Nothing of yours is handed on here. The last was over just now:\n\n“do it twice”, handed on by **main**:"
    )
    assert told.count("- ✅ **main**: ") == 2


async def test_an_operator_ends_a_child_and_its_parent_goes_on(any_stage: Stage) -> None:
    process = await with_a_child_that_asks(any_stage)
    async with process.running():
        await process.say("look around")
        await process.rest()
        [found] = await any_stage.store.delegation.trees(ChildState.OPEN)
        child = found.pieces[0].child.id
        assert await any_stage.store.delegation.piece_called(child[-6:]) == child
        ended = await any_stage.store.delegation.end_child(child, "Otto")
        assert ended is not None
        assert ended.woken
        await process.rest()
    assert await any_stage.pending() == []
    assert sorted(await any_stage.states()) == [RunState.DONE, RunState.STOPPED]
    assert (await any_stage.answers())[-1] == "It is over."
    assert "stopped" in await tree(any_stage)
    assert await any_stage.store.delegation.end_child(child, "Otto") is None
    assert await any_stage.store.delegation.trees(ChildState.OPEN) == []


async def test_operators_find_a_tree_by_its_room_its_state_and_any_of_its_runs(any_stage: Stage) -> None:
    process = await with_a_child_that_asks(any_stage)
    async with process.running():
        await process.say("look around")
        await process.rest()
    trees = any_stage.store.delegation
    [found] = await trees.trees()
    assert (found.by, found.request, found.is_open) == ("Ada", "look around", True)
    assert await trees.trees(ChildState.OPEN, found.room) == [found]
    assert await trees.trees(ChildState.DONE) == await trees.trees(None, replace(found.room, room="elsewhere")) == []
    for run in (found.root, found.pieces[0].child.id):
        assert await trees.tree_around(run) == found
    assert await trees.piece_called("abc") is None
    assert await trees.piece_called("%%%%") is None


async def test_viewers_may_look(stage: Stage) -> None:
    process = await stage.process(Strict([]), BOTH)
    async with process.running():
        await process.say("/children", who=VERA)
        await process.rest()
    assert await stage.answers() == ["Nothing of yours is handed on here."]
