"""An agent of another system, as it speaks A2A 1.0 or 0.3 over JSON-RPC. It knows a repeated message, and asks back if told so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

OLD_METHODS = {"message/send": "SendMessage", "tasks/get": "GetTask", "tasks/cancel": "CancelTask"}
NOT_CANCELABLE = {"code": -32002, "message": "The task is over."}


@dataclass
class FakePeer:
    """`claims` is its name in its card. With `question` it asks that about each new task; `lost` answers are cut off."""

    claims: str = "billing"
    version: str = "1.0"
    question: str = ""
    place: str = ""
    url: str = ""
    lost: int = 0
    tokens: set[str] = field(default_factory=set)
    said: dict[str, str] = field(default_factory=dict)
    """Texts by their message ids, in order: a repeat is none."""
    tasks: dict[str, list[str]] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    slow: bool = False
    """It never comes to an end by itself, but for what is `finished`."""
    finished: set[str] = field(default_factory=set)
    _of_message: dict[str, str] = field(default_factory=dict)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/.well-known/agent-card.json", self.card)
        app.router.add_post("/a2a", self.serve)
        return app

    async def card(self, _request: web.Request) -> web.Response:
        place = self.place or f"{self.url}/a2a"
        skill = {"id": "bills", "name": "Bills", "description": "Looks up bills.", "tags": []}
        if self.version == "0.3":
            head: dict[str, Any] = {"protocolVersion": "0.3.0", "url": place, "preferredTransport": "JSONRPC"}
        else:
            one = {"url": place, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            head = {"supportedInterfaces": [one]}
        return web.json_response({"name": self.claims, "version": "1", **head, "skills": [skill]})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        assert request.headers["A2A-Version"] == self.version
        assert (asked["method"] in OLD_METHODS) == (self.version == "0.3")
        self.tokens.add(request.headers.get("Authorization", ""))
        method, params = OLD_METHODS.get(asked["method"], asked["method"]), asked["params"]
        task = self._sent(params["message"]) if method == "SendMessage" else params["id"]
        if self.lost:
            self.lost -= 1
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if method == "CancelTask":
            if self._task(task)["status"]["state"] == self._state("completed"):
                return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": NOT_CANCELABLE})
            self.cancelled.append(task)
        result = self._task(task)
        if method == "SendMessage" and self.version == "1.0":
            result = {"task": result}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def _sent(self, message: dict[str, Any]) -> str:
        ident = message["messageId"]
        if ident not in self.said:
            self.said[ident] = message["parts"][0]["text"]
            self._of_message[ident] = message.get("taskId") or f"task-{len(self.tasks) + 1}"
            self.tasks.setdefault(self._of_message[ident], []).append(self.said[ident])
        return self._of_message[ident]

    def _task(self, ident: str) -> dict[str, Any]:
        words = self.tasks[ident]
        made: dict[str, Any] = {"id": ident, "contextId": f"about-{ident}"}
        if ident in self.cancelled:
            return {**made, "status": {"state": self._state("canceled")}}
        if self.slow and ident not in self.finished:
            return {**made, "status": {"state": self._state("working")}}
        if self.question and len(words) == 1:
            said = {"messageId": "q", "role": self._role(), "parts": [self._part(self.question)]}
            return {**made, "status": {"state": self._state("input-required"), "message": said}}
        artifact = {"artifactId": "a", "parts": [self._part(f"Done: {', '.join(words)}")]}
        return {**made, "status": {"state": self._state("completed")}, "artifacts": [artifact]}

    def _state(self, word: str) -> str:
        return word if self.version == "0.3" else f"TASK_STATE_{word.upper().replace('-', '_')}"

    def _role(self) -> str:
        return "agent" if self.version == "0.3" else "ROLE_AGENT"

    def _part(self, text: str) -> dict[str, str]:
        return {"kind": "text", "text": text} if self.version == "0.3" else {"text": text}


@asynccontextmanager
async def serving_peer(**given: Any) -> AsyncIterator[FakePeer]:
    peer = FakePeer(**given)
    async with TestServer(peer.app()) as server:
        peer.url = str(server.make_url("")).rstrip("/")
        yield peer
