"""Discord in one process: REST under /api/v10, the gateway on /gateway, files under /attachments.

Strict about the platform's limits and words. Its history has no nonces, and an application's messages are told to
itself too. For the test that drives it:

    POST   /inject   what people do, see `discord_people`
    GET    /visible  what is on screen, the answers to interactions, who types, the commands
    POST   /faults   {"do": "cut_after", "count": 1, "seconds": 0, "on": "send" | "edit" | "callback"}
                     what holds until lifted: {"away": true}, {"token": true}, {"lag": 2}, {"intents": 0} (privileged
                     ones that are allowed), {"denied": ["READ_MESSAGE_HISTORY"]}, {"refuse": 4014} (each new session),
                     {"nonce": 0} (seconds one is known), {"bucket": [0, 60]} (what remains, for how long), {"shards": 2}
                     what happens now: {"drop": true}, {"deaf": true}, {"reconnect": true}, {"invalid": false} (or true:
                     resumable), {"forget": true} (every session), {"close": 4000}
    DELETE /faults   all of it ends

    python -m tests.fakes.discord --port 0 --journal FILE
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.testing.serve import serve_until_told
from tests.fakes.discord_faults import Faults
from tests.fakes.discord_gateway import INVALID, MESSAGE_CONTENT, RECONNECT, Gateway
from tests.fakes.discord_interactions import Interactions
from tests.fakes.discord_people import People
from tests.fakes.discord_rest import Rest
from tests.fakes.discord_world import TOKEN, World


class Discord:
    """The platform. `heartbeat` is how often a bot must say that it lives, in seconds."""

    def __init__(self, *, journal: Path | None = None, heartbeat: float = 41.25) -> None:
        self.faults = Faults()
        self.world = World(journal)
        self.gateway = Gateway(self.world, heartbeat=heartbeat, token=lambda: "" if self.faults.token else TOKEN)
        self.world.emit = self.gateway.tell
        self.interactions = Interactions(self.world, self.faults)
        self.rest = Rest(self.world, self.faults, self.gateway, self.interactions)
        self.people = People(self.world, self.interactions)

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self.rest.guard], client_max_size=32 * 1024**2)
        app.add_routes(self.rest.routes())
        app.add_routes(
            [
                web.get("/gateway", self.gateway.serve),
                web.get("/gateway/", self.gateway.serve),
                web.post("/inject", self._inject),
                web.get("/visible", self._visible),
                web.post("/faults", self._add_faults),
                web.delete("/faults", self._lift_faults),
            ]
        )
        app.on_shutdown.append(self._close)
        return app

    async def _inject(self, request: web.Request) -> web.Response:
        return web.json_response(self.people.do(await request.json(), host=request.host))

    async def _visible(self, request: web.Request) -> web.Response:
        told = [{**p.data, "version": p.version, "first": p.first} for p in self.world.posts.values()]
        return web.json_response(
            {
                "messages": told,
                "channels": self.world.channels,
                "answers": self.world.answers,
                "typing": self.rest.typing,
                "commands": self.rest.commands,
                "sends": self.rest.sends,
                "identified": self.gateway.identified,
                "resumed": self.gateway.resumed,
                "sockets": len(self.gateway.sockets),
            }
        )

    async def _add_faults(self, request: web.Request) -> web.Response:
        raw = await request.json()
        if "do" in raw:
            self.faults.add(raw)
        else:
            await self._strike(raw)
        return web.json_response({})

    async def _strike(self, raw: Mapping[str, Any]) -> None:
        """Apply faults that concern no single kind of call."""
        table = self._switches() | self._strokes()
        for name, value in raw.items():
            done = table[name](value)
            if isinstance(done, Awaitable):
                await done

    def _switches(self) -> dict[str, Callable[[Any], Any]]:
        """Faults that last until lifted, by name."""
        faults, gateway = self.faults, self.gateway
        return {
            "away": self._go_away,
            "token": self._refuse_token,
            "lag": lambda seconds: setattr(faults, "lag", float(seconds)),
            "denied": lambda names: setattr(faults, "denied", frozenset(names)),
            "intents": lambda allowed: setattr(gateway, "privileged", int(allowed)),
            "refuse": lambda code: setattr(gateway, "refuse", code),
            "nonce": lambda seconds: setattr(self.rest, "nonce_seconds", float(seconds)),
            "bucket": lambda left: setattr(self.rest, "bucket", (int(left[0]), float(left[1]))),
            "last_ids": lambda kind: setattr(self.world, "last_ids", kind),
            "terse": lambda terse: setattr(self.interactions, "terse", bool(terse)),
            "shards": lambda count: setattr(self.rest, "shards", int(count)),
            "patience": lambda seconds: setattr(self.interactions, "patience", float(seconds)),
        }

    def _strokes(self) -> dict[str, Callable[[Any], Any]]:
        """Faults that happen once, at once, by name."""
        gateway = self.gateway
        return {
            "drop": lambda _: gateway.drop(),
            "deaf": lambda _: gateway.deafen(),
            "reconnect": lambda _: gateway.send_all({"op": RECONNECT, "d": None}),
            "invalid": lambda resumable: gateway.send_all({"op": INVALID, "d": bool(resumable)}),
            "forget": lambda _: gateway.forget(),
            "close": lambda code: gateway.close_all(int(code)),
        }

    def _go_away(self, away: bool) -> None:
        self.faults.away = self.gateway.closed = away
        if away:
            self.gateway.drop()

    async def _refuse_token(self, refused: bool) -> None:
        self.faults.token = refused
        self.gateway.forget()
        await self.gateway.close_all(4004)

    async def _lift_faults(self, request: web.Request) -> web.Response:
        self.faults.lift()
        self.gateway.closed = False
        self.gateway.refuse = None
        self.gateway.privileged = MESSAGE_CONTENT
        self.rest.nonce_seconds = 180.0
        self.rest.bucket = (49, 1.0)
        self.interactions.patience = 3.0
        return web.json_response({})

    async def _close(self, app: web.Application) -> None:
        self.gateway.drop()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fake Discord.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--heartbeat", type=float, default=41.25)
    parser.add_argument("--journal", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    asyncio.run(serve_until_told(Discord(journal=given.journal, heartbeat=given.heartbeat).app(), given.port))


if __name__ == "__main__":
    main()
