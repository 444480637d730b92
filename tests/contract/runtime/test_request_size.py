"""A plain chat's request as its vendor gets it: small, and with a beginning that stays the same."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.settings.settings import load
from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from bot.wiring.live_rules import prompts_of
from bot.wiring.tools.known import known_tools
from runtime.context.prompt.here import Here, Place
from runtime.context.prompt.prompts import Prompted
from runtime.contract import Addressing, Said
from runtime.models.litellm_loading import LIBRARY, VARIABLES
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from tests.contract.runtime.stage import ADA, OTTO, FakeTool, Stage

REQUEST_MAX_BYTES = 8_000
TOOLS_MAX_BYTES = 6_500

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),  # LiteLLM sets this filter itself; pytest resets it
]
for name in VARIABLES:
    os.environ.setdefault(name, "True")


def size(sent: object) -> int:
    return len(json.dumps(sent, separators=(",", ":"), ensure_ascii=False).encode())


async def test_a_plain_chat_is_small_and_its_beginning_stays_the_same(stage: Stage, tmp_path: Path) -> None:
    settings = load(environ={}, folder=tmp_path)
    prompts = prompts_of(settings)

    def prompt(here: Here) -> Prompted:
        return prompts.at(here, Place("Slack", "#ops", "Tables are shown as columns of plain text."), "")

    await LIBRARY.get()
    server = OpenAI([Reply("Hello."), Reply("Hello again."), Reply("And you.")])
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings("openai/gpt-4o", f"{url}/v1", "key"))
        tools = [FakeTool(tool.spec) for tool in known_tools(settings).values()]
        process = await stage.process(model, tools, prompt=prompt)
        async with process.running():
            for words, who in (("hello", ADA), ("hi again", ADA), ("me too", OTTO)):
                signal = stage.signal(Said(words), who, "r1")
                await process.reception.sink(replace(signal, reach=Addressing.MENTION))
                await process.rest()
                stage.clock.advance(timedelta(minutes=7))
    first, second, third = server.requests
    assert size(first) <= REQUEST_MAX_BYTES
    assert size(first["tools"]) <= TOOLS_MAX_BYTES
    assert [size(sent["tools"]) for sent in server.requests] == [size(first["tools"])] * 3
    assert json.dumps(first["messages"][0]) == json.dumps(second["messages"][0]) == json.dumps(third["messages"][0])
    assert second["messages"][1:3] == [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello."}]
    asked: list[Any] = [request["messages"][-1]["content"] for request in (first, third)]
    assert asked[0].startswith("hello\n\n[from Signalbox] ")
    assert '"Ada" (owner)' in asked[0]
    assert '"Otto" (operator)' in asked[1]


async def test_in_a_private_room_each_request_begins_with_all_of_the_one_before(stage: Stage, tmp_path: Path) -> None:
    prompts = prompts_of(load(environ={}, folder=tmp_path))
    await LIBRARY.get()
    server = OpenAI([Reply(f"Answer {number}.") for number in range(4)])
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings("openai/gpt-4o", f"{url}/v1", "key"))
        place = Place("the web page", own=True)
        process = await stage.process(model, prompt=lambda here: prompts.at(here, place, ""))
        async with process.running():
            for number in range(4):
                await process.say(f"message {number}")
                await process.rest()
                stage.clock.advance(timedelta(minutes=7))
    sent = [json.dumps(request["messages"])[:-1] for request in server.requests]
    assert len(sent) == 4
    assert all(after.startswith(before) for before, after in pairwise(sent))
