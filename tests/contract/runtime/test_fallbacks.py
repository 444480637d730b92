"""A vendor that fails in the middle of a run: another one goes on, nobody sees an error, and every node knows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

import pytest

from bot.testing.openai.server import OpenAI, Reply, ToolCall
from bot.testing.scripted import USAGE
from bot.testing.serve import serving
from runtime.agent.registry import Limits
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Call, Effect, Model, ModelReply, ModelRequest, OnText, Probe, no_probe
from runtime.domain.runs import RunState
from runtime.models.choice.chain import Member, ModelChain
from runtime.models.choice.routing import Route
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from tests.contract.runtime.stage import Stage, crash_at, fake_tool
from tests.fakes.anthropic import Anthropic

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

FIRST, SECOND = "openai/gpt-4o", "anthropic/claude-sonnet-4-5"
CALLS = 20
BUSY = Reply("slow down", status=429, retry_after="60")


@dataclass
class Vendors:
    """Two vendors on the wire that go on with one and the same run: a call each time, and words at its end."""

    asked: list[str]
    urls: Sequence[str]

    def chain(self, stage: Stage, probe: Probe = no_probe) -> tuple[ModelChain, SharedCooldowns]:
        """The two as one model of one node."""
        given = ModelSettings(FIRST, f"{self.urls[0]}/v1", "k1", yields=True, max_retries=1)
        also = replace(given, name=SECOND, api_base=self.urls[1], api_key="k2")
        cooldowns = SharedCooldowns(store=stage.store.cooldowns, notifier=LocalNotifier(), now=stage.clock)
        members = [Member(Route("first"), LiteModel(given), "m"), Member(Route("second"), LiteModel(also), "m")]
        return ModelChain(members, ["second"], cooldowns=cooldowns, now=stage.clock, probe=probe), cooldowns


def next_reply(number: int) -> Reply:
    if number >= CALLS:
        return Reply("All done.")
    return Reply("", (ToolCall("look", f'{{"at": {number}}}', f"c{number}"),), "tool_calls")


@asynccontextmanager
async def vendors(fails: Callable[[int], bool]) -> AsyncIterator[Vendors]:
    """The first one answers 429 where `fails` says so of a call's number, from 1 on."""
    asked: list[str] = []
    answered = count(1)
    number = next(answered)

    def of(vendor: str) -> Reply:
        nonlocal number
        asked.append(f"{vendor} {number}")
        if vendor == "first" and fails(number):
            return BUSY
        reply, number = next_reply(number), next(answered)
        return reply

    first, second = OpenAI(lambda _: of("first")), Anthropic(lambda _: of("second"))
    async with serving(first.app()) as one, serving(second.app()) as other:
        yield Vendors(asked, (one, other))


async def models_of(stage: Stage) -> list[str]:
    rows = await stage.rows("SELECT model, instead_of FROM usage ORDER BY step")
    return [f"{model} instead of {instead}" if instead else model for model, instead in rows]


async def test_429_at_call_3_of_20_and_well_at_call_5(any_stage: Stage) -> None:
    """Calls 3 and 4 by the next model, 5 by the first; nobody sees an error, and both nodes know the cooldown."""
    async with vendors(lambda number: number in (3, 4)) as it:
        chain, _ = it.chain(any_stage)
        _, known = it.chain(any_stage)
        seen: list[bool] = []

        async def look(*_: object) -> str:
            at = len(seen) + 1
            if at == 3:
                await known.look()  # the other node, once it is told
            seen.append(known.of("first") is not None)
            if at == 4:
                any_stage.clock.advance(timedelta(seconds=61))
            return f"seen {at}"

        process = await any_stage.process(
            chain, [fake_tool("look", Effect.READ, look)], limits=Limits(iterations=CALLS + 1)
        )
        await process.say("look twenty times")
        await process.answer_all()
        assert await any_stage.answers() == ["All done."]
        assert await any_stage.states() == [RunState.DONE]
        by_the_next = f"{SECOND} instead of first"
        assert await models_of(any_stage) == [FIRST] * 2 + [by_the_next] * 2 + [FIRST] * (CALLS - 4)
        assert it.asked[:6] == ["first 1", "first 2", "first 3", "second 3", "second 4", "first 5"]
        assert seen[2:4] == [True, True]
        assert await any_stage.store.cooldowns.resting() == []


@pytest.mark.parametrize("point", ["model-benched", "fallback-chosen"])
async def test_a_kill_around_a_fallback_loses_nothing_and_asks_the_busy_one_no_more(
    any_stage: Stage, point: str
) -> None:
    async with vendors(lambda number: number == 3) as it:
        dying, _ = it.chain(any_stage, crash_at(point))
        tools = [fake_tool("look", Effect.READ)]
        limits = Limits(iterations=CALLS + 1)
        process = await any_stage.process(dying, tools, limits=limits)
        await process.say("look twenty times")
        await process.until_crash()
        chain, known = it.chain(any_stage)
        await known.look()
        again = await any_stage.process(chain, tools, limits=limits)
        await again.answer_all()
        assert await any_stage.answers() == ["All done."]
        assert it.asked.count("first 3") == 1
        assert (await models_of(any_stage))[2] == f"{SECOND} instead of first"


@dataclass
class Named:
    """A model that answers with its own name, after one call of a tool."""

    name: str

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        begun = any(getattr(turn, "tool", "") for turn in request.turns)
        calls = () if begun else (Call("c1", "write", "{}"),)
        return ModelReply(self.name if begun else "", calls, replace(USAGE, model=self.name))


async def test_a_run_that_is_taken_up_again_keeps_its_model(any_stage: Stage) -> None:
    def chain(*names: str) -> Model:
        cooldowns = SharedCooldowns(store=any_stage.store.cooldowns, notifier=LocalNotifier(), now=any_stage.clock)
        members = [
            Member(Route(name, least_complexity=0 if name == "clever" else None), Named(name), "m") for name in names
        ]
        return ModelChain(members, [], cooldowns=cooldowns, now=any_stage.clock)

    tool = fake_tool("write", Effect.READ)
    process = await any_stage.process(chain("usual", "clever"), [tool], probe=crash_at("step-recorded"))
    await process.say("write it")
    await process.until_crash()
    assert await any_stage.rows("SELECT model FROM runs") == [("clever",)]
    again = await any_stage.process(chain("usual", "clever", "cleverest"), [tool])
    await again.answer_all()
    assert await any_stage.answers() == ["clever"]
    steps = await any_stage.rows("SELECT caution FROM steps WHERE kind = 'model' ORDER BY number")
    assert [why for (why,) in steps] == ["complexity 3, at least 0", "the run began with it"]
