"""A Slack account at play: the fake workspace, the adapter connected to it, and a sink that remembers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from bot.testing.clocks import Clock
from bot.testing.serve import serving
from runtime.contract import (
    AdapterContext,
    Address,
    Attempt,
    Button,
    Connection,
    Content,
    Delivery,
    DeliveryId,
    FileRef,
    Kind,
    Part,
    Signal,
)
from runtime.domain.ids import new_id
from tests.contract.adapters.rigs.slack import SHORT
from tests.contract.adapters.stage import FakePlaces, FakeSink, at_work, until
from tests.fakes.forms import FakeForms
from tests.fakes.slack import Slack
from tests.fakes.slack_delivery import secret_of
from tests.fakes.slack_driver import Driver, Screen, Told
from tests.unit.web.stage import FakeHistory, FakeLinks, FakeNotifier, FakeWorkspaces

TEAM: Final = "T1"
DIRECT: Final = Address("slack", TEAM, "DU1")
THREAD: Final = Address("slack", TEAM, "C1", "1700000000.000001")
DIRECT_THREAD: Final = Address("slack", TEAM, "DU1", "1700000000.000001")


@dataclass
class Workspace:
    """The fake Slack, and everything an adapter is given."""

    slack: Slack
    driver: Driver
    given: AdapterContext
    clock: Clock
    sink: FakeSink
    places: FakePlaces
    url: str
    forms: FakeForms

    def settings(self, **changes: Any) -> SlackSettings:
        made = SlackSettings(
            account="work",
            bot_token=f"xoxb-{TEAM}-token",
            app_token=f"xapp-{TEAM}-token",
            signing_secret=secret_of(TEAM),
            api_base_url=f"{self.url}/api/",
            pace=SHORT,
        )
        return replace(made, **changes)

    def adapter(self, **changes: Any) -> SlackAdapter:
        return SlackAdapter(self.settings(**changes), self.given)

    @asynccontextmanager
    async def life(self, *, connected: bool = True, **changes: Any) -> AsyncIterator[SlackAdapter]:
        adapter = self.adapter(**changes)
        async with at_work(adapter, self.sink):
            if connected:
                await self.connected(adapter)
            yield adapter

    async def connected(self, adapter: SlackAdapter) -> None:
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, f"connection: {adapter.standing()}")

    async def taken(self, count: int = 1) -> list[Signal]:
        await until(lambda: len(self.sink.taken) >= count, f"{count} signals; taken in: {self.sink.taken}")
        return self.sink.taken

    async def screen(self) -> Screen:
        return await self.driver.screen()

    async def seen(self, holds: Callable[[Screen], bool], what: str) -> Screen:
        """The screen once `holds` does of it."""
        found: list[Screen] = []

        async def looks() -> bool:
            found[:] = [await self.screen()]
            return holds(found[0])

        await until(looks, what)
        return found[0]

    async def acked(self, told: Told) -> bool:
        return told["id"] in (await self.screen()).raw["acked"]


def delivery(
    text: str,
    *buttons: Button,
    address: Address = DIRECT,
    kind: Kind = Kind.FINAL,
    files: tuple[FileRef, ...] = (),
    text_file: FileRef | None = None,
) -> Delivery:
    content = Content(text, buttons, files, text_file)
    return Delivery(DeliveryId(new_id()[-20:]), "run:1", 0, kind, address, content)


def parts(adapter: SlackAdapter, made: Delivery) -> list[Part]:
    return [Part(made.id, n, made.address, wire.body) for n, wire in enumerate(adapter.render(made), 1)]


def part(adapter: SlackAdapter, text: str, *buttons: Button, **more: Any) -> Part:
    [only] = parts(adapter, delivery(text, *buttons, **more))
    return only


def again(one: Part, text: Part) -> Part:
    """The part `one` with what `text` says."""
    return replace(one, body=text.body)


def attempt(workspace: Workspace) -> Attempt:
    now = workspace.clock()
    return Attempt(1, now, "", now)


@asynccontextmanager
async def workspace(folder: Path) -> AsyncIterator[Workspace]:
    slack, clock, sink = Slack(), Clock(), FakeSink()
    slack.delivery.pace.ack_within, slack.delivery.pace.ping = 0.4, 0.1
    slack.delivery.pace.retries = [0.05, 0.1, 0.2, 0.5, 1, 2]
    places = FakePlaces(sink)
    forms = FakeForms()
    fakes = (FakeHistory(), FakeLinks(), FakeWorkspaces(folder), places, FakeNotifier())
    given = AdapterContext(*fakes, clock, new_id, forms=forms)
    async with serving(slack.app()) as url:
        yield Workspace(slack, Driver(url), given, clock, sink, places, url, forms)
