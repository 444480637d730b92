"""OpenAI's own client talks to agents: models, chat, responses, streams, images and errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import openai
import pytest

from tests.contract.doors.conftest import Doors

PIXEL: Final = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@asynccontextmanager
async def client(doors: Doors, name: str = "app", **given: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    token = await doors.make(name, **given)
    async with openai.AsyncOpenAI(base_url=f"{doors.house.url}/v1", api_key=token, max_retries=0) as made:
        yield made


def asked(text: str) -> Any:
    return [{"role": "user", "content": text}]


async def test_chat_answers_whole_and_in_pieces_and_once_a_key(doors: Doors) -> None:
    async with client(doors) as app:
        assert [one.id for one in (await app.models.list()).data] == ["signalbox", "main", "ops", "finance"]
        key = {"Idempotency-Key": "once"}
        whole = await app.chat.completions.create(model="ops", messages=asked("Hello there"), extra_headers=key)
        stream = await app.chat.completions.create(
            model="ops",
            messages=asked("Hello there"),
            extra_headers=key,
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == whole.choices[0].message.content
        assert "Hello there" in text
        assert {chunk.id for chunk in chunks} == {whole.id}
        assert chunks[-1].usage == whole.usage
        assert len(await doors.house.api.runs()) == 1
        with pytest.raises(openai.ConflictError):
            await app.chat.completions.create(model="ops", messages=asked("Another"), extra_headers=key)


async def test_a_user_is_a_room_and_earlier_messages_are_material_only_where_nobody_heard_them(doors: Doors) -> None:
    async with client(doors) as app:
        earlier = [
            {"role": "system", "content": "Be kind."},
            *asked("My dog is Rex"),
            {"role": "assistant", "content": "Nice"},
        ]
        messages: Any = [*earlier, *asked("Hello again")]
        for number in range(2):
            key = {"Idempotency-Key": f"turn-{number}"}
            await app.chat.completions.create(model="signalbox", messages=messages, user="ada", extra_headers=key)
        first, second = sorted(await doors.house.api.runs(), key=lambda run: run["id"])
        assert first["address"] == second["address"]
        assert "Rex" in first["signals"][0]
        assert "material, not instructions" in first["signals"][0]
        assert "Rex" not in second["signals"][0]


async def test_a_question_in_mid_run_ends_the_request_and_the_answer_stays_fetchable(doors: Doors) -> None:
    await doors.make("boss", "operator")
    async with client(doors) as app:
        response = await app.responses.create(model="main", input="run: uname -a")
        assert (response.status, "GET /v1/responses/" in response.output_text) == ("in_progress", True)
        stream = await app.responses.retrieve(response.id, stream=True)
        cut = [event async for event in stream]
        assert [event.type for event in cut] == ["response.created", "response.in_progress", "response.incomplete"]
        question = (await doors.ask("boss", "GET", "/api/v1/approvals")).body["data"][0]["id"]
        await doors.ask("boss", "POST", f"/api/v1/approvals/{question}", {"choice": "deny"})
        await doors.answered("app", response.id.removeprefix("resp_"))
        rest = [event async for event in await app.responses.retrieve(response.id, stream=True, starting_after=1)]
        numbers = [event.sequence_number for event in rest]
        assert numbers == sorted(set(numbers))
        assert numbers[0] > 1
        done = await app.responses.retrieve(response.id)
        assert (done.status, rest[-1].type) == ("completed", "response.completed")
        assert "".join(event.delta for event in rest if event.type == "response.output_text.delta") == done.output_text


async def test_responses_go_on_from_one_before_in_the_background_and_by_stream(doors: Doors) -> None:
    async with client(doors) as app:
        first = await app.responses.create(model="ops", input="Hello there", instructions="Be brief.")
        assert (first.status, "Hello there" in first.output_text) == ("completed", True)
        later = await app.responses.create(
            model="ops", input=asked("Go on"), previous_response_id=first.id, background=True
        )
        assert (later.status in ("queued", "in_progress", "completed"), later.previous_response_id) == (True, first.id)
        await doors.answered("app", later.id.removeprefix("resp_"))
        events = [event async for event in await app.responses.retrieve(later.id, stream=True)]
        again = [
            event
            async for event in await app.responses.retrieve(
                later.id, stream=True, starting_after=events[4].sequence_number
            )
        ]
        assert again == events[5:]
        rooms = {run["address"] for run in await doors.house.api.runs()}
        assert len(rooms) == 1


async def test_what_is_wrong_is_an_error_that_the_client_knows(doors: Doors) -> None:
    async with client(doors, agents=["ops"]) as app:
        with pytest.raises(openai.NotFoundError, match="There are: ops"):
            await app.chat.completions.create(model="gpt-4", messages=asked("Hello"))
        search: Any = [{"type": "web_search"}]
        with pytest.raises(openai.BadRequestError, match="tools"):
            await app.chat.completions.create(model="ops", messages=asked("Hello"), tools=search)
        odd: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "array"}}}
        with pytest.raises(openai.BadRequestError, match="json_schema"):
            await app.chat.completions.create(model="ops", messages=asked("Hello"), response_format=odd)
        with pytest.raises(openai.NotFoundError, match="No model for embeddings"):
            await app.embeddings.create(model="signalbox", input="Hello")
        with pytest.raises(openai.NotFoundError):
            await app.responses.retrieve("resp_nothing")
        parts: Any = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
        seen = await app.chat.completions.create(model="ops", messages=[{"role": "user", "content": parts}])
        assert seen.choices[0].finish_reason == "stop"
        far: Any = [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
        with pytest.raises(openai.BadRequestError, match="data URI"):
            await app.chat.completions.create(model="ops", messages=[{"role": "user", "content": far}])
    async with openai.AsyncOpenAI(base_url=f"{doors.house.url}/v1", api_key="sbx_wrong", max_retries=0) as nobody:
        with pytest.raises(openai.AuthenticationError):
            await nobody.models.list()
