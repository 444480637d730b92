"""Conversations that agents hand over to each other: once a call, within the rights of each, and stopped after so many."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import pytest

from bot.testing.scripted import USAGE, held
from runtime.agent.delegation.hand_overs import HandOvers
from runtime.cluster.topics import LANES
from runtime.contract import (
    Call,
    Choice,
    Effect,
    Flow,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Reads,
    ScheduleRequest,
    Task,
    TaskKind,
    ToolTurn,
    Trigger,
)
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.agents.manifest import Manifest
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.guard.door import OPEN_DOOR
from runtime.models.demo import Demo
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.planning import Desk
from tests.contract.runtime.stage import ADA, OTTO, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_delegation import BOTH, agent, order, results, until_killed
from tools.delegation import Children, delegation_tools


def over(to: str, text: str = "Take over, please.") -> Call:
    return Call(f"c-{new_id()}", "hand_over", json.dumps({"agent": to, "text": text}))


def hands_of(stage: Stage) -> tuple[HandOvers, Any]:
    """Hand-overs, and their tool."""
    hands = HandOvers(store=stage.store.runs, agents=dict, door=OPEN_DOOR, ready=lambda: None)
    return hands, delegation_tools(cast("Children", None), hands, stage.clock)["hand_over"]


async def life(stage: Stage, main: Model, ops: Model, *more: Any, **given: Any) -> Process:
    """A process in which main may hand over to ops, and ops to nobody of its own accord."""
    hands, tool = hands_of(stage)
    others = [agent(stage, "ops", ops, [tool, *more])]
    process = await stage.process(main, [tool, *BOTH, *more], others=others, **given)
    agents = process.agent._agents
    agents["main"] = agents.main = replace(agents.main, manifest=Manifest(delegates_to=("ops",)))
    hands._agents = lambda: process.agent._agents
    hands._ready = partial(process.notifier.notify, LANES)
    return process


async def chains(stage: Stage) -> list[list[str]]:
    """Hands through which each hand-over went, the oldest first."""
    rows = await stage.rows("SELECT chain FROM signals WHERE trigger = :t ORDER BY id", t=Trigger.HAND_OVER.value)
    return [json.loads(row[0]) for row in rows]


async def test_the_other_agent_answers_in_the_room_for_the_same_person(any_stage: Stage) -> None:
    main, ops = Strict([over("ops", "Ada wants it restarted."), "Ops takes over."]), Strict(["It's restarted."])
    process = await life(any_stage, main, ops)
    async with process.running():
        await process.say("restart it")
        await process.rest()
    assert sorted(await any_stage.answers()) == ["*ops* · It's restarted.", "Ops takes over."]
    assert results(main) == ["ops answers here next. Say in a few words that you've handed over; add nothing else."]
    [turn] = ops.requests[0].turns
    assert "main handed this conversation over to you." in turn.text
    assert turn.text.endswith("\n\nAda wants it restarted.")
    assert await chains(any_stage) == [["main"]]
    assert [row[0] for row in await any_stage.rows("SELECT count(DISTINCT requester) FROM runs")] == [1]


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "model-answered", "delivery-stored"])
async def test_a_kill_anywhere_hands_over_once(any_stage: Stage, point: str) -> None:
    def main(request: ModelRequest) -> Any:
        return "Ops takes over." if isinstance(request.turns[-1], ToolTurn) else CALL

    CALL = over("ops")  # noqa: N806 - the same call, however often it is asked for
    first = await life(any_stage, By(main), By(lambda _: "Done."), probe=crash_at(point, 2 if "model" in point else 1))
    await until_killed(first)
    again = await life(any_stage, By(main), By(lambda _: "Done."))
    async with again.running():
        await again.rest()
    assert sorted(await any_stage.answers()) == ["*ops* · Done.", "Ops takes over."]
    assert len(await chains(any_stage)) == 1


class By(Strict):
    """Answers by the request, however often it is asked."""

    def __init__(self, answer: Any) -> None:
        super().__init__([])
        self._answer = answer

    async def reply(self, request: ModelRequest, on_text: Any) -> Any:
        self._answers = [self._answer(request)]
        return await super().reply(request, on_text)


async def test_calls_of_one_answer_and_the_next_may_have_one_id(stage: Stage) -> None:
    """Some vendors count the ids of their calls anew with each reply."""
    calls = [replace(over("ops", f"Take over, part {part}."), id="call_0") for part in (1, 2)]
    process = await life(stage, Strict([*calls, "Ops takes over."]), Strict(["One.", "Two."]))
    async with process.running():
        await process.say("restart it")
        await process.rest()
    assert await chains(stage) == [["main"], ["main"]]


async def test_whoever_takes_over_may_no_more_than_whoever_handed_over(any_stage: Stage) -> None:
    write = fake_tool("write", Effect.WRITE)
    ops = Strict([Call("c-1", "write", "{}"), "I may not."])
    process = await life(any_stage, Strict([over("ops"), "Ops takes over."]), ops, write)
    agents = process.agent._agents
    narrow = Manifest(delegates_to=("ops",), tools=("hand_over",))
    agents["main"] = agents.main = replace(agents.main, manifest=narrow)
    async with process.running():
        await process.say("write it")
        await process.rest()
    assert write.calls == []
    assert results(ops)[0].startswith("denied: main, which asked for this, may not do it either.")


async def test_what_whoever_took_over_plans_may_no_more_than_all_hands(any_stage: Stage) -> None:
    """Also after a change by an agent; what people write anew is theirs."""
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE)
    call = Call("c-1", "write", "{}")
    ops = Strict([Call("c-0", "look", "{}"), "Planned.", call, "I may not.", call, "I may not.", call, "Written."])
    rules: dict[str, Any] = {"rules": [Rule(Ruling.ALLOW, "*")]}
    process = await life(any_stage, Strict([over("ops"), "Ops takes over."]), ops, look, write, **rules)
    agents = process.agent._agents
    narrow = Manifest(delegates_to=("ops",), tools=("hand_over", "look"))
    agents["main"] = agents.main = replace(agents.main, manifest=narrow)
    async with process.running():
        await process.say("write it each hour")
        await process.rest()
    assert look.above == [("main",)]
    at = Desk(any_stage, process)
    person = await at.asker()
    by = replace(person, agent="ops", above=look.above[0])
    wanted = ScheduleRequest(when="every hour", task=Task(TaskKind.PROMPT, "Write it."))
    schedule = await process.booking.add(wanted, by)
    await at.fire()
    assert results(ops)[-1].startswith("denied: main, which asked for this, may not do it either.")
    changed = ScheduleRequest(task=Task(TaskKind.PROMPT, "Write it now."))
    await process.booking.change(schedule.id, changed, replace(by, above=()))
    await at.fire()
    assert write.calls == []
    await process.booking.change(schedule.id, changed, person)
    await at.fire()
    assert len(write.calls) == 1


async def test_of_an_agent_above_that_is_gone_no_right_is_left(stage: Stage) -> None:
    look = fake_tool("look", Effect.READ)
    slow = held(Call("c-1", "look", "{}"))
    ops = Strict([over("lab"), "Lab takes over."])
    lab = agent(stage, "lab", lab_model := Strict([slow, "I may not."]), [look])
    process = await life(stage, Strict([over("ops"), "Ops takes over."]), ops, look)
    agents = process.agent._agents
    agents["lab"] = lab
    agents["ops"] = replace(agents["ops"], manifest=Manifest(name="ops", delegates_to=("lab",)))
    async with process.running():
        await process.say("look")
        await slow.begun.wait()
        del agents["ops"]
        slow.until.set()
        await process.rest()
    assert look.calls == []
    assert results(lab_model)[0].startswith("denied: ops, which asked for this, may not do it either.")


async def test_a_card_of_whoever_took_over_names_the_hands(stage: Stage) -> None:
    shell = fake_tool("shell", Effect.DANGER)
    ops = Strict([Call("c-1", "shell", "{}"), "ran"])
    process = await life(stage, Strict([over("ops"), "Ops takes over."]), ops, shell)
    async with process.running():
        await process.say("run it")
        await process.rest()
    [asked] = await stage.pending()
    assert asked.caution == "ops asks this for main."


async def test_only_agents_of_the_settings_and_those_above_take_over(stage: Stage) -> None:
    main = Strict([over("lab"), over("main"), "No."])
    process = await life(stage, main, Strict([]))
    async with process.running():
        await process.say("go")
        await process.rest()
    refused = "error: You may hand over to ops, and back to whoever handed over to you. Nothing was handed over."
    assert results(main) == [refused, refused]
    assert await chains(stage) == []


async def test_work_without_a_conversation_is_not_handed_over(stage: Stage) -> None:
    main = Strict([order(goal="Restart it."), over("ops"), "I did it myself.", "Done."])
    process = await life(stage, main, Strict([]))
    async with process.running():
        await process.say("go")
        await process.rest()
    assert results(main, 2)[0].startswith("error: This work has no conversation to hand over")
    assert await chains(stage) == []


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (AgentEvent.SUSPEND, "ops is suspended and answers here once it's resumed."),
        (AgentEvent.TERMINATE, "error: ops was ended for good."),
    ],
)
async def test_an_agent_that_is_held_back_is_told_of(stage: Stage, event: AgentEvent, told: str) -> None:
    main, ops = Strict([over("ops"), "Well."]), Strict(["Here I am."])
    process = await life(stage, main, ops)
    await process.store.lives.turn_agent("ops", event, "drill", "Otto")
    async with process.running():
        await process.say("go")
        while not await stage.answers():
            await stage.runs()
    assert results(main)[0].startswith(told)
    assert ops.requests == []


PING_PONG: Final = (["main"], ["main", "ops"], ["main", "ops", "main"], ["main", "ops", "main", "ops"])


async def at_the_limit(stage: Stage) -> Process:
    """Main and ops have handed over to each other four times, and main would once more."""
    main = Strict([over("ops"), "Over.", over("ops"), "Over.", over("ops"), "Over once more.", "I give up."])
    ops = Strict([over("main"), "Back.", over("main"), "Back.", over("main"), "Back."])
    process = await life(stage, main, ops)
    async with process.running():
        await process.say("go")
        await process.rest()
    assert await chains(stage) == [*PING_PONG]
    return process


async def test_after_four_hand_overs_a_person_is_asked_and_lets_exactly_one_more_through(any_stage: Stage) -> None:
    process = await at_the_limit(any_stage)
    [asked] = await any_stage.pending()
    [card] = [one for one in await any_stage.screen() if "Stopped at" in one]
    assert card.startswith("**Stopped at 4 hand-overs, target ops**")
    assert card.endswith("\n\nmain asks this for ops.\n[Continue once]\n[Deny]\n[Why?]")
    async with process.running():
        for who in (ADA, ADA, OTTO):
            await process.click(asked.id, who=who)
        await process.rest()
    assert await chains(any_stage) == [*PING_PONG, ["main", "ops", "main", "ops", "main"]]
    [again] = await any_stage.pending()
    assert again.id != asked.id
    assert again.caution.startswith("Stopped at 5 hand-overs, target main")


async def test_a_hand_over_that_is_denied_is_told_to_its_agent(stage: Stage) -> None:
    process = await at_the_limit(stage)
    [asked] = await stage.pending()
    async with process.running():
        await process.click(asked.id, Choice.DENY)
        await process.rest()
    assert await chains(stage) == [*PING_PONG]
    assert await stage.pending() == []


async def test_a_hand_over_shares_no_run_with_what_people_said_meanwhile(stage: Stage) -> None:
    slow = held("one")
    ops = Strict([slow, "two", "three"])
    process = await life(stage, Strict([over("ops"), "Over."]), ops)
    async with process.running():
        process.gate = replace(process.gate, agent="ops")
        await process.say("first")
        await slow.begun.wait()
        process.gate = replace(process.gate, agent="main")
        await process.say("go")
        while not await chains(stage):
            await stage.runs()
        process.gate = replace(process.gate, agent="ops")
        await process.say("second")
        slow.until.set()
        await process.rest()
    triggers = [row[0] for row in await stage.rows("SELECT trigger FROM runs WHERE session LIKE 'ops%' ORDER BY id")]
    assert sorted(triggers) == ["hand over", "message", "message"]
    assert set(await stage.states()) == {RunState.DONE}


async def test_what_is_handed_over_after_outside_text_is_material(stage: Stage) -> None:
    web = fake_tool("web", Effect.READ, flow=Flow(Reads.OUTSIDE, source="example.org"))
    ops = Strict(["Hm."])
    process = await life(stage, Strict([Call("c-1", "web", "{}"), over("ops", "Obey."), "Over."]), ops, web)
    async with process.running():
        await process.say("read it")
        await process.rest()
    assert ops.requests[0].turns[0].text.startswith("⟦From main after reading example.org, another program.⟧\nObey.")


PAGE: Final = Path(__file__).parents[3] / "docs" / "delegation.md"
PHRASES: Final[Sequence[str]] = re.findall(r"^hand over to .+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


async def test_the_demo_plays_the_phrase_of_the_page(stage: Stage) -> None:
    [phrase] = PHRASES
    process = await life(stage, Demo(), Demo())
    async with process.running():
        await process.say(phrase)
        await process.rest()
    answers = await stage.answers()
    assert len([one for one in answers if one.startswith("*ops* · ")]) == 1
    assert [one for one in answers if "answers here next" in one] == ["ops answers here next."]


class Endless:
    """Makes its calls, and then never answers."""

    name = "endless"

    def __init__(self, *calls: Call) -> None:
        self.calls = [*calls]
        self.waits = asyncio.Event()

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if self.calls:
            return ModelReply("", (self.calls.pop(0),), USAGE)
        self.waits.set()
        return await asyncio.Future[ModelReply]()


async def test_a_stop_ends_both_who_handed_over_and_who_took_over(any_stage: Stage) -> None:
    main, ops = Endless(over("ops")), Endless()
    process = await life(any_stage, main, ops)
    process.gate = replace(process.gate, agents=(Manifest(name="ops"),))
    async with process.running():
        await process.say("restart it")
        await main.waits.wait()
        await ops.waits.wait()
        await process.stop()
        await process.rest()
    assert await any_stage.states() == [RunState.STOPPED, RunState.STOPPED]
