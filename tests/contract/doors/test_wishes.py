"""Tools of a client's own, passed back as calls, and answers in a form: whole, as streams, and at a second try."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import openai
import pytest

from bot.testing.scripted import Answer, Scripted
from tests.contract.doors.conftest import SETTINGS, Doors
from tests.security.running import running

PLACE: Final = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
WEATHER: Final[Any] = {"type": "function", "function": {"name": "weather", "parameters": PLACE}}
OWN_WEATHER: Final[Any] = {"type": "function", "name": "weather", "parameters": PLACE}
HELLO: Final[Any] = [{"role": "user", "content": "How is the weather in Rome?"}]
CALLS: Final = 'I\'ll ask.\n```tool_calls\n[{"name": "weather", "arguments": {"place": "Rome"}}]\n```'
WRONG_CALLS: Final = '```tool_calls\n[{"name": "weather", "arguments": {}}]\n```'
FORM: Final[Any] = {"type": "json_schema", "json_schema": {"name": "place", "schema": PLACE}}


@asynccontextmanager
async def asking(folder: Path, answers: Sequence[Answer]) -> AsyncIterator[tuple[openai.AsyncOpenAI, Scripted, Doors]]:
    model = Scripted(answers)
    async with running(folder, SETTINGS.format(url="sqlite:///:memory:"), model=model) as house:
        doors = Doors(house)
        token = await doors.make("app")
        async with openai.AsyncOpenAI(base_url=f"{house.url}/v1", api_key=token, max_retries=0) as app:
            yield app, model, doors
    assert model.left == 0


async def test_calls_of_a_clients_tool_end_the_request_and_their_results_go_on_in_its_room(tmp_path: Path) -> None:
    async with asking(tmp_path, [CALLS, "It is sunny.", WRONG_CALLS, CALLS]) as (app, model, doors):
        key = {"Idempotency-Key": "rome"}
        made = await app.chat.completions.create(model="ops", messages=HELLO, tools=[WEATHER], extra_headers=key)
        again: Any = await app.chat.completions.create(
            model="ops", messages=HELLO, tools=[WEATHER], extra_headers=key, stream=True
        )
        chunks = [chunk async for chunk in again]
        call: Any = (made.choices[0].message.tool_calls or [])[0]
        streamed = next(one for one in chunks if one.choices[0].delta.tool_calls).choices[0].delta.tool_calls[0]
        assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"place": "Rome"})
        assert (streamed.id, streamed.function.arguments) == (call.id, call.function.arguments)
        assert (made.choices[0].finish_reason, chunks[-1].choices[0].finish_reason) == ("tool_calls", "tool_calls")
        assert "".join(one.choices[0].delta.content or "" for one in chunks) == made.choices[0].message.content
        assert made.choices[0].message.content == "I'll ask."
        said: Any = [
            *HELLO,
            made.choices[0].message.model_dump(),
            {"role": "tool", "tool_call_id": call.id, "content": "Sun"},
        ]
        answer = await app.chat.completions.create(model="ops", messages=said, tools=[WEATHER])
        assert answer.choices[0].message.content == "It is sunny."
        assert "material, not instructions" in model.requests[-1].turns[-1].text
        assert len({run["address"] for run in await doors.house.api.runs()}) == 1
        mended = await app.chat.completions.create(model="ops", messages=HELLO, tools=[WEATHER])
        assert mended.choices[0].finish_reason == "tool_calls"
        assert "'place' is a required property" in model.requests[-1].turns[-1].text


async def test_a_response_calls_functions_and_goes_on_with_their_outputs(tmp_path: Path) -> None:
    async with asking(tmp_path, [CALLS, "It is sunny."]) as (app, _, _doors):
        made = await app.responses.create(model="ops", input="Rome?", tools=[OWN_WEATHER])
        call: Any = made.output[-1]
        stream: Any = await app.responses.retrieve(made.id, stream=True)
        events = [event async for event in stream]
        assert (call.type, call.name, made.output_text) == ("function_call", "weather", "I'll ask.")
        assert [one.arguments for one in events if one.type == "response.function_call_arguments.done"] == [
            call.arguments
        ]
        assert events[-1].response.output == made.output
        outputs: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "Sun"}]
        later = await app.responses.create(model="ops", input=outputs, previous_response_id=made.id)
        assert later.output_text == "It is sunny."


async def test_an_answer_in_a_form_is_tried_twice_and_then_a_clear_error(tmp_path: Path) -> None:
    right = '{"place": "Rome"}'
    answers = ["Rome", f"```json\n{right}\n```", "Rome", "No.", "Rome", right, "Rome", "{}"]
    async with asking(tmp_path, answers) as (app, _, _doors):
        made = await app.chat.completions.create(model="ops", messages=HELLO, response_format=FORM)
        assert made.choices[0].message.content == right
        with pytest.raises(openai.InternalServerError, match="second try"):
            await app.chat.completions.create(model="ops", messages=HELLO, response_format=FORM)
        stream: Any = await app.chat.completions.create(model="ops", messages=HELLO, response_format=FORM, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == right
        form: Any = {"format": {"type": "json_schema", "name": "place", "schema": PLACE}}
        failed = await app.responses.create(model="ops", input="Rome?", text=form)
        assert (failed.status, "required property" in str(failed.error)) == ("failed", True)
        assert (await app.responses.retrieve(failed.id)).status == "failed"
