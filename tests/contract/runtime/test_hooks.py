"""What a webhook brings, over every store: answered once, however it comes; its calls ask people as everybody's do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from adapters.webhook.keys import Keys
from adapters.webhook.parse import signal_of, told_of
from adapters.webhook.payload import Payload
from adapters.webhook.settings import Hook, Proof, identity_of
from bot.testing.scripted import held
from runtime.contract import Address, Addressing, Choice, Effect, Identity, Outcome, Role, Said, Urgency, Verdict
from runtime.domain.routing import Attention, RoomRules
from runtime.domain.runs import RunState
from tests.contract.runtime.stage import ADA, SHELL, UMA, Process, Stage, address, fake_tool
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_inbound import heard

HOOK: Final = Hook("deploys", "page:main/r1", Proof("token", "s" * 16), "Tell the room.")
ROOMS: Final = RoomRules(Attention.MENTION, sources=frozenset(["hook:deploys"]))
ROOM: Final = address()
TOPIC: Final = replace(ROOM, thread="7")
BOT: Final = Identity("page:robot")


async def called(
    process: Process, words: str = "version 4.2", *, key: str = "", hook: Hook = HOOK, at: Address = ROOM
) -> Verdict:
    """As a request that was proven and read."""
    now = process.stage.clock()
    told = told_of(hook, {}, Payload(words), words.encode(), now)
    keys = Keys(f"id:{key or words}")
    actor = identity_of(hook.name)
    return await process.reception.sink(signal_of(hook, told, keys, actor=actor, address=at, now=now))


async def at_work(stage: Stage, model: Strict, **more: Any) -> Process:
    return await stage.process(model, rooms=more.pop("rooms", ROOMS), **more)


async def test_it_is_answered_once_in_its_room_whoever_repeats_it(any_stage: Stage) -> None:
    """Scenario 1."""
    model = Strict(["4.2 is out"])
    process = await at_work(any_stage, model)
    first = await called(process)
    assert [(await called(process)).outcome for _ in range(3)] == [Outcome.DUPLICATE] * 3
    await process.answer_all()
    assert (await called(process)) == Verdict(Outcome.DUPLICATE, first.signal_id)
    assert await any_stage.answers() == ["4.2 is out"]
    assert "```\nversion 4.2\n```" in heard(model.requests[0])


async def test_the_same_delivery_at_once_is_one_signal_and_one_answer(any_stage: Stage) -> None:
    """Scenario 1: as when a load balancer brings a repeat to another process."""
    process = await at_work(any_stage, Strict(["4.2 is out"]))
    async with process.running():
        verdicts = await asyncio.gather(*(called(process, key="once") for _ in range(20)))
        await process.rest()
    assert sorted(verdict.outcome for verdict in verdicts) == sorted([Outcome.ACCEPTED, *[Outcome.DUPLICATE] * 19])
    assert len({verdict.signal_id for verdict in verdicts}) == 1
    assert await any_stage.answers() == ["4.2 is out"]


async def test_no_number_of_them_in_a_row_is_too_many(any_stage: Stage) -> None:
    """A row of programs is bounded since they answer each other; a hook answers nobody."""
    process = await at_work(any_stage, Strict([f"answer {n}" for n in range(12)]))
    for number in range(12):
        assert (await called(process, f"version {number}")).outcome is Outcome.ACCEPTED
        await process.answer_all()
    assert len(await any_stage.answers()) == 12


async def test_for_other_programs_the_row_is_as_long_as_before_and_no_hook_is_held_by_it(stage: Stage) -> None:
    rooms = replace(ROOMS, bots=frozenset([BOT]))
    process = await at_work(stage, Strict([f"answer {n}" for n in range(7)]), rooms=rooms)

    async def robot(number: int) -> Outcome:
        signal = stage.signal(Said(f"beep {number}"), BOT, "r1")
        return (await process.reception.sink(replace(signal, by_bot=True))).outcome

    outcomes = []
    for number in range(6):
        outcomes.append(await robot(number))
        await process.answer_all()
    assert outcomes == [Outcome.ACCEPTED] * 5 + [Outcome.IGNORED]
    assert (await called(process)).outcome is Outcome.ACCEPTED


async def test_it_makes_the_agent_no_part_of_a_topic_that_people_talk_in(any_stage: Stage) -> None:
    """Scenario 5: there it still needs a mention."""
    rooms = replace(ROOMS, default=Attention.THREAD)
    process = await at_work(any_stage, Strict(["4.2 is out"]), rooms=rooms)
    assert (await called(process, at=TOPIC)).outcome is Outcome.ACCEPTED
    await process.answer_all()
    lunch = replace(any_stage.signal(Said("lunch?"), ADA, "r1"), address=TOPIC, reach=Addressing.OVERHEARD)
    assert (await process.reception.sink(lunch)).outcome is Outcome.IGNORED


async def test_a_program_that_is_no_hook_of_the_settings_is_none(stage: Stage) -> None:
    process = await at_work(stage, Strict([]), rooms=RoomRules())
    assert (await called(process)).outcome is Outcome.IGNORED


async def test_a_gated_call_asks_people_and_the_hook_is_a_user(any_stage: Stage) -> None:
    """Design 6: it approves nothing, neither its own."""
    model = Strict([SHELL, "Linux"])
    process = await at_work(any_stage, model, tools=[fake_tool("shell", Effect.DANGER)])
    async with process.running():
        await called(process)
        await process.rest()
        [asked] = await any_stage.pending()
        own = await process.click(asked.id, Choice.APPROVE, who=identity_of("deploys"))
        assert own.outcome is Outcome.UNCHANGED
        assert (await process.click(asked.id, Choice.APPROVE, who=UMA)).outcome is Outcome.UNCHANGED
        assert process.tools["shell"].calls == []
        assert (await process.click(asked.id, Choice.APPROVE, who=ADA)).outcome is Outcome.DECIDED
        await process.rest()
    assert await any_stage.answers() == ["Linux"]
    assert len(process.tools["shell"].calls) == 1
    [hook] = [one for one in await any_stage.store.people.people() if "hook:deploys" in one.identities]
    assert hook.person.role is Role.USER


async def test_low_is_context_and_high_ends_what_is_at_work(any_stage: Stage) -> None:
    """Scenario 9."""
    never = held("too late")
    model = Strict([never, "the shop burns"])
    process = await at_work(any_stage, model)
    async with process.running():
        low = await called(process, "a visitor", hook=replace(HOOK, urgency=Urgency.LOW))
        assert low.outcome is Outcome.OBSERVED
        await process.say("write a poem")
        await never.begun.wait()
        await called(process, "fire", hook=replace(HOOK, urgency=Urgency.HIGH))
        await process.rest()
    assert await any_stage.answers() == ["Stopped here.", "the shop burns"]
    assert await any_stage.states() == [RunState.STOPPED, RunState.DONE]
    assert "a visitor" in heard(model.requests[0])
