"""A first call that reaches nobody, so that the first real one finds everything loaded.

It goes the way of a real call through LiteLLM as far as the HTTP client, whose transport answers here. Only for the two
protocols that vendors share: for another vendor there is no telling which way its calls go, and none may leave.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import structlog

log = structlog.get_logger("models")

NOWHERE: Final = "http://rehearsal.invalid"
WORDS: Final = "yes"
TIMEOUT: Final = 30.0  # seconds
TOOL: Final = MappingProxyType(
    {
        "type": "function",
        "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
    }
)

Event = Mapping[str, Any]

OPENAI: Final[Sequence[Event]] = tuple(
    {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "rehearsal",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    for delta, finish in (({"role": "assistant", "content": WORDS}, None), ({}, "stop"))
)
ANTHROPIC: Final[Sequence[Event]] = (
    {
        "type": "message_start",
        "message": {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "rehearsal",
            "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORDS}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)
WIRES: Final[Mapping[str, Sequence[Event]]] = MappingProxyType({"openai": OPENAI, "anthropic": ANTHROPIC})


def rehearse(litellm: Any, model: str) -> bool:
    """True if a call to `model` was rehearsed. A failure costs nothing but time."""
    try:
        return rehearsed(litellm, model) == WORDS
    except Exception as error:  # noqa: BLE001 - a vendor's library; the real call says what is wrong
        log.warning(
            "the first call to a model was not rehearsed", model=model, reason=f"{type(error).__name__}: {error}"
        )
        return False


def rehearsed(litellm: Any, model: str) -> str | None:
    """The words of an answer, in this thread and a loop of its own; None where no call can be made that stays here."""
    events = WIRES.get(model.partition("/")[0])
    return None if events is None else asyncio.run(_rehearsed(litellm, model, events))


async def _rehearsed(litellm: Any, model: str, events: Sequence[Event]) -> str:
    """The words of the answer."""
    import httpx
    from litellm._internal_context import is_internal_call
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    async def answer(_: httpx.Request) -> httpx.Response:
        lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=lines)

    is_internal_call.set(True)
    client = AsyncHTTPHandler()
    await client.client.aclose()
    client.client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    words = ""
    async with asyncio.timeout(TIMEOUT), client.client:
        stream = await litellm.acompletion(
            model=model,
            messages=[{"role": "system", "content": "x"}, {"role": "user", "content": "x"}],
            tools=[dict(TOOL)],
            stream=True,
            stream_options={"include_usage": True},
            api_base=NOWHERE,
            api_key="none",
            num_retries=0,
            client=client,
            _skip_mcp_handler=True,
        )
        async for chunk in stream:
            words += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    return words
