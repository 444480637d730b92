"""What a model may answer, over the wire: whatever it is, the person is told and the conversation goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.e2e.house import House, open_house
from tests.e2e.visitor import Visitor, until, visiting
from tests.fakes.serve import spawned

pytestmark = [pytest.mark.xdist_group("e2e-bad-models"), pytest.mark.timeout(120)]


@pytest.fixture
def room() -> str:
    return uuid4().hex


class Talk:
    """A conversation with a model that answers as it is told."""

    def __init__(self, owner: Visitor, model: str, room: str) -> None:
        self.owner = owner
        self.room = room
        self._model = model

    async def ask(self, *script: dict[str, Any]) -> str:
        """The person's answer when the model's replies are these, in order. Beyond them it echoes."""
        await self.prepare(*script)
        return await self.owner.ask(self.room, f"a question {uuid4().hex}")

    async def prepare(self, *script: dict[str, Any]) -> None:
        async with self.owner.http.post(f"{self._model}/script", json=list(script)) as answer:
            assert answer.status == 200

    async def told(self) -> list[str]:
        """The results that the model was told with its last request."""
        return [message["content"] for message in (await self._messages()) if message["role"] == "tool"]

    async def hears(self, text: str) -> None:
        """Return once the model was asked with these words."""

        async def look() -> bool | None:
            return any(message.get("content") == text for message in await self._messages()) or None

        await until(look, f"the model being asked {text!r}")

    async def _messages(self) -> list[dict[str, Any]]:
        async with self.owner.http.get(f"{self._model}/requests") as answer:
            requests = await answer.json()
        return list(requests[-1]["messages"]) if requests else []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[str]:
    async with spawned("bot.testing.openai.server") as (_, url):
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(model: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A house that asks a model over the wire, and gives it five calls a question."""
    settings = f'[model]\nname = "openai/mock"\napi_base = "{model}/v1"\napi_key = "none"\n[run]\nmax_iterations = 5\n'
    with open_house(tmp_path_factory.mktemp("real"), settings) as house:
        yield house
    assert "Traceback" not in house.log()


@pytest.fixture
async def talk(real: House, model: str, room: str) -> AsyncIterator[Talk]:
    async with visiting(real.link) as owner:
        yield Talk(owner, model, room)
        assert "You said: still fine?" in await owner.ask(room, "still fine?")  # the conversation goes on


def call(name: str, arguments: str) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"path": ', "not valid JSON"),
        ("path=.", "not valid JSON"),
        ('["."]', "JSON list"),
        ("[" * 5000, "not valid JSON"),
        ('{"path": 7}', "path"),
        ('{"paht": "."}', "paht"),
        ('{"path": "no/such/folder"}', "no/such/folder"),
    ],
    ids=lambda value: value[:16],
)
async def test_malformed_arguments_are_told_to_the_model(talk: Talk, arguments: str, words: str) -> None:
    assert "You said: a question" in await talk.ask(call("list_files", arguments))
    (result,) = await talk.told()
    assert result.startswith("error: ")
    assert words in result


async def test_a_tool_that_does_not_exist_is_told_to_the_model_with_those_that_do(talk: Talk) -> None:
    assert "You said: a question" in await talk.ask(call("launch_rockets", "{}"))
    [told] = await talk.told()
    head, _, known = told.removesuffix(".").partition("; there are ")
    assert head == "error: there is no tool 'launch_rockets'"
    assert {"list_files", "schedule_set", "shell"} < set(known.split(", "))


@pytest.mark.parametrize("text", ["", " \n "])
async def test_a_model_that_says_nothing_is_told_to_the_person(talk: Talk, text: str) -> None:
    assert "gave an empty answer" in await talk.ask(*[{"text": text}] * 2)  # it was asked once more


async def test_the_same_call_for_ever_comes_to_an_end_that_the_person_is_told(talk: Talk) -> None:
    assert "stopped after 5 steps" in await talk.ask(*[call("list_files", '{"path": "."}')] * 5)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([{"status": 401, "text": "bad key sk-12345"}], "key"),
        ([{"status": 400, "text": "no such model"}], "refused the request (400): no such model"),
        ([{"text": "cut in the middle", "cut": 1}] * 3, "broke in the middle"),
        ([{"status": 500, "text": "oh no"}] * 3, "500"),
    ],
    ids=["key", "request", "cut", "trouble"],
)
async def test_a_model_that_fails_is_told_to_the_person(talk: Talk, script: list[dict[str, Any]], words: str) -> None:
    told = await talk.ask(*script)
    assert words in told.lower()
    assert "sk-12345" not in told
    assert "Traceback" not in told
    assert "litellm" not in told.lower()


async def test_a_model_call_is_cut_by_stop_at_once(talk: Talk) -> None:
    await talk.prepare({"text": "too late", "delay": 50})
    await talk.owner.say(talk.room, "a long question")
    await talk.hears("a long question")
    stopped = await talk.owner.post(f"/api/rooms/{talk.room}/stop", {"id": uuid4().hex})
    assert stopped.body["outcome"] == "decided"
    assert await talk.owner.told(talk.room) == ["Stopped here."]
