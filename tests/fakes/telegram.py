"""Telegram as a server of its own: the Bot API for one bot, and people around it that a test moves.

/bot<token>/<method>, /file/bot<token>/<path>      what a bot calls, see `telegram_methods.py`
POST /inject      what people do, see `telegram_people.py`
POST /faults      what goes wrong, see `telegram_faults.py`; also {"drop": true} cuts polls that wait, {"deaf": true}
                  lets them wait for ever, {"limits": true}, {"privacy": true}; DELETE /faults lifts what was asked for
GET  /visible     what is on screen and what the bot did beside

python -m tests.fakes.telegram --port 0 --journal FILE [--token 7000:…] [--privacy] [--limits] [--acquainted 400]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from math import isinf
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot.testing.serve import abort, serve_until_told
from tests.fakes.telegram_faults import SENDS, Do, Fault, Faults
from tests.fakes.telegram_methods import Methods, Upload
from tests.fakes.telegram_people import People
from tests.fakes.telegram_rules import Limits, Refusal
from tests.fakes.telegram_updates import Hook, Polls
from tests.fakes.telegram_world import Raw, World

TOKEN: Final = "7000:AAFakeFakeFakeFakeFakeFakeFakeFakeFake"
USERNAME: Final = "signalbox_bot"
TOKEN_FORM: Final = re.compile(r"\d+:[A-Za-z0-9_-]{30,}")
NESTED: Final = frozenset(
    [
        "entities",
        "caption_entities",
        "reply_markup",
        "reply_parameters",
        "media",
        "commands",
        "allowed_updates",
        "link_preview_options",
    ]
)
"""Parameters that are JSON, also inside a form."""
HIDDEN: Final = ("sent_entities", "uploaded")
"""What the fake notes about a message and no bot is told."""


class Telegram:
    """The platform. `calls` counts each method's calls that arrived, whatever became of them."""

    def __init__(
        self,
        *,
        journal: Path | None = None,
        token: str = TOKEN,
        privacy: bool = False,
        limits: bool = False,
        acquainted: int = 0,
    ) -> None:
        self.token = token
        self.calls: dict[str, int] = {}
        self.under_way: list[Callable[[], object]] = []
        bot = {"id": int(token.partition(":")[0]), "is_bot": True, "first_name": "Signalbox", "username": USERNAME}
        self.world = World(bot, journal, privacy, acquainted)
        self.faults = Faults()
        self.limits = Limits(on=limits)
        self.people = People(self.world, self._news)
        self.methods = Methods(self.world, self.limits)
        self.polls = Polls(self.world, self.people)
        self.hook = Hook(self.world, self.people)
        self.methods.hook_error = lambda: self.hook.last_error
        self.methods.hook_changed = self._hook_changed

    def _news(self) -> None:
        self.polls.tell()
        self.hook.tell()

    def _hook_changed(self) -> None:
        self.hook.last_error = None
        self._news()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024**2)
        app.add_routes(
            [
                web.route("*", "/bot{token}/{method}", self._call),
                web.get("/file/bot{token}/{path:.+}", self._download),
                web.post("/inject", self._inject),
                web.post("/faults", self._add_fault),
                web.delete("/faults", self._lift_faults),
                web.get("/visible", self._visible),
            ]
        )
        app.cleanup_ctx.append(self._hooking)
        return app

    async def _hooking(self, app: web.Application) -> AsyncIterator[None]:
        task = asyncio.get_running_loop().create_task(self.hook.run())
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    # What a bot may call.

    async def _call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        try:
            self._admit(request.match_info["token"])
            asked = await asked_of(request)
            self.calls[method] = self.calls.get(method, 0) + 1
            if method == "getUpdates":
                return ok(await self.polls.get(asked, lambda: abort(request)))
            return self._under(request, method, asked)
        except Refusal as refusal:
            return refused(refusal)

    def _admit(self, token: str) -> None:
        if self.faults.away:
            raise Refusal(503, "Service Unavailable")
        if not TOKEN_FORM.fullmatch(token):
            raise Refusal(404, "Not Found")
        if token != self.token or self.faults.token:
            raise Refusal(401, "Unauthorized")

    def _under(self, request: web.Request, method: str, asked: Mapping[str, Any]) -> web.Response:
        """Apply and answer, unless a fault says otherwise."""
        chat = int(asked["chat_id"]) if str(asked.get("chat_id", "")).lstrip("-").isdigit() else 0
        fault = self.faults.strike(method, chat, plain=is_plain(method, asked))
        match fault:
            case None:
                return ok(self.methods.call(method, asked))
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                with suppress(Refusal):
                    self.methods.call(method, asked)
                return abort(request)
            case Fault(Do.CUT_LATE, seconds) if isinf(seconds):
                self.under_way.append(partial(self.methods.call, method, asked))
                return abort(request)
            case Fault(Do.CUT_LATE, seconds):
                asyncio.get_running_loop().call_later(seconds, self.methods.call, method, asked)
                return abort(request)
            case Fault():
                return refused(refusal_of(fault))

    async def _download(self, request: web.Request) -> web.Response:
        try:
            self._admit(request.match_info["token"])
        except Refusal as refusal:
            return refused(refusal)
        found = [f for f in self.world.files.values() if f["path"] == request.match_info["path"]]
        if not found:
            return refused(Refusal(404, "Not Found"))
        return web.Response(body=base64.b64decode(found[0]["content"]))

    # What a test may call.

    async def _inject(self, request: web.Request) -> web.Response:
        return web.json_response(self.people.do(await request.json()))

    async def _add_fault(self, request: web.Request) -> web.Response:
        raw = await request.json()
        self.limits.on = raw.get("limits", self.limits.on)
        self.world.privacy = raw.get("privacy", self.world.privacy)
        self.faults.add(raw)
        if raw.get("drop") or self.faults.away or self.faults.token:
            self.polls.drop()
        if raw.get("deaf"):
            self.polls.deafen()
        return web.json_response({})

    async def _lift_faults(self, request: web.Request) -> web.Response:
        self.faults.lift()
        return web.json_response({})

    async def _visible(self, request: web.Request) -> web.Response:
        messages = [{**self.world.messages[key], **seen} for key, seen in self.world.shown.items()]
        return web.json_response(
            {
                "messages": messages,
                "answers": self.world.answers,
                "typing": self.methods.typing,
                "drafts": self.methods.drafts,
                "commands": self.world.commands,
                "webhook": self.world.webhook,
                "confirmed": self.world.confirmed,
                "brought": sorted(self.hook.delivered),
                "calls": self.calls,
                "sends": sum(self.calls.get(method, 0) for method in SENDS),
            }
        )


def ok(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": told(result)})


def told(result: Any) -> Any:
    if isinstance(result, list):
        return [told(item) for item in result]
    if isinstance(result, dict) and HIDDEN[0] in result:
        return {name: value for name, value in result.items() if name not in HIDDEN}
    return result


def refused(refusal: Refusal) -> web.Response:
    wait = refusal.parameters.get("retry_after")
    headers = {"Retry-After": str(wait)} if wait else None
    return web.json_response(refusal.answer, status=refusal.code, headers=headers)


def refusal_of(fault: Fault) -> Refusal:
    match fault.do:
        case Do.RATE:
            wait = max(1, round(fault.seconds))
            return Refusal(429, f"Too Many Requests: retry after {wait}", retry_after=wait)
        case Do.CLOSED:
            return Refusal(403, "Forbidden: bot was blocked by the user")
        case Do.FORM:
            return Refusal(400, "Bad Request: can't parse entities: this form is refused")
        case _:
            return Refusal(500, "Internal Server Error")


def is_plain(method: str, asked: Mapping[str, Any]) -> bool:
    return method in ("sendMessage", "editMessageText") and not asked.get("entities")


async def asked_of(request: web.Request) -> Raw:
    """The parameters, however they come. Values that are JSON are read."""
    asked: Raw = dict(request.query)
    if request.content_type == "application/json":
        asked |= await request.json()
    elif request.method == "POST":
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                asked[name] = Upload(value.filename, value.content_type, value.file.read())
            else:
                asked[name] = value
    return {name: json.loads(v) if name in NESTED and isinstance(v, str) else v for name, v in asked.items()}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fake Telegram.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--privacy", action="store_true", help="in groups the bot sees only what is for it")
    parser.add_argument("--limits", action="store_true", help="429 beyond what the platform takes")
    parser.add_argument("--acquainted", type=int, default=0, help="chats that the bot is in before anybody speaks")
    return parser.parse_args()


def main() -> None:
    given = vars(arguments())
    port = given.pop("port")
    asyncio.run(serve_until_told(Telegram(**given).app(), port))


if __name__ == "__main__":
    main()
