"""The whole process with several accounts: one that is refused hides no other, and people are told where they look."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.node.lock import Control
from bot.operator.client import connected
from bot.operator.local import opened
from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings, load
from runtime.contract import (
    CONNECTED,
    Address,
    ChannelAdapter,
    Connection,
    ConnectionStatus,
    Features,
    Identity,
    Part,
    Receipt,
    Said,
    Signal,
    Sink,
)
from runtime.domain.ids import new_id
from runtime.errors import ConfigError, Retryable
from tests.unit.bot.accounts.test_supervisor import Plain, until

REFUSED = ConnectionStatus(Connection.REFUSED, 'account "b": its token was revoked. Set a new one.')


class Chat(Plain):
    """One whose platform is a list. It has a webhook, as platforms that come to us need."""

    def __init__(self, account: str, identity: str) -> None:
        super().__init__()
        self.account = account
        self.identity = identity
        self.shown: list[Part] = []
        self.sink: Sink | None = None

    async def listen(self, sink: Sink) -> None:
        self.sink = sink
        await asyncio.Event().wait()

    async def show(self, part: Part) -> Receipt:
        if self.stands is not CONNECTED:
            raise Retryable("away")
        self.shown.append(part)
        return Receipt(part.id)

    def features(self) -> Features:
        return Features(routes=self.routes)

    def routes(self) -> list[web.RouteDef]:
        async def hook(request: web.Request) -> web.Response:
            return web.Response(text=await request.text())

        return [web.post(f"/{self.channel}/{self.account}", hook)]

    async def say(self, text: str) -> None:
        address = Address(self.channel, self.identity, "desk")
        ada = Identity("fake:ada")
        assert self.sink is not None
        await self.sink(Signal(self.identity, new_id(), ada, "Ada", address, Said(text), datetime.now(UTC)))


class Late(Chat):
    """One that learns its identity when the test lets it."""

    def __init__(self, account: str, identity: str) -> None:
        super().__init__(account, "")
        self.stands = ConnectionStatus(Connection.CONNECTING, f'account "{account}": asking who we are.')
        self.told = asyncio.Event()
        self._later = identity

    def features(self) -> Features:
        return replace(super().features(), learn=self.learn)

    async def learn(self) -> None:
        await self.told.wait()
        self.identity = self._later
        self.stands = CONNECTED


class Running:
    def __init__(self, app: App, control: Control, session: aiohttp.ClientSession) -> None:
        self.app = app
        self.control = control
        self._session = session

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self._session.get(self.control.url + path, headers=headers) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.text())

    async def post(self, path: str, text: str, **headers: str) -> tuple[int, str]:
        async with self._session.post(self.control.url + path, data=BytesIO(text.encode()), headers=headers) as answer:
            return answer.status, await answer.text()


def settings_in(folder: Path, *, room: str = "") -> Settings:
    """`room` is of an account that the settings do not have, so it is put in behind their back."""
    given = {"web.port": 0, "data_dir": str(folder), "nodes.lease_seconds": 30, "access.default": "allow"}
    settings = load(overrides=given, environ={}, folder=folder)
    told = settings.operators.model_copy(update={"room": room, "after_seconds": 0.1})
    return settings.model_copy(update={"operators": told})


@asynccontextmanager
async def running(
    folder: Path, *adapters: ChannelAdapter, room: str = "", settings: Settings | None = None
) -> AsyncIterator[Running]:
    made: list[App] = []

    async def make(settings: Settings) -> App:
        made.append(await build(settings, adapters=lambda _: adapters))
        return made[0]

    async with (
        serving(settings or settings_in(folder, room=room), make=make, with_link=False) as ready,
        aiohttp.ClientSession() as session,
    ):
        yield Running(made[0], ready.control, session)


class Untold(Chat):
    """One whose code breaks where it is asked what it can do."""

    def features(self) -> Features:
        raise RuntimeError("no ink")


class Unrouted(Chat):
    """One whose code breaks where it is asked for its routes."""

    def routes(self) -> list[web.RouteDef]:
        raise ConfigError("its webhook has no path.")


class Foreign(Chat):
    """One whose routes are none."""

    def routes(self) -> list[web.RouteDef]:
        return ["/foreign"]  # type: ignore[list-item]


LEFT_OUT = "This account was skipped. Fix it, then restart."


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Untold, f"fake:b: its features couldn't be read (RuntimeError; the log has details). {LEFT_OUT}"),
        (Unrouted, f"fake:b: its routes couldn't be read (its webhook has no path.). {LEFT_OUT}"),
        (Foreign, f"fake:b: its routes couldn't be read (TypeError; the log has details). {LEFT_OUT}"),
    ],
)
async def test_an_account_that_breaks_at_the_start_is_left_out_and_the_others_work(
    tmp_path: Path, broken: type[Chat], why: str
) -> None:
    good, bad = Chat("a", "A1"), broken("b", "B1")
    with capture_logs() as logs:
        async with running(tmp_path, good, bad) as process:
            status, told = await process.get("/readyz")
            assert (status, told["reasons"]) == (503, {"fake:b": why})
            _, metrics = await process.get("/metrics")
            assert 'signalbox_adapter_state{account="b",channel="fake",state="refused"} 1.0' in metrics
            async with connected(process.control) as api:
                accounts = {one["account"]: one["reason"] for one in (await api.overview())["accounts"]}
            assert accounts["fake:b"] == why
            await until(lambda: good.sink)
            await good.say("hello")
            await until(lambda: good.shown)
            assert (await process.post("/fake/a", "ping")) == (200, "ping")
    assert bad.sink is None
    [line] = [line for line in logs if line["event"] == "an account is left out: it breaks at the start"]
    assert line["account"] == "fake:b"


async def test_each_account_tells_how_it_stands(tmp_path: Path) -> None:
    good, bad = Chat("a", "A1"), Chat("b", "B1")
    bad.stands = REFUSED
    async with running(tmp_path, good, bad) as process:
        status, told = await process.get("/readyz")
        assert (status, told["reasons"]) == (503, {"fake:b": REFUSED.reason})
        _, metrics = await process.get("/metrics")
        assert 'signalbox_adapter_connected{account="a",channel="fake"} 1.0' in metrics
        assert 'signalbox_adapter_state{account="b",channel="fake",state="refused"} 1.0' in metrics
        assert 'signalbox_adapter_state{account="b",channel="fake",state="connected"} 0.0' in metrics
        async with connected(process.control) as api:
            shown = {row["account"]: row for row in (await api.overview())["accounts"]}
        assert (shown["fake:b"]["state"], shown["fake:b"]["reason"]) == ("refused", REFUSED.reason)
        assert shown["web:main"]["state"] == "connected"
        bad.stands = CONNECTED
        assert (await process.get("/readyz"))[0] == 200


async def test_the_console_shows_how_each_account_stands_and_why(tmp_path: Path) -> None:
    bad = Chat("b", "B1")
    bad.stands = ConnectionStatus(Connection.REFUSED, "<b>revoked</b>")
    async with running(tmp_path, bad) as process:
        status, page = await process.get("/console", Authorization=f"Bearer {process.control.token}")
    assert status == 200
    page = re.sub(r' data-column="[^"]*"', "", page)
    assert '<td data-head="Account">fake:b</td><td data-head="State"><span class="badge bad">refused</span>' in page
    assert "&lt;b&gt;revoked&lt;/b&gt;" in page


async def test_an_account_works_while_another_does_not_know_itself_yet(tmp_path: Path) -> None:
    good, late = Chat("a", "A1"), Late("b", "B1")
    async with running(tmp_path, good, late) as process:
        await until(lambda: good.sink)
        await good.say("list the files")
        await until(lambda: good.shown)
        _, told = await process.get("/readyz")
        assert told["reasons"] == {"fake:b": 'account "b": asking who we are.'}
        late.told.set()
        await until(lambda: late.sink)
        await late.say("list the files")
        await until(lambda: late.shown)
        assert (await process.get("/readyz"))[0] == 200
        assert [run["address"] for run in await rooms(process)] == ["fake:b/desk", "fake:a/desk"]


async def rooms(process: Running) -> list[dict[str, Any]]:
    async with connected(process.control) as api:
        return await api.runs()


async def test_rooms_keep_the_names_of_their_accounts_where_none_is_at_work(tmp_path: Path) -> None:
    adapter = Chat("a", "A1")
    async with running(tmp_path, adapter):
        await until(lambda: adapter.sink)
        await adapter.say("list the files")
        await until(lambda: adapter.shown)
    async with opened(settings_in(tmp_path)) as api:
        assert [run["address"] for run in await api.runs()] == ["fake:a/desk"]


async def test_operators_are_told_in_their_room_and_again_after_a_restart(tmp_path: Path) -> None:
    good, bad = Chat("a", "A1"), Chat("b", "B1")
    bad.stands = REFUSED
    async with running(tmp_path, good, bad, room="fake:a/ops"):
        await until(lambda: good.shown)
    [told] = good.shown
    assert str(told.address) == "fake:A1/ops"
    assert told.body.startswith("**fake:b is refused** since ")
    assert told.body.endswith(REFUSED.reason)
    good, bad = Chat("a", "A1"), Chat("b", "B1")
    async with running(tmp_path, good, bad, room="fake:a/ops"):
        await until(lambda: good.shown)
    assert [part.body.partition(",")[0] for part in good.shown] == ["**fake:b works again**"]


async def test_a_room_whose_own_account_is_in_trouble_is_told_once_it_works(tmp_path: Path) -> None:
    only = Chat("a", "A1")
    only.stands = REFUSED
    async with running(tmp_path, only, room="fake:a/ops") as process:
        store = process.app.store
        async with asyncio.timeout(30):
            while not await store.operations.newest_of("outage:fake:a:"):  # noqa: ASYNC110 - a row rings no bell
                await asyncio.sleep(0.02)
        only.stands = CONNECTED
        await until(lambda: len(only.shown) == 2)
    assert "is refused" in only.shown[0].body
    assert "works again" in only.shown[1].body


# ---------------------------------------------------------------------------------------------------------- webhooks


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "bot.example.org", "Content-Type": "application/json"},
        {"Host": "bot.example.org", "Content-Type": "application/x-www-form-urlencoded"},
        {"Host": "bot.example.org", "Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_platform_reaches_a_webhook_under_any_name_without_a_cookie(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with running(tmp_path, Chat("a", "A1")) as process:
        assert await process.post("/fake/a", "an event", **headers) == (200, "an event")


async def test_a_webhook_opens_no_other_address_and_takes_no_more_than_a_mebibyte(tmp_path: Path) -> None:
    async with running(tmp_path, Chat("a", "A1")) as process:
        status, _ = await process.post("/console/api/reload", "{}", Host="bot.example.org")
        assert status == 421
        status, _ = await process.post("/fake/a/further", "x", Host="bot.example.org")
        assert status == 421
        status, _ = await process.post("/fake/a", "x" * (1 << 20) + "x", Host="bot.example.org")
        assert status == 413


# ---------------------------------------------------------------------------------------------------- the settings


async def test_an_account_of_the_settings_is_at_work_without_being_handed_in(tmp_path: Path) -> None:
    text = '[[accounts]]\nname = "tg"\nchannel = "telegram"\napi_base_url = "http://127.0.0.1:9"\n'
    (tmp_path / "signalbox.toml").write_text(text)
    variables = {"TELEGRAM_BOT_TOKEN": "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc"}
    settings = load(overrides={"web.port": 0}, environ=variables, folder=tmp_path)
    async with (
        serving(settings, with_link=False) as ready,
        aiohttp.ClientSession() as session,
        session.get(f"{ready.control.url}/readyz") as answer,
    ):
        assert list((await answer.json())["reasons"]) == ["telegram:tg"]
