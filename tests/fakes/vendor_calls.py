"""Calls to many vendors with one LiteLLM: requests and outcomes.

One server here answers for all of them, in the words of each, well or with an error.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, Final

from aiohttp import web

from runtime.models.lean.faults import fault_in
from runtime.models.lean.rehearsal import WIRES

JSON = Mapping[str, Any]

CHAT, CLAUDE, GEMINI, OLLAMA, BEDROCK, COHERE = "chat", "claude", "gemini", "ollama", "bedrock", "cohere"

ANSWERS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        CHAT: {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        },
        CLAUDE: {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "hello"}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        },
        GEMINI: {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        },
        OLLAMA: {
            "model": "m",
            "created_at": "2026-01-01T00:00:00Z",
            "done": True,
            "done_reason": "stop",
            "response": "hello",
            "message": {"role": "assistant", "content": "hello"},
            "prompt_eval_count": 3,
            "eval_count": 2,
        },
        BEDROCK: {
            "output": {"message": {"role": "assistant", "content": [{"text": "hello"}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
        },
        COHERE: {
            "id": "1",
            "finish_reason": "COMPLETE",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
            "usage": {"tokens": {"input_tokens": 3, "output_tokens": 2}},
        },
    }
)
STREAMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        CHAT: "".join(f"data: {json.dumps(event)}\n\n" for event in WIRES["openai"]),
        CLAUDE: "".join(f"data: {json.dumps(event)}\n\n" for event in WIRES["anthropic"]),
        GEMINI: f"data: {json.dumps(ANSWERS[GEMINI])}\n\n",
        OLLAMA: f"{json.dumps(ANSWERS[OLLAMA])}\n",
    }
)
MODELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai/gpt-4o": CHAT,
        "azure/own": CHAT,
        "mistral/mistral-large-latest": CHAT,
        "groq/llama-3.3-70b-versatile": CHAT,
        "deepseek/deepseek-chat": CHAT,
        "openrouter/openai/gpt-4o": CHAT,
        "xai/grok-3": CHAT,
        "anthropic/claude-sonnet-4-5": CLAUDE,
        "gemini/gemini-2.0-flash": GEMINI,
        "ollama/llama3": OLLAMA,
        "ollama_chat/llama3": OLLAMA,
        "cohere/command-r-plus": COHERE,
        "bedrock/anthropic.claude-3-haiku-20240307-v1:0": BEDROCK,
    }
)
SAMPLE: Final[Mapping[str, str]] = MappingProxyType(
    {name: MODELS[name] for name in MODELS if name.startswith(("openai/", "anthropic/", "gemini/", "ollama/"))}
)
"""The wires that most use; all of them are compared by `make cuts`."""

MORE: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        "azure": {"api_version": "2024-10-21"},
        "bedrock": {"aws_access_key_id": "a", "aws_secret_access_key": "s", "aws_region_name": "us-east-1"},
    }
)
CASES: Final = ((200, False), (400, False), (401, False), (429, False), (500, False), (200, True), (429, True))
"""Statuses, and if the call is streamed."""

TOOL: Final = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
TOLD: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "content-type", "anthropic-version")


class Vendor:
    """The server: what it is to answer next, and what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.is_streamed = False
        self.body = CHAT
        self.asked: list[Any] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name: request.headers[name] for name in TOLD if name in request.headers}
        if "AWS4" in headers.get("authorization", ""):
            headers["authorization"] = "signed"  # with the time in it
        self.asked.append([request.method, request.path_qs, headers, await request.text()])
        refused = {"error": {"message": "no", "type": "refused", "code": self.status, "status": "REFUSED"}}
        if self.status == 200 and self.is_streamed and self.body in STREAMS:
            return web.Response(text=STREAMS[self.body], content_type="text/event-stream")
        return web.json_response(ANSWERS[self.body] if self.status == 200 else refused, status=self.status)


async def outcome(litellm: Any, model: str, base: str, *, stream: bool) -> Any:
    """The words and tokens of an answer, or its error."""
    more = MORE.get(model.partition("/")[0], {})
    message = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
    try:
        async with asyncio.timeout(20):
            told = await litellm.acompletion(
                model, message, api_base=base, api_key="k", num_retries=0, stream=stream,
                tools=[TOOL], _skip_mcp_handler=True, **more,
            )  # fmt: skip
            if stream:
                return [chunk.choices[0].delta.content async for chunk in told if chunk.choices]
            return [told.choices[0].message.content, told.choices[0].finish_reason, told.usage.total_tokens]
    except Exception as error:  # noqa: BLE001 - it is what is compared
        kinds = [f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__]
        status, fault = getattr(error, "status_code", None), fault_in(error)
        return [kinds, status, str(error).replace(base, "BASE"), fault and repr(fault)]


@asynccontextmanager
async def serving(vendor: Vendor) -> AsyncIterator[str]:
    """The address of the server."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", vendor.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def calls(litellm: Any, models: Mapping[str, str]) -> dict[str, Any]:
    """Each way of a call to each of `models`: what the vendor was asked, and the outcome."""
    vendor, found = Vendor(), {}
    async with serving(vendor) as base:
        for model, vendor.body in models.items():
            for vendor.status, vendor.is_streamed in CASES:
                vendor.asked = []
                said = await outcome(litellm, model, base, stream=vendor.is_streamed)
                found[f"{model} {vendor.status} {'streamed' if vendor.is_streamed else 'whole'}"] = [vendor.asked, said]
    return json.loads(json.dumps(found).replace(base, "BASE"))  # type: ignore[no-any-return]
