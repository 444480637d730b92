"""A server that speaks OpenAI's chat completions, streamed or not, and answers as it is told.

It refuses with 400 what a strict provider would refuse (`openai_rules`), and keeps every request.

    python -m bot.testing.openai.server --port 0

prints its URL; there `POST /script` takes a list of replies ([{"text": "hi"}, {"status": 429, "retry_after": 1}]),
and `GET /requests` tells what was asked. Without a script it echoes the last user message.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from bot.testing.openai.rules import image_of, refusal
from bot.testing.serve import abort, serve_until_told

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the server sends it. `arguments` is sent as it is, malformed or not; `id` None leaves the id out."""

    name: str
    arguments: str = "{}"
    id: str | None = "call_1"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. With an error `status`, `text` is the error's message.

    `finish` None lets the stream end without a finish reason; `cut` cuts the connection after that many pieces of
    the answer; `delay` is in seconds, before the answer and with `slow` before each piece too.

    `instead` is what a stream sends in place of a piece, by the piece's number, as it goes over the wire; "%s" in it is the
    piece itself, so that something may stand before or behind it, or it may come twice. `done` ends the stream with [DONE].
    `code` is that of an error, such as "insufficient_quota". `cached` tokens of the usage came from the vendor's cache.
    `thinking` is what the model thinks before its words.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str | None = "stop"
    status: int = 200
    retry_after: str | None = None
    delay: float = 0
    slow: bool = False
    cut: int | None = None
    usage: tuple[int, int] | None = (11, 7)
    instead: Mapping[int, str | bytes] = field(default_factory=dict)
    done: bool = True
    code: str | None = None
    cached: int = 0
    thinking: str = ""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Reply:
        """The reply in a script sent over the wire."""
        calls = tuple(ToolCall(**call) for call in raw.get("calls", ()))
        instead = {int(number): text for number, text in raw.get("instead", {}).items()}
        return cls(**{**raw, "calls": calls, "instead": instead})

    def frame(self, number: int, piece: Json, event: str = "") -> bytes:
        """Bytes of one piece of a stream, or whatever a test sends in its place."""
        whole = f"{event}data: {json.dumps(piece, ensure_ascii=False)}\n\n".encode()
        given = self.instead.get(number, "%s")
        return (given.encode() if isinstance(given, str) else given).replace(b"%s", whole)


Answers = Iterable[Reply] | Callable[[Json], Reply]
"""Replies to give in order, or a function of the request's body. Beyond the last reply comes an echo."""


def echo(request: Json) -> Reply:
    said = [shown(message["content"]) for message in request["messages"] if message["role"] == "user"]
    return Reply(f"You said: {said[-1] if said else ''}")


def shown(content: str | list[Json]) -> str:
    """Text of a message, with each image in words: its type and size in bytes."""
    if isinstance(content, str):
        return content
    images = [image_of(part["image_url"]["url"]) for part in content if part["type"] == "image_url"]
    texts = [part["text"] for part in content if part["type"] == "text"]
    return " ".join([*texts, *(f"[{image[0]}, {len(image[1])} bytes]" for image in images if image)])


class OpenAI:
    """The server. `requests` are the bodies, `keys` the Authorization headers, `organizations` another one; in order of
    arrival. Keys that are `revoked` are refused with 401. `models` are those that it lists; without any it lists none.
    """

    def __init__(self, answers: Answers = (), models: Sequence[str] | None = None) -> None:
        self._script: deque[Reply] = deque() if callable(answers) else deque(answers)
        self._otherwise = answers if callable(answers) else echo
        self.requests: list[Json] = []
        self.keys: list[str] = []
        self.organizations: list[str] = []
        self.revoked: set[str] = set()
        self._models = models

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/chat/completions", self._complete)
        if self._models is not None:
            app.router.add_get("/v1/models", self._list_models)
        app.router.add_post("/script", self._take_script)
        app.router.add_get("/requests", self._tell_requests)
        return app

    async def _list_models(self, request: web.Request) -> web.Response:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "us"} for name in self._models or ()]
        return web.json_response({"object": "list", "data": listed})

    async def _take_script(self, request: web.Request) -> web.Response:
        self._script.extend(Reply.of(raw) for raw in await request.json())
        return web.json_response({})

    async def _tell_requests(self, request: web.Request) -> web.Response:
        return web.json_response(self.requests)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        self.organizations.append(request.headers.get("OpenAI-Organization", ""))
        if self.keys[-1].removeprefix("Bearer ") in self.revoked:
            return failure(401, "Incorrect API key provided.", code="invalid_api_key")
        if fault := refusal(body):
            return failure(400, fault)
        reply = self._script.popleft() if self._script else self._otherwise(body)
        await asyncio.sleep(reply.delay)
        if reply.status != 200:
            return failure(reply.status, reply.text, retry_after=reply.retry_after, code=reply.code)
        if body.get("stream"):
            return await stream(request, body, reply)
        return abort(request) if reply.cut is not None else web.json_response(completion(body["model"], reply))


def failure(status: int, message: str, *, retry_after: str | None = None, code: str | None = None) -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after is not None else None
    kind = "server_error" if status >= 500 else "requests" if status == 429 else "invalid_request_error"
    error = {"message": message, "type": code or kind, "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)


# ------------------------------------------------------------------------------------------------------- not streamed


def completion(model: str, reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [call_json(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
    return whole | ({"usage": usage_json(reply)} if reply.usage else {})


def call_json(call: ToolCall) -> Json:
    whole: Json = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return whole if call.id is None else {"id": call.id, **whole}


def usage_json(reply: Reply) -> Json:
    asked, said = reply.usage or (0, 0)
    counted: Json = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    return counted | ({"prompt_tokens_details": {"cached_tokens": reply.cached}} if reply.cached else {})


# ----------------------------------------------------------------------------------------------------------- streamed

PIECE: Final = 8
"""Characters of text or arguments in one piece of a stream."""


async def stream(request: web.Request, body: Json, reply: Reply) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    for number, piece in enumerate(pieces(body["model"], reply, wants_usage=wants_usage)):
        if number == reply.cut:
            abort(request)
            return response
        if reply.slow:
            await asyncio.sleep(reply.delay)
        await response.write(reply.frame(number, piece))
    if reply.done:
        await response.write(b"data: [DONE]\n\n")
    return response


def pieces(model: str, reply: Reply, *, wants_usage: bool) -> Iterator[Json]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def piece(delta: Json, finish: str | None = None) -> Json:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield piece({"role": "assistant", "content": ""})
    yield from (piece({"reasoning_content": text}) for text in cut_up(reply.thinking))
    yield from (piece({"content": text}) for text in cut_up(reply.text))
    for index, call in enumerate(reply.calls):
        begin = call_json(call) | {"index": index, "function": {"name": call.name, "arguments": ""}}
        yield piece({"tool_calls": [begin]})
        for text in cut_up(call.arguments):
            yield piece({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
    if reply.finish is not None:
        yield piece({}, reply.finish)
    if wants_usage and reply.usage:
        yield head | {"choices": [], "usage": usage_json(reply)}


def cut_up(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake server that speaks OpenAI's chat completions.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve_until_told(OpenAI().app(), parser.parse_args().port))


if __name__ == "__main__":
    main()
