"""Calls that enter LiteLLM where their request is made, beside the same calls on the whole way."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from aiohttp import web

from runtime.models.lean.repeated import KINDS_MAX, RepeatedCalls
from runtime.models.litellm_loading import LIBRARY
from tests.fakes.vendor_calls import ANSWERS, CASES, CHAT, CLAUDE, TOOL, Vendor, serving

Json = dict[str, Any]

OPENAI: Final = "openai/gpt-4o"
CLAUDES: Final = "anthropic/claude-sonnet-4-5"
FIRST: Final[Sequence[Json]] = ({"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"})
CALL: Final = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "ü"}'}}
SIGNED: Final = CALL | {"id": "call_2__thought__c2lnbmVk"}
PICTURE: Final = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CONVERSATIONS: Final[Mapping[str, Sequence[Json]]] = {
    "another word": [
        *FIRST,
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "Größe \u2028 \x07?"},
    ],
    "calls": [
        *FIRST,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "(no output)"},
    ],
    "calls of Gemini's": [
        *FIRST,
        {"role": "assistant", "content": "", "tool_calls": [SIGNED]},
        {"role": "tool", "tool_call_id": SIGNED["id"], "content": "2"},
    ],
    "pictures": [{"role": "user", "content": [{"type": "text", "text": "what?"}, PICTURE]}],
    "no system prompt": [{"role": "user", "content": "hi"}],
}
MORE: Final[Sequence[Json]] = (
    {},
    {"tools": [TOOL]},
    {"tools": [TOOL], "tool_choice": "none", "temperature": 0.5, "max_tokens": 7, "stop": ["x"]},
    {"extra_headers": {"OpenAI-Organization": "org"}, "reasoning_effort": "low", "seed": 3},
)


WORDS: Final = {"role": "assistant", "content": "hello"}
ODD: Final[Mapping[str, Json]] = {
    "no words": {"choices": [{"finish_reason": "stop", "message": WORDS | {"content": None}}]},
    "thinking": {"choices": [{"finish_reason": "stop", "message": WORDS | {"content": "<think>so</think>hello"}}]},
    "reasoning": {"choices": [{"finish_reason": "stop", "message": WORDS | {"reasoning_content": "so"}}]},
    "calls": {"choices": [{"finish_reason": "tool_calls", "message": WORDS | {"content": None, "tool_calls": [CALL]}}]},
    "another end": {"choices": [{"finish_reason": "eos", "message": WORDS}]},
    "cut": {"choices": [{"finish_reason": "length", "message": WORDS | {"refusal": None, "annotations": []}}]},
    "an error": {"error": {"message": "no", "code": 400}},
    "no choice": {"choices": []},
    "no usage": {"usage": None},
    "more usage": {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "cost": 1}},
}
BROKEN: Final = ("no JSON", "packed", "cut off", "moved")


class Odd(Vendor):
    """Answers in a way that is seldom, or breaks off."""

    way = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = json.dumps({**ANSWERS[CHAT], **ODD.get(self.way, {})}).encode()
        match self.way:
            case "no JSON":
                return web.Response(body=b"{", content_type="application/json")
            case "packed":
                packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
                return web.Response(body=gzip.compress(body), headers=packed)
            case "moved" if "moved" not in request.path:
                return web.Response(status=307, headers={"Location": "/moved"})
            case "cut off":
                told = web.StreamResponse(
                    headers={"Content-Length": str(len(body)), "Content-Type": "application/json"}
                )
                await told.prepare(request)
                await told.write(body[:20])
                assert request.transport is not None
                request.transport.abort()
                return told
            case _:
                pass
        return web.Response(body=body, content_type="application/json")


class Counted:
    """LiteLLM, and how many calls went the whole way."""

    def __init__(self, litellm: Any) -> None:
        self.main, self._litellm, self.whole = litellm.main, litellm, 0

    async def acompletion(self, **arguments: Any) -> Any:
        self.whole += 1
        return await self._litellm.acompletion(**arguments)


def arguments(base: str, messages: Sequence[Json], more: Json, *, stream: bool = False, model: str = OPENAI) -> Json:
    streamed = {"stream_options": {"include_usage": True}} if stream else {}
    told = {name: [*value] if isinstance(value, list) else value for name, value in more.items()}
    return {
        "model": model, "messages": [dict(message) for message in messages], "stream": stream, "timeout": 20.0,
        "num_retries": 0, "_skip_mcp_handler": True, "api_base": base, "api_key": "k", **streamed, **told,
    }  # fmt: skip


async def outcome(ask: Any, given: Json) -> Any:
    """The words, reason and tokens of an answer, or its error."""
    try:
        told = await ask(given)
        if given["stream"]:
            return [(one.choices[0].delta.content, one.choices[0].finish_reason) async for one in told if one.choices]
        return [told.choices[0].message.content, told.choices[0].finish_reason, told.usage.total_tokens]
    except Exception as error:  # noqa: BLE001 - it is what is compared
        return [type(error), str(error), getattr(error, "status_code", None)]


@pytest.mark.parametrize("more", MORE, ids=["plain", "tools", "words only", "controls"])
async def test_a_repeated_call_asks_and_ends_as_one_on_the_whole_way(more: Json) -> None:
    litellm = await LIBRARY.get()
    counted, vendor, repeated = Counted(litellm), Vendor(), RepeatedCalls()
    async with serving(vendor) as base:
        for stream in (False, True):
            vendor.status, vendor.is_streamed = 200, stream
            await outcome(lambda given: repeated.ask(counted, given), arguments(base, FIRST, more, stream=stream))
        learned = counted.whole
        for messages in CONVERSATIONS.values():
            for vendor.status, vendor.is_streamed in CASES:
                vendor.asked = []
                given = [arguments(base, messages, more, stream=vendor.is_streamed) for _ in range(2)]
                whole = await outcome(lambda it: litellm.acompletion(**it), given[0])
                again = await outcome(lambda it: repeated.ask(counted, it), given[1])
                assert again == whole
                assert len(vendor.asked) == 2
                assert vendor.asked[0] == vendor.asked[1]
    assert learned == 2
    assert counted.whole - learned == len(CASES)  # those with a signed id, which LiteLLM takes off


async def test_another_kind_of_call_and_another_vendor_go_the_whole_way() -> None:
    litellm = await LIBRARY.get()
    counted, vendor, repeated = Counted(litellm), Vendor(), RepeatedCalls()
    async with serving(vendor) as base:
        for _ in range(3):
            await outcome(lambda it: repeated.ask(counted, it), arguments(base, FIRST, {"tools": [TOOL]}))
        assert counted.whole == 1
        for number in range(KINDS_MAX):
            await outcome(lambda it: repeated.ask(counted, it), arguments(base, FIRST, {"seed": number}))
        assert counted.whole == 1 + KINDS_MAX
        await outcome(lambda it: repeated.ask(counted, it), arguments(base, FIRST, {"tools": [TOOL]}))
        assert counted.whole == 2 + KINDS_MAX  # forgotten for the others
        vendor.body = CLAUDE
        for _ in range(2):
            await outcome(lambda it: repeated.ask(counted, it), arguments(base, FIRST, {}, model=CLAUDES))
        assert counted.whole == 4 + KINDS_MAX
        vendor.body, vendor.status = CHAT, 500
        other = RepeatedCalls()
        for _ in range(2):
            await outcome(lambda it: other.ask(counted, it), arguments(base, FIRST, {}))
        assert counted.whole == 6 + KINDS_MAX  # one that failed is no pattern


async def test_an_odd_answer_and_a_broken_one_end_as_on_the_whole_way() -> None:
    litellm = await LIBRARY.get()
    counted, vendor, repeated = Counted(litellm), Odd(), RepeatedCalls()
    async with serving(vendor) as base:
        for vendor.way in ("", "", *ODD, *BROKEN):
            given = [arguments(base, FIRST, {}) for _ in range(2)]
            whole = await everything(lambda it: litellm.acompletion(**it), given[0])
            assert await everything(lambda it: repeated.ask(counted, it), given[1]) == whole, vendor.way
    assert counted.whole == 1


async def everything(ask: Any, given: Json) -> Any:
    """All that is read of an answer, or its error without the address."""
    try:
        told = await ask(given)
        choice, usage = told.choices[0], told.usage
    except Exception as error:  # noqa: BLE001 - it is what is compared
        return [type(error), getattr(error, "status_code", None), str(error)]
    calls = [(one.id, one.function.name, one.function.arguments) for one in choice.message.tool_calls or ()]
    thought = getattr(choice.message, "reasoning_content", None)
    details = getattr(usage.prompt_tokens_details, "cached_tokens", None)
    counts = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, details
    return [choice.message.content, choice.finish_reason, calls, thought, counts]
