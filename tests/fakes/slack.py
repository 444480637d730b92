"""A Slack of its own process: Web API, Socket Mode, signed HTTP events, files, and whoever else is in the workspace.

    POST /api/{method}   the Web API, in JSON or as a form; tokens are `xoxb-T1-…` and `xapp-T1-…`
    GET  /socket         Socket Mode, at the address that apps.connections.open gives
    POST /upload/{file}  the bytes of an upload
    GET  /files-pri/…    downloads
    POST /response/…     what response_url names

and for the test that drives it:

    POST /inject   {"type": "message", "channel": "C1", "user": "U1", "text": …, "thread_ts": …}   see slack_people
    POST /faults   {"do": "busy", "seconds": 1, "on": "send"} or a switch: see slack_faults; DELETE lifts all
    POST /sockets  {"do": "drop" | "deafen" | "mute" | "refresh" | "link_disabled"}, {"hello": false}, {"ack_within": 0.2}
    POST /hooks    {"team": "T1", "url": …}: its events go there, signed, instead of to a socket
    GET  /visible  messages, notices, acknowledged events, files, views, what is set in assistant threads

    python -m tests.fakes.slack --port 0 --journal FILE
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.testing.serve import abort, serve_until_told
from tests.fakes.slack_board import Board, Message
from tests.fakes.slack_delivery import Delivery
from tests.fakes.slack_faults import Do, Fault, Faults
from tests.fakes.slack_files import Files, file_names
from tests.fakes.slack_methods import Answer, Methods
from tests.fakes.slack_people import People, answer_of, brief
from tests.fakes.slack_rules import Refused
from tests.fakes.slack_teams import BOT_ID, BOT_USER, SCOPES, caller

APP_LEVEL: Final = frozenset({"apps.connections.open"})
OURS: Final = frozenset({"/inject", "/faults", "/sockets", "/hooks", "/visible"})
FILES: Final = frozenset({"files.completeUploadExternal"})
PLAIN_BLOCKS: Final = frozenset({"section", "actions", "context", "divider"})
"""What a plain twin is made of."""


class Slack:
    """All workspaces. `sends` counts the sends that arrived, whatever became of them."""

    def __init__(self, *, journal: Path | None = None) -> None:
        self.board = Board(journal)
        self.faults = Faults()
        self.delivery = Delivery(self.board, self.faults)
        self.people = People(self.board)
        self.methods = Methods(self.board, self.faults, self._echo)
        self.files = Files(self.board, self.faults, self.people, self.methods)

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._refuse_while_away], client_max_size=64 * 1024**2)
        app.add_routes(
            [
                web.route("*", "/api/{method}", self._api),
                web.get("/socket", self.delivery.serve),
                web.post("/upload/{file}", self.files.receive),
                web.get("/files-pri/{file}/{name}", self.files.download),
                web.post("/response/{channel}/{user}/{id}", self._respond),
                web.get("/files-pri/{file}/download/{name}", self.files.download),
                web.post("/inject", self._inject),
                web.post("/faults", self._add_fault),
                web.delete("/faults", self._lift_faults),
                web.post("/sockets", self._sockets),
                web.post("/hooks", self._hook),
                web.get("/visible", self._visible),
            ]
        )
        app.on_shutdown.append(self.delivery.close)
        return app

    @web.middleware
    async def _refuse_while_away(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        url = f"http://{request.host}"
        self.people.url = self.methods.url = url
        if self.faults.away and request.path not in OURS:
            return web.Response(status=503, text="away")
        return await handler(request)

    def _echo(self, before: Message | None, message: Message) -> None:
        """An app is told of its own messages too."""
        told = self.people.told(message) if before is None else self.people.changed(before, message)
        self.delivery.tell(self.people.event(message.team, told))

    # ------------------------------------------------------------------------------------------ what an app calls

    async def _api(self, request: web.Request) -> web.Response:
        method, args = request.match_info["method"], await arguments_of(request)
        rich = method in FILES or any(block.get("type") not in PLAIN_BLOCKS for block in args.get("blocks") or ())
        fault = self.faults.strike(method, rich=rich)
        return self._under(fault, request, lambda: self._answer(request, method, args))

    def _under(self, fault: Fault | None, request: web.Request, apply: Callable[[], Answer]) -> web.Response:
        """Apply and answer, unless `fault` says otherwise."""
        match fault:
            case None:
                return web.json_response(apply(), headers=self._scopes())
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                apply()
                return abort(request)
            case Fault(Do.CUT_LATE, seconds):
                asyncio.get_running_loop().call_later(seconds, apply)
                return abort(request)
            case Fault():
                return refusal(fault)

    def _answer(self, request: web.Request, method: str, args: Mapping[str, Any]) -> Answer:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            if self.faults.token:
                raise Refused(self.faults.token)
            who = caller(token or str(args.get("token", "")), app_level=method in APP_LEVEL)
            return self.methods.call(method, args, who)
        except Refused as refused:
            return {"ok": False, "error": refused.error, **refused.more}

    def _scopes(self) -> Mapping[str, str]:
        told = ",".join(scope for scope in SCOPES if scope not in self.faults.without)
        return {} if self.faults.untold else {"X-OAuth-Scopes": told}

    async def _respond(self, request: web.Request) -> web.Response:
        """The response_url of a press or a command: five times, for half an hour."""
        where, raw = request.match_info, await request.json()
        if not self.board.use_response_url(where["id"]):
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        if raw.get("response_type", "ephemeral") == "ephemeral":
            replaces = {"replaces": where["id"]} if raw.get("replace_original") else {}
            self.board.notice(where["channel"], where["user"], str(raw.get("text", "")), **replaces)
        else:
            self.board.show(where["channel"], BOT_USER, bot_id=BOT_ID, text=str(raw.get("text", "")))
        return web.json_response({"ok": True})

    # ------------------------------------------------------------------------------------------- what a test calls

    async def _inject(self, request: web.Request) -> web.Response:
        events = self.people.do(await request.json())
        for event in events:
            self.delivery.tell(event)
        return web.json_response({"events": [brief(event) for event in events]})

    async def _add_fault(self, request: web.Request) -> web.Response:
        raw = await request.json()
        if raw.pop("expire_streams", False):
            self.methods.expire_streams()
        self.faults.add(raw)
        return web.json_response({})

    async def _lift_faults(self, request: web.Request) -> web.Response:
        self.faults.lift()
        return web.json_response({})

    async def _sockets(self, request: web.Request) -> web.Response:
        raw = await request.json()
        match raw.pop("do", None):
            case "drop":
                await self.delivery.drop()
            case "deafen" | "mute" as how:
                self.delivery.deafen(mute=how == "mute")
            case None:
                pass
            case reason:
                await self.delivery.disconnect(
                    {"refresh": "refresh_requested"}.get(reason, reason), close=raw.pop("close", True)
                )
        self.delivery.hello = raw.pop("hello", self.delivery.hello)
        for name, value in raw.items():
            setattr(self.delivery.pace, name, value)
        return web.json_response({"open": len(self.delivery.links), "opened": self.delivery.opened})

    async def _hook(self, request: web.Request) -> web.Response:
        raw = await request.json()
        if raw["url"]:
            self.delivery.hooks[raw["team"]] = raw["url"]
        else:
            self.delivery.hooks.pop(raw["team"], None)
        return web.json_response({})

    async def _visible(self, request: web.Request) -> web.Response:
        messages = [asdict(m) | {"files": file_names(self.board, m.files)} for m in self.board.messages.values()]
        spoken = [
            {"channel": e.payload.get("channel_id", ""), "user": e.payload["user_id"], "text": text, "event": e.id}
            for e in self.board.events.values()
            if (text := answer_of(e, self.board.acked))
        ]
        return web.json_response(
            {
                "messages": messages,
                "notices": [*self.board.notices, *spoken],
                "acked": self.board.acked,
                "hooks": self.delivery.hooks,
                "views": self.methods.views,
                "homes": self.methods.homes,
                "assistant": self.methods.assistant,
                "calls": [
                    [method, {k: v for k, v in args.items() if k != "token"}] for method, args in self.methods.calls
                ],
            }
        )


async def arguments_of(request: web.Request) -> Mapping[str, Any]:
    """The arguments of a call: its query, and its body in JSON or as a form, in which structures are JSON."""
    found: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        found |= await request.json()
    else:
        found |= {name: str(value) for name, value in (await request.post()).items()}
    for name in ("blocks", "metadata", "view"):
        if isinstance(found.get(name), str):
            found[name] = json.loads(found[name])
    return found


def refusal(fault: Fault) -> web.Response:
    match fault.do:
        case Do.ERROR:
            return web.Response(status=500, text="server error")
        case Do.BUSY:
            headers = {"Retry-After": f"{fault.seconds:g}"}
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
        case Do.FORM:
            return web.json_response({"ok": False, "error": "invalid_blocks"})
        case Do.CLOSED:
            return web.json_response({"ok": False, "error": "is_archived"})
        case _:
            return web.json_response({"ok": False, "error": fault.error or "fatal_error"})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fake Slack.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--journal", type=Path)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    asyncio.run(serve_until_told(Slack(journal=given.journal).app(), given.port))


if __name__ == "__main__":
    main()
