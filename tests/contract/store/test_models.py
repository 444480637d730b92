"""`/model`: who may choose, who reads it, and which run has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import Commanded, Identity
from runtime.store.protocol import Taken
from tests.contract.store.stage import ADA, GATE, OTTO, ROOM, UMA, Stage

SEVERAL = replace(GATE, model="openai/gpt-4o", models=("sonnet", "local"))
CHOICES = "Choose `/model sonnet`, `/model local`, `/model default`."


async def give(stage: Stage, argument: str = "", *, actor: Identity = OTTO) -> Taken:
    signal = stage.signal(Commanded("model", argument), actor=actor, at=ROOM)
    return await stage.take_in(replace(signal, private=2000), SEVERAL)


async def test_a_model_is_chosen_for_a_conversation_and_everybody_reads_it(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    taken = await give(stage, "sonnet")
    assert taken.verdict.notice is None
    told = (await stage.waiting())[-1].delivery.content.text
    assert told == "Otto chose the model `sonnet` for this conversation, from the next message on."
    assert (await stage.begin("and now?")).wanted == "sonnet"
    assert await stage.audit("model chosen") == [("Otto", str(ROOM), "sonnet")]


async def test_default_goes_back_to_the_usual_one(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    await give(stage, "sonnet")
    shown = (await give(stage)).verdict.notice
    assert shown == f"The model here is `sonnet`, chosen for this conversation. {CHOICES}"
    await give(stage, "default")
    assert (await stage.begin("and now?")).wanted == ""
    assert (await give(stage)).verdict.notice == f"The model here is `openai/gpt-4o`. {CHOICES}"


@pytest.mark.parametrize(
    ("argument", "actor", "answer"),
    [
        ("opus", OTTO, f"I don't know that model. {CHOICES}"),
        ("sonnet", UMA, "Only operators and owners can change the model."),
        ("sonnet", ADA, "Nothing has been said here yet. Say something first, then choose a model."),
    ],
)
async def test_what_cannot_be_chosen_is_told_to_its_sender_alone(
    stage: Stage, argument: str, actor: Identity, answer: str
) -> None:
    assert (await give(stage, argument, actor=actor)).verdict.notice == answer
    assert await stage.audit("model chosen") == []


async def test_a_run_that_goes_on_has_the_model_of_its_conversation(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    await give(stage, "local")
    claim = await stage.begin("look")
    await stage.store.runs.release(claim.lane)
    again = await stage.claim()
    assert (again.resumed, again.wanted) == (True, "local")
