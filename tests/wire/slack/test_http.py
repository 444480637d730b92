"""Events as signed HTTP requests: who may speak to us, and what is stored of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession, web

from adapters.slack.adapter import SlackAdapter
from bot.testing.serve import serving
from runtime.contract import Clicked, Commanded, Connection, Said
from tests.contract.adapters.stage import until
from tests.fakes.slack_delivery import secret_of, signature
from tests.wire.slack.stage import Workspace, part
from tests.wire.slack.test_events import APPROVAL, CARD

EVENT: Final[dict[str, Any]] = {
    "type": "event_callback",
    "team_id": "T1",
    "event_id": "Ev1",
    "event": {
        "type": "message",
        "channel": "DU1",
        "channel_type": "im",
        "user": "U1",
        "text": "hi",
        "ts": "1700000100.000001",
    },
}
JSON: Final = "application/json"
MIB: Final = 1024 * 1024


@asynccontextmanager
async def served(on: Workspace, **changes: Any) -> AsyncIterator[tuple[SlackAdapter, str]]:
    """An account in HTTP mode, and the address at which it receives."""
    async with on.life(mode="http", **changes) as adapter:
        [route] = adapter.routes()
        app = web.Application()
        app.add_routes(adapter.routes())
        async with serving(app) as base:
            yield adapter, f"{base}{route.path}"


async def post(url: str, body: str | bytes, headers: dict[str, str]) -> tuple[int, str]:
    async with ClientSession() as http, http.post(url, data=body, headers=headers) as answer:
        return answer.status, await answer.text()


def signed(body: str, *, secret: str = secret_of("T1"), at: float | None = None, kind: str = JSON) -> dict[str, str]:
    return {**signature(secret, body, at=at), "Content-Type": kind}


async def test_a_signed_event_is_taken_in(on: Workspace) -> None:
    async with served(on) as (adapter, url):
        assert url.endswith("/slack/work/events")
        assert adapter.standing().connection is Connection.CONNECTED
        body = json.dumps(EVENT)
        assert await post(url, body, signed(body)) == (200, "")
        [signal] = on.sink.taken
        assert signal.body == Said("hi")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": JSON},
        {"Content-Type": JSON, "X-Slack-Signature": "v0=0", "X-Slack-Request-Timestamp": "1"},
        {"Content-Type": JSON, "X-Slack-Signature": "", "X-Slack-Request-Timestamp": "x"},
        signed(json.dumps(EVENT), secret="another"),
        signed(json.dumps(EVENT), at=time.time() - 600),
        signed(json.dumps({**EVENT, "event_id": "Ev2"})),
    ],
    ids=["none", "wrong", "nonsense", "another app's", "old", "of another body"],
)
async def test_without_a_proof_of_slack_it_is_401_and_nothing_is_stored(on: Workspace, headers: dict[str, str]) -> None:
    async with served(on) as (_, url):
        status, _ = await post(url, json.dumps(EVENT), headers)
        assert status == 401
        assert on.sink.calls == []


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml"])
async def test_another_type_is_415(on: Workspace, kind: str) -> None:
    async with served(on) as (_, url):
        body = json.dumps(EVENT)
        status, _ = await post(url, body, signed(body, kind=kind))
        assert status == 415
        assert on.sink.calls == []


async def test_more_than_a_mebibyte_is_413(on: Workspace) -> None:
    async with served(on) as (_, url):
        body = json.dumps({**EVENT, "padding": "x" * MIB})
        async with ClientSession() as http, http.post(url, data=BytesIO(body.encode()), headers=signed(body)) as answer:
            assert answer.status == 413

        async def drip() -> AsyncIterator[bytes]:
            for _ in range(17):
                yield b"x" * (MIB // 16)

        async with ClientSession() as http, http.post(url, data=drip(), headers=signed("")) as answer:
            assert answer.status == 413
        assert on.sink.calls == []


@pytest.mark.parametrize("body", ["{", "[]", '"x"', "", "payload=%7B", "payload=[]"])
async def test_a_body_that_cannot_be_read_is_refused(on: Workspace, body: str) -> None:
    kind = "application/x-www-form-urlencoded" if body.startswith("payload") else JSON
    async with served(on) as (_, url):
        status, _ = await post(url, body, signed(body, kind=kind))
        assert status in (200, 400)
        assert on.sink.calls == []


async def test_the_challenge_of_a_new_address_is_answered(on: Workspace) -> None:
    async with served(on) as (_, url):
        body = json.dumps({"type": "url_verification", "challenge": "abc", "token": "x"})
        status, answer = await post(url, body, signed(body))
        assert status == 200
        assert "abc" in answer


async def test_what_the_store_does_not_take_is_503_and_slack_sends_it_again(on: Workspace) -> None:
    async with served(on) as (_, url):
        on.sink.away = 1
        body = json.dumps(EVENT)
        assert (await post(url, body, signed(body)))[0] == 503
        assert (await post(url, body, signed(body) | {"X-Slack-Retry-Num": "1"}))[0] == 200
        assert on.sink.texts == ["hi"]


async def test_before_it_listens_nothing_is_taken_in(on: Workspace) -> None:
    adapter = on.adapter(mode="http")
    app = web.Application()
    app.add_routes(adapter.routes())
    async with serving(app) as base:
        body = json.dumps(EVENT)
        assert (await post(f"{base}/slack/work/events", body, signed(body)))[0] == 503


async def test_buttons_and_commands_come_as_forms(on: Workspace) -> None:
    async with served(on) as (adapter, url):
        await on.driver.hook(url)
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD))
        await on.driver.do("click", channel="DU1", ts=receipt.message_id, value=f"{APPROVAL}:approve")
        await on.taken()
        on.sink.notice = "Nothing is going on."
        told = await on.driver.do("command", text="status", channel="DU1")
        await until(lambda: on.acked(told), "acknowledgement")
        assert [type(signal.body) for signal in on.sink.taken] == [Clicked, Commanded]
        assert [notice["text"] for notice in (await on.screen()).notices] == ["Nothing is going on."]


async def test_events_come_again_until_they_are_taken_in(on: Workspace) -> None:
    async with served(on) as (_, url):
        await on.driver.hook(url)
        on.sink.away = 2
        await on.driver.say("hello")
        await on.taken()
        assert len(on.sink.calls) == 3


async def test_a_press_that_nobody_signed_decides_nothing(on: Workspace) -> None:
    payload = {"type": "block_actions", "actions": [{"action_id": "signalbox:approve:x", "value": "x:approve"}]}
    body = urlencode({"payload": json.dumps(payload)})
    async with served(on) as (_, url):
        status, _ = await post(url, body, {"Content-Type": "application/x-www-form-urlencoded"})
        assert status == 401
        assert on.sink.calls == []


async def test_in_socket_mode_there_is_no_route(on: Workspace) -> None:
    assert on.adapter().routes() == []


async def test_many_at_once_are_each_taken_in_once(on: Workspace) -> None:
    async with served(on) as (_, url):
        bodies = [json.dumps({**EVENT, "event_id": f"Ev{n % 20}"}) for n in range(60)]
        answers = await asyncio.gather(*(post(url, body, signed(body)) for body in bodies))
        assert {status for status, _ in answers} == {200}
        assert len({signal.dedupe_key for signal in on.sink.calls}) == 20
