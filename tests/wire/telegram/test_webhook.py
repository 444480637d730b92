"""The webhook: set by the account, proved by its secret, answered after the commit."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.telegram.settings import TelegramSettings
from bot.testing.serve import serving
from runtime.contract import Connection, Said, Signal, Verdict
from tests.contract.adapters.rigs.telegram import TelegramRig
from tests.contract.adapters.stage import at_work, stage_for, until
from tests.fakes.ports import free_port
from tests.fakes.telegram import TOKEN, Telegram
from tests.fakes.telegram_driver import attached
from tests.wire.telegram.stage import GROUP, Bench, a_while

SECRET = {"X-Telegram-Bot-Api-Secret-Token": "s3cret"}
UPDATE: dict[str, Any] = {
    "update_id": 1,
    "message": {
        "message_id": 1,
        "date": 1_700_000_000,
        "chat": {"id": 11, "type": "private", "first_name": "Ada"},
        "from": {"id": 11, "is_bot": False, "first_name": "Ada"},
        "text": "by hand",
    },
}


@pytest.fixture
async def hooked(tmp_path: Path) -> AsyncIterator[Bench]:
    fake = Telegram()
    async with serving(fake.app()) as url:
        rig = TelegramRig(url, hook=free_port())
        await rig.driver.inject(type="introduce", chat=11, user=11)
        yield Bench(rig, fake, stage_for(rig, tmp_path / "workspaces"))


def route(bench: Bench) -> str:
    return f"http://127.0.0.1:{bench.rig.hook}/telegram/tg"


async def posted(bench: Bench, **request: object) -> int:
    async with aiohttp.ClientSession() as http, http.post(route(bench), **request) as response:  # type: ignore[arg-type]
        return response.status


async def test_it_is_set_with_its_secret_and_what_we_read(hooked: Bench) -> None:
    async with hooked.life():
        hook = (await hooked.driver.screen())["webhook"]
        assert (hook["url"], hook["secret_token"]) == (route(hooked), "s3cret")
        assert await posted(hooked, json=UPDATE, headers=SECRET) == 200
        assert hooked.sink.texts == ["by hand"]


@pytest.mark.parametrize("headers", [{}, {"X-Telegram-Bot-Api-Secret-Token": "guess"}, {"X-Telegram-Bot-Api-Secret-Token": "s3cre\xff"}])  # fmt: skip
async def test_without_the_secret_nothing_is_read(hooked: Bench, headers: dict[str, str]) -> None:
    async with hooked.life():
        assert await posted(hooked, json=UPDATE, headers=headers) == 401
        assert await posted(hooked, data=io.BytesIO(b"\xff" * 2_000_000), headers=headers) == 401
        assert hooked.sink.calls == []


async def test_what_telegram_never_sends_is_refused(hooked: Bench) -> None:
    async with hooked.life():
        as_json = {**SECRET, "Content-Type": "application/json"}
        assert await posted(hooked, data=b"{}", headers={**SECRET, "Content-Type": "text/plain"}) == 415
        assert await posted(hooked, data=io.BytesIO(b" " * (1024 * 1024 + 1)), headers=as_json) == 413
        for raw in (b"", b"{", b"[]", b'"text"', b"{}", b'{"update_id": "1"}', b"[" * 100_000):
            assert await posted(hooked, data=raw, headers=as_json) == 400
        assert hooked.sink.calls == []
        assert await posted(hooked, json={"update_id": 1, "message": {"half": "a message"}}, headers=SECRET) == 200


@pytest.mark.parametrize("twist", [{"from": None}, {"from": "Ada"}, {"data": 7}, {"message": []}, {"message": {}}])
async def test_a_press_of_no_known_form_is_taken_once_and_left_out(hooked: Bench, twist: dict[str, object]) -> None:
    """Were it refused, Telegram would bring it again and again, and all later updates behind it."""
    press = {
        "id": "1",
        "from": {"id": 11, "is_bot": False, "first_name": "Ada"},
        "chat_instance": "1",
        "message": UPDATE["message"],
        "data": "0352dXDKyYsbSG5DJqYzwL:approve",
    }
    async with hooked.life():
        assert await posted(hooked, json={"update_id": 7, "callback_query": press | twist}, headers=SECRET) == 200
        assert hooked.sink.calls == []
        assert await posted(hooked, json=UPDATE, headers=SECRET) == 200
        assert hooked.sink.texts == ["by hand"]


async def test_before_it_listens_and_while_the_store_is_away_telegram_keeps_it(hooked: Bench) -> None:
    adapter = hooked.rig.adapter(hooked.stage.given)
    async with hooked.rig.reachable(adapter):
        assert await posted(hooked, json=UPDATE, headers=SECRET) == 503
    async with hooked.life():
        hooked.sink.away = 1
        assert await posted(hooked, json=UPDATE, headers=SECRET) == 503
        assert await posted(hooked, json=UPDATE, headers=SECRET) == 200
        assert hooked.sink.texts == ["by hand"]


async def test_a_webhook_that_somebody_took_away_is_set_again(hooked: Bench) -> None:
    async with hooked.life(), aiohttp.ClientSession() as http:
        await http.post(f"{hooked.rig.url}/bot{TOKEN}/deleteWebhook")

        async def back() -> bool:
            return bool((await hooked.driver.screen())["webhook"])

        await until(back, "webhook")
        await hooked.signal_of("hello")


async def test_a_webhook_of_another_program_is_told_and_not_fought_over(hooked: Bench) -> None:
    async with hooked.life() as adapter, aiohttp.ClientSession() as http:
        other = {"url": "https://elsewhere.example.org/hook"}
        await http.post(f"{hooked.rig.url}/bot{TOKEN}/setWebhook", json=other)
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        assert other["url"] in adapter.standing().reason
        await a_while()
        assert (await hooked.driver.screen())["webhook"]["url"] == other["url"]
        await http.post(f"{hooked.rig.url}/bot{TOKEN}/deleteWebhook")
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")


async def test_updates_that_cannot_be_brought_are_told(hooked: Bench) -> None:
    async with hooked.life() as adapter:
        hooked.sink.away = 1_000_000
        await hooked.driver.say("hello")
        await until(lambda: adapter.standing().connection is Connection.DEAF, f"word: {adapter.standing()}")
        assert "can't deliver updates to" in adapter.standing().reason
        assert "503" in adapter.standing().reason
        hooked.sink.away = 0
        await hooked.stage.taken("hello")
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")


async def test_an_address_that_telegram_does_not_take_is_told(hooked: Bench) -> None:
    async with hooked.life(connected=False, webhook_url="http://bot.example.org") as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        reason = adapter.standing().reason
        assert "http://bot.example.org/telegram/tg" in reason
        assert "https://" in reason


async def test_the_pictures_of_an_album_come_one_by_one_here(hooked: Bench) -> None:
    """Telegram waits for the answer to each before it brings the next of that chat."""
    async with hooked.life():
        for text in ("what are these?", "", ""):
            await hooked.driver.say(
                text, chat=GROUP, mention=bool(text), files=[attached("", b"x", kind="photo")], album="a"
            )
        signals = await hooked.hears(3)
        assert [len(s.body.files) for s in signals if isinstance(s.body, Said)] == [1, 1, 1]
        assert hooked.sink.texts == ["what are these?", "", ""]


@pytest.mark.parametrize(
    "url", ["https://x.org", "https://x.org/", "https://x.org/telegram", "https://x.org/telegram/tg", "https://x.org/telegram/tg/"]
)  # fmt: skip
def test_the_address_may_be_written_in_part(url: str) -> None:
    assert TelegramSettings("tg", TOKEN, "webhook", url).hook == "https://x.org/telegram/tg"


def test_the_settings_show_no_secret() -> None:
    told = repr(TelegramSettings("tg", TOKEN, "webhook", "https://x.org", "s3cret"))
    assert TOKEN not in told
    assert "s3cret" not in told


async def test_what_is_pressed_while_the_account_closes_is_taken_in(hooked: Bench) -> None:
    """Its private answer is left out; the request is no error."""
    adapter, begun, goes_on = hooked.rig.adapter(hooked.stage.given), asyncio.Event(), asyncio.Event()

    async def slowly(signal: Signal) -> Verdict:
        begun.set()
        await goes_on.wait()
        return await hooked.sink(signal)

    async with hooked.rig.reachable(adapter), asyncio.TaskGroup() as group:
        async with at_work(adapter, slowly):
            pressed = {"id": "q1", "from": UPDATE["message"]["from"], "chat_instance": "1", "data": "a:approve"}
            update = {"update_id": 2, "callback_query": {**pressed, "message": UPDATE["message"]}}
            await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")
            request = group.create_task(posted(hooked, json=update, headers=SECRET))
            await begun.wait()
        goes_on.set()
        assert await request == 200
    assert len(hooked.sink.clicks) == 1
