"""Hooks on a stage: real requests behind the real guard, into a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, web

from adapters.webhook.adapter import Webhooks
from adapters.webhook.settings import Hook, Proof
from bot.accounts.naming import Accounts, Called
from bot.testing.clocks import HandClock
from bot.testing.serve import serving
from bot.wiring.hooks import actor_of, keep
from runtime.contract import Address, Busy, Signal, Verdict
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.domain.routing import RoomRules
from runtime.errors import StoreError
from runtime.http.guard import install
from runtime.store.protocol import Gate
from runtime.store.store import Store
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.runtime.stores import memory_store

SECRET: Final = "It's a Secret to Everybody"
TOKEN: Final = {"X-Signalbox-Token": SECRET}
JSON: Final = {**TOKEN, "Content-Type": "application/json"}
DEPLOYS: Final = Hook("deploys", "chat:main/ops", Proof("token", SECRET), "Tell the room.")
ROOM: Final = Address("chat", "C1", "ops")
OPEN: Final = Gate(False, Busy.STEER, Rights(), "main", rooms=RoomRules(sources=frozenset(["hook:deploys"])))
KNOWN: Final = Called("chat", "main", "C1")


@dataclass
class Ticks:
    at: timedelta = timedelta()

    def __call__(self) -> timedelta:
        return self.at


@dataclass(frozen=True)
class Answer:
    status: int
    told: dict[str, Any]
    headers: Mapping[str, str]


@dataclass
class Stage:
    """`away`: the store fails so often. `gate` may be replaced, and `account` become known later."""

    store: Store
    clock: HandClock
    workspaces: WorkspaceFolders
    http: ClientSession
    base: str = ""
    away: int = 0
    gate: Gate = OPEN
    ticks: Ticks = field(default_factory=Ticks)
    account: Called = KNOWN

    async def sink(self, signal: Signal) -> Verdict:
        if self.away:
            self.away -= 1
            raise StoreError("the database is away")
        return (await self.store.intake.accept(signal, self.gate)).verdict

    async def call(
        self, body: str | bytes = b'{"a": 1}', headers: Mapping[str, str] = JSON, *, name: str = "deploys", **more: str
    ) -> Answer:
        data = BytesIO(body.encode() if isinstance(body, str) else body)
        return await self.ask("POST", f"/hooks/{name}", data=data, headers={**headers, **_named(more)})

    async def ask(self, method: str, path: str, **given: Any) -> Answer:
        async with self.http.request(method, self.base + path, skip_auto_headers=["Content-Type"], **given) as answer:
            return Answer(answer.status, await answer.json(), answer.headers)

    async def texts(self) -> list[str]:
        """What was taken in, oldest first."""
        return [entry.body for entry in (await self.store.history.view(ROOM)).entries]


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def served(folder: Path, *hooks: Hook, listening: bool = True, **more: Any) -> AsyncIterator[Stage]:
    """`hooks`, else `DEPLOYS` alone, behind the guard, beside a route of the page."""
    clock = HandClock()
    async with AsyncExitStack() as stack:
        store = memory_store(clock)
        stack.push_async_callback(store.close)
        stage = Stage(store, clock, WorkspaceFolders(folder, "main"), await stack.enter_async_context(ClientSession()))
        webhooks = Webhooks(
            hooks or [DEPLOYS],
            address_of=lambda text: Accounts([stage.account]).address(text),
            actor_of=lambda hook: actor_of(hook, Accounts([stage.account])),
            keep=lambda address, path, body: keep(stage.workspaces, address, path, body, new_id()),
            now=clock,
            ticks=stage.ticks,
            **more,
        )
        stage.base = await stack.enter_async_context(serving(_site(webhooks)))
        if not listening:
            yield stage
            return
        async with listens(webhooks, stage):
            yield stage


@asynccontextmanager
async def listens(webhooks: Webhooks, stage: Stage) -> AsyncIterator[None]:
    """It takes in inside the block."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(webhooks.listen(stage.sink))
        await asyncio.sleep(0)
        try:
            yield
        finally:
            task.cancel()


def _site(webhooks: Webhooks) -> web.Application:
    async def page(request: web.Request) -> web.Response:
        return web.json_response({"page": True})

    site = web.Application()
    install(site, (), webhooks=[route.path for route in webhooks.routes()])
    site.add_routes([*webhooks.routes(), web.post("/api/hooks/{name}", page), web.get("/hooks", page)])
    return site
