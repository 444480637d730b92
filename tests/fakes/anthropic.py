"""A server that streams as Anthropic's messages API does, and answers as it is told: see `bot.testing.openai.server`."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from aiohttp import web

from bot.testing.openai.server import Answers, Reply, cut_up
from bot.testing.serve import abort

Json = dict[str, Any]

REASONS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


ERRORS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""Source: docs.anthropic.com, "Errors", read 2026-11."""


class Anthropic:
    """The server. `requests` are the bodies, `keys` the keys, in order of arrival; beyond the script it says "And on."."""

    def __init__(self, replies: Answers = ()) -> None:
        self._script: deque[Reply] = deque() if callable(replies) else deque(replies)
        self._otherwise = replies if callable(replies) else and_on
        self.requests: list[Json] = []
        self.keys: list[str] = []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/messages", self._message)
        return app

    async def _message(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("x-api-key", ""))
        if fault := thinking_fault(self.requests[-1]):
            return failure(Reply(fault, status=400))
        reply = self._script.popleft() if self._script else self._otherwise(self.requests[-1])
        if reply.status != 200:
            return failure(reply)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        for number, event in enumerate(events(reply)):
            if number == reply.cut:
                abort(request)
                return response
            await response.write(reply.frame(number, event, f"event: {event['type']}\n"))
        return response


def and_on(_: Json) -> Reply:
    return Reply("And on.")


def failure(reply: Reply) -> web.Response:
    error = {"type": ERRORS[reply.status], "message": reply.text}
    headers = {"Retry-After": reply.retry_after} if reply.retry_after is not None else None
    return web.json_response({"type": "error", "error": error}, status=reply.status, headers=headers)


def events(reply: Reply) -> Iterator[Json]:
    asked = (reply.usage or (11, 0))[0]
    usage = {"input_tokens": asked, "output_tokens": 1, "cache_read_input_tokens": reply.cached}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    yield {"type": "message_start", "message": head}
    yield {"type": "ping"}
    index = 0
    if reply.thinking:
        yield from thought(index, reply.thinking)
        index += 1
    if reply.text:
        yield from block(index, {"type": "text", "text": ""}, ({"text": text} for text in cut_up(reply.text)))
        index += 1
    for call in reply.calls:
        begin: Json = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield from block(index, begin, ({"partial_json": text} for text in cut_up(call.arguments)))
        index += 1
    if reply.finish is not None:
        delta = {"stop_reason": REASONS[reply.finish], "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
        yield {"type": "message_stop"}


def signature(thinking: str) -> str:
    """Signature of the vendor under what its model thought."""
    return hashlib.sha256(f"secret {thinking}".encode()).hexdigest()


def thought(index: int, thinking: str) -> Iterator[Json]:
    begin = {"type": "thinking", "thinking": "", "signature": ""}
    yield {"type": "content_block_start", "index": index, "content_block": begin}
    for text in cut_up(thinking):
        delta = {"type": "thinking_delta", "thinking": text}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    signed = {"type": "signature_delta", "signature": signature(thinking)}
    yield {"type": "content_block_delta", "index": index, "delta": signed}
    yield {"type": "content_block_stop", "index": index}


def thinking_fault(request: Json) -> str | None:
    """The reason a request is refused whose model thinks: in a loop of tool calls it must carry what was thought, signed.

    Source: docs.anthropic.com, "Extended thinking with tool use", read 2026-11.
    """
    spoken = [message for message in request["messages"] if message["role"] == "assistant"]
    blocks = [block for message in spoken for block in parts(message) if block["type"] == "thinking"]
    if any(block["signature"] != signature(block["thinking"]) for block in blocks):
        return "messages: Invalid `signature` in `thinking` block"
    is_in_loop = any(part["type"] == "tool_result" for part in parts(request["messages"][-1]))
    if request.get("thinking") and is_in_loop and parts(spoken[-1])[0]["type"] not in ("thinking", "redacted_thinking"):
        return "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    return None


def parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def block(index: int, begin: Json, pieces: Iterable[Json]) -> Iterator[Json]:
    kind = "text_delta" if begin["type"] == "text" else "input_json_delta"
    yield {"type": "content_block_start", "index": index, "content_block": begin}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}
    yield {"type": "content_block_stop", "index": index}
