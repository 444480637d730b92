"""Cases for OpenAI's own client, whichever version is installed beside this file; it imports nothing of ours.

    python openai_cases.py URL TOKEN

The cases named `open-responses …` are those of the Open Responses compliance suite, in our words: openresponses.org/compliance,
read 2026-11. Prints a line for each case; the exit status is the number of those that failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, Final

import openai

NUMBERS: Final = ("created_at", "temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs")
TEXTS: Final = ("id", "object", "status", "model", "service_tier", "truncation")
LISTS: Final = ("output", "tools")
FLAGS: Final = ("parallel_tool_calls", "store", "background")
MAY_BE_NULL: Final = (
    "completed_at",
    "incomplete_details",
    "previous_response_id",
    "instructions",
    "error",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "safety_identifier",
    "prompt_cache_key",
)
PIXEL: Final = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PLACE: Final = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
FUNCTION: Final[Any] = {"type": "function", "name": "get_weather", "description": "Weather", "parameters": PLACE}
TOOL: Final[Any] = {"type": "function", "function": {"name": "get_weather", "parameters": PLACE}}
FORM: Final[Any] = {"type": "json_schema", "json_schema": {"name": "place", "schema": PLACE, "strict": True}}
WEATHER: Final = "What's the weather like in San Francisco?"


def said(text: str, role: str = "user") -> dict[str, str]:
    return {"type": "message", "role": role, "content": text}


def asked(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def whole(response: Any) -> None:
    """Every field that a response must have, with its kind."""
    given = json.loads(response.to_json(exclude_unset=True))
    for names, kind in ((NUMBERS, (int, float)), (TEXTS, str), (LISTS, list), (FLAGS, bool)):
        for name in names:
            assert isinstance(given[name], kind), f"{name} is {given[name]!r}"
    missing = [name for name in MAY_BE_NULL if name not in given]
    assert not missing, f"missing: {missing}"
    assert response.status == "completed", response.status
    assert response.output


def streamed(client: Any, **given: Any) -> tuple[Any, list[Any]]:
    events = list(client.responses.create(model="ops", stream=True, **given))
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers)), numbers
    assert events[-1].type == "response.completed", events[-1].type
    return events[-1].response, events


def basic(client: Any) -> None:
    whole(client.responses.create(model="ops", input=[said("Say hello in exactly 3 words.")]))


def streaming(client: Any) -> None:
    response, events = streamed(client, input=[said("Count from 1 to 5.")])
    whole(response)
    assert (
        "".join(event.delta for event in events if event.type == "response.output_text.delta") == response.output_text
    )


def system_prompt(client: Any) -> None:
    whole(client.responses.create(model="ops", input=[said("You are a pirate.", "system"), said("Say hello.")]))


def tool_calling(client: Any) -> None:
    response = client.responses.create(model="ops", input=[said(WEATHER)], tools=[FUNCTION])
    whole(response)
    assert [item.type for item in response.output] == ["function_call"]


def tool_calling_streaming(client: Any) -> None:
    response, events = streamed(client, input=[said(WEATHER)], tools=[FUNCTION])
    whole(response)
    kinds = {event.type for event in events}
    assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= kinds
    for kind in ("response.output_item.added", "response.output_item.done"):
        assert any(event.type == kind and event.item.type == "function_call" for event in events)


def image_input(client: Any) -> None:
    parts = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PIXEL}]
    whole(client.responses.create(model="ops", input=[{"type": "message", "role": "user", "content": parts}]))


def multi_turn(client: Any) -> None:
    before = [said("My name is Alice."), said("Hello Alice!", "assistant")]
    whole(client.responses.create(model="ops", input=[*before, said("What is my name?")]))


def starting_after(client: Any) -> None:
    response, events = streamed(client, input="Hello there")
    rest = client.responses.retrieve(response.id, stream=True, starting_after=events[3].sequence_number)
    assert [event.sequence_number for event in rest] == [event.sequence_number for event in events[4:]]


def outputs(client: Any) -> None:
    first = client.responses.create(model="ops", input=WEATHER, tools=[FUNCTION])
    result = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "Sunny"}
    later = client.responses.create(model="ops", input=[result], previous_response_id=first.id)
    assert "Sunny" in later.output_text


def background(client: Any) -> None:
    response = client.responses.create(model="ops", input="Hello", background=True)
    assert response.status in ("queued", "in_progress", "completed")
    assert client.responses.cancel(response.id).status in ("cancelled", "completed")


def models(client: Any) -> None:
    assert "ops" in [model.id for model in client.models.list()]
    assert client.models.retrieve("ops").id == "ops"


def chat(client: Any) -> None:
    key = {"Idempotency-Key": f"case-{openai.__version__}"}
    made = client.chat.completions.create(model="ops", messages=asked("Hello"), extra_headers=key)
    stream = client.chat.completions.create(model="ops", messages=asked("Hello"), extra_headers=key, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == made.choices[0].message.content


def chat_tools(client: Any) -> None:
    made = client.chat.completions.create(model="ops", messages=asked(WEATHER), tools=[TOOL]).choices[0]
    assert made.finish_reason == "tool_calls"
    result = {"role": "tool", "tool_call_id": made.message.tool_calls[0].id, "content": "Sunny"}
    after = client.chat.completions.create(model="ops", messages=[*asked(WEATHER), made.message, result], tools=[TOOL])
    assert "Sunny" in after.choices[0].message.content


def chat_form(client: Any) -> None:
    made = client.chat.completions.create(model="ops", messages=asked("Where?"), response_format=FORM)
    assert json.loads(made.choices[0].message.content) == {"location": "Rome"}


def wrong_model(client: Any) -> None:
    try:
        client.chat.completions.create(model="nobody", messages=asked("Hello"))
    except openai.NotFoundError as error:
        told = str(error)
    else:
        told = "it was answered"
    assert "There are" in told, told


CASES: Final[dict[str, Callable[[Any], None]]] = {
    "open-responses basic": basic,
    "open-responses streaming": streaming,
    "open-responses system prompt": system_prompt,
    "open-responses tool calling": tool_calling,
    "open-responses tool calling, streaming": tool_calling_streaming,
    "open-responses image input": image_input,
    "open-responses multi-turn": multi_turn,
    "a stream goes on behind a number": starting_after,
    "outputs of functions": outputs,
    "background and cancel": background,
    "models": models,
    "chat, whole and streamed": chat,
    "chat with tools": chat_tools,
    "chat in a form": chat_form,
    "an unknown model": wrong_model,
}


def main(url: str, token: str) -> int:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0, timeout=60)
    failed = 0
    for name, case in CASES.items():
        try:
            case(client)
        except Exception as error:  # noqa: BLE001 - each failure is a line of the report
            failed += 1
            sys.stdout.write(f"  failed: {name}: {type(error).__name__}: {error}\n")
    held = len(CASES) - failed
    sys.stdout.write(f"openai {openai.__version__}: {held} of {len(CASES)} cases held.\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
