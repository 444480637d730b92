"""Scenario 58: messages for a suspended agent wait, across a kill too, and are all answered once it is resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from runtime.agent.registry import Agent
from runtime.cluster.topics import LANES
from runtime.context.prompt.prompts import Prompted
from runtime.contract import ModelReply, ModelRequest, OnText, Usage, UserTurn
from runtime.domain.agents.binding import binding_of
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.agents.manifest import Manifest
from tests.contract.runtime.stage import ADA, LEASE, UMA, Process, Stage, address
from tests.contract.runtime.strict import Strict

OPS: Final = Manifest(name="ops", rooms=("page:main/*",))
WAITS: Final = "ops is suspended: drill. I keep your messages, and it answers them once it's back."


@dataclass
class Echo:
    """A model that repeats what it was told last."""

    name: str = "echo"
    heard: list[str] = field(default_factory=list)

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        last = request.turns[-1]
        assert isinstance(last, UserTurn)
        self.heard.append(last.text)
        return ModelReply(f"to {last.text}", (), Usage("echo", 1, 1, 0))


async def life(stage: Stage) -> tuple[Process, Echo]:
    """A process in which ops answers in every room; what lived before is dead."""
    stage.clock.advance(LEASE)
    model = Echo()
    files = stage.workspaces.of("ops")
    ops = Agent(name="ops", prompt=lambda _: Prompted(""), model=model, tools={}, scope="ops", workspaces=files)
    process = await stage.process(Strict([]), others=[ops])
    process.gate = replace(process.gate, agents=(OPS,), bindings=(binding_of(OPS),))
    return process, model


async def turn(process: Process, event: AgentEvent) -> None:
    turned = await process.store.lives.turn_agent("ops", event, "drill", "Otto")
    assert turned.done
    if turned.lanes_ready:
        process.notifier.notify(LANES)


async def shown(stage: Stage, rooms: Sequence[str]) -> None:
    """Wait until nothing is left to show there."""
    while [room for room in rooms if await stage.store.outbox.open_deliveries(address(room))]:  # noqa: ASYNC110
        await asyncio.sleep(0.002)


async def test_messages_wait_for_a_suspended_agent_and_are_all_answered_in_order(any_stage: Stage) -> None:
    first, model = await life(any_stage)
    async with first.running():
        await turn(first, AgentEvent.SUSPEND)
        for words, who, room in (("one", ADA, "r1"), ("two", ADA, "r2"), ("three", UMA, "r1"), ("four", ADA, "r1")):
            await first.say(words, who=who, room=room)
        await shown(any_stage, ["r1", "r2"])
    assert model.heard == []
    second, model = await life(any_stage)
    async with second.running():
        await second.say("five", who=ADA, room="r2")
        await shown(any_stage, ["r1", "r2"])
        assert model.heard == []
        await turn(second, AgentEvent.RESUME)
        await second.rest()
    assert [text for text in model.heard if "two" not in text] == ["one", "[Uma] three\n\n[Ada] four"]
    answers = [await any_stage.answers(room) for room in ("r1", "r2")]
    assert answers[0] == [WAITS, WAITS, "*ops* · to one", "*ops* · to [Uma] three\n\n[Ada] four"]
    assert answers[1] == ["*ops* · to two\n\nfive"]
    assert await any_stage.rows("SELECT id FROM signals WHERE answered_at IS NULL") == []
