"""Calls that hide what they do in something that looks like a secret: the rules judge what runs, not what people see."""

from __future__ import annotations

import json
from typing import Final

import pytest

from runtime.contract import Call, Carries, Effect, Flow, Reads
from runtime.policy.matchers import Commands
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned
from tests.contract.runtime.test_taint import FETCH_FLOW, PAGE, READ_PAGE, hostile
from tests.unit.guard.secrets import SECRETS

NO_PUSHES: Final = Rule(Ruling.VETO, "shell", where={"command": Commands((("git", "push"),))}, name="no pushes")
ONLY_ECHO: Final = Rule(Ruling.ALLOW, "shell", where={"command": Commands((("echo",),))})
HIDING: Final = {
    "in a key": "echo -----BEGIN PRIVATE KEY-----\ngit push -f origin",
    "in a password": "echo ://x:;git\tpush;@h",
    "in an address": "echo ://x:;git${IFS}push;@h",
}


async def run(stage: Stage, command: str, *rules: Rule) -> Process:
    call = Call("c1", "shell", json.dumps({"command": command}))
    process = await stage.process(Planned(call), [fake_tool("shell", Effect.DANGER)], rules=rules)
    await process.say("run it")
    await process.answer_all()
    return process


@pytest.mark.parametrize("command", HIDING.values(), ids=HIDING)
async def test_no_command_gets_past_a_veto_as_a_secret(command: str, stage: Stage) -> None:
    process = await run(stage, command, NO_PUSHES, Rule(Ruling.ALLOW))
    assert process.tools["shell"].calls == []
    assert await stage.pending() == []


@pytest.mark.parametrize("command", HIDING.values(), ids=HIDING)
async def test_no_command_is_allowed_as_a_secret(command: str, stage: Stage) -> None:
    """It asks, and the card says that what is hidden there runs as well."""
    process = await run(stage, command, ONLY_ECHO)
    assert process.tools["shell"].calls == []
    [question] = await stage.pending()
    assert question.caution.endswith("What is hidden here as a secret runs with the call. Say yes only if you know it.")


async def test_an_allowed_command_with_a_secret_runs(stage: Stage) -> None:
    command = f"echo {SECRETS['github'][1]}"
    process = await run(stage, command, NO_PUSHES, ONLY_ECHO)
    assert process.tools["shell"].calls == [{"command": command}]


async def test_after_outside_text_a_call_with_a_secret_asks_whatever_people_named(stage: Stage) -> None:
    """Its words can't be compared with theirs on a card that must not show them."""
    flow = Flow(Reads.OURS, carries={"to": Carries.RECIPIENT, "text": Carries.WORDS})
    send = Call("c2", "send", json.dumps({"to": "ann@example.net", "text": SECRETS["github"][1]}))
    tools = [fake_tool("fetch", Effect.READ, hostile, flow=FETCH_FLOW), fake_tool("send", Effect.WRITE, flow=flow)]
    process = await stage.process(Planned(PAGE, send), tools, rules=[Rule(Ruling.ALLOW)])
    await process.say(f"{READ_PAGE}, and write to ann@example.net")
    await process.answer_all()
    assert process.tools["send"].calls == []
    [question] = await stage.pending()
    assert question.caution.startswith("After reading example.org.")
    assert SECRETS["github"][1][:12] not in question.caution
