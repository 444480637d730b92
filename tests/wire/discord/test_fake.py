"""The fake Discord is as strict as the real one, and keeps what is visible in a journal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from bot.testing.serve import serving
from tests.fakes.discord import Discord
from tests.fakes.discord_driver import Driver
from tests.fakes.discord_world import BOT, GENERAL, TOKEN, on_screen
from tests.fakes.serve import spawned

BUTTON: Final = {"type": 2, "style": 1, "label": "x", "custom_id": "y"}


class Bot:
    """Calls the fake's REST side as a bot does."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.http = http
        self.url = f"{url}/api/v10"
        self.driver = Driver(url)

    async def call(
        self, method: str, path: str, body: Any = None, *, token: str = TOKEN, **more: Any
    ) -> tuple[int, Any, Mapping[str, str]]:
        headers = {"Authorization": f"Bot {token}"}
        async with self.http.request(method, self.url + path, json=body, headers=headers, **more) as answer:
            text = await answer.text()
            return answer.status, json.loads(text) if text else None, answer.headers

    async def post(self, body: Any, channel: str = GENERAL) -> tuple[int, Any]:
        status, told, _ = await self.call("POST", f"/channels/{channel}/messages", body)
        return status, told


@asynccontextmanager
async def bot(journal: Path | None = None) -> AsyncIterator[Bot]:
    async with serving(Discord(journal=journal).app()) as url, aiohttp.ClientSession() as http:
        yield Bot(http, url)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"content": "x" * 2001}, 400, 50035),
        ({"content": " \n"}, 400, 50006),
        ({}, 400, 50006),
        ({"content": "x", "nonce": "n" * 26}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [BUTTON] * 6}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": []}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [BUTTON, BUTTON]}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [{**BUTTON, "label": "x" * 81}]}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [{**BUTTON, "custom_id": "x" * 101}]}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [{**BUTTON, "style": 9}]}]}, 400, 50035),
        ({"content": "x", "components": [{"type": 1, "components": [BUTTON]}] * 6}, 400, 50035),
        ({"embeds": [{"description": "x" * 4097}]}, 400, 50035),
        ({"embeds": [{"description": "x" * 4000}] * 2}, 400, 50035),
        ({"content": "x", "message_reference": {"message_id": "1"}}, 400, 50035),
        ({"content": "x", "attachments": [{"id": 0, "filename": "a"}]}, 400, 50035),
        ([], 400, 50035),
    ],
)
async def test_what_breaks_a_limit_is_refused_with_discords_code(body: Any, status: int, code: int) -> None:
    async with bot() as one:
        told, answer = await one.post(body)
        assert (told, answer["code"]) == (status, code)
        assert (await one.driver.screen()).posts() == []


async def test_what_is_within_the_limits_is_shown_and_trimmed() -> None:
    async with bot() as one:
        status, told = await one.post({"content": "  " + "漢" * 1997 + "\n", "nonce": "n" * 25})
        assert (status, len(told["content"])) == (200, 1997)
        assert "nonce" not in told


async def test_a_nonce_gives_the_earlier_message_for_a_while() -> None:
    async with bot() as one:
        body = {"content": "x", "nonce": "n", "enforce_nonce": True}
        first, again = (await one.post(body))[1]["id"], (await one.post({**body, "content": "y"}))[1]["id"]
        assert first == again
        await one.driver.do("delete", message=first)
        assert (await one.post(body))[1]["code"] == 10008
        await one.driver.set(nonce=0)
        assert (await one.post(body))[1]["id"] != first
        assert (await one.post({"content": "x", "nonce": "n"}))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/channels/1", 404, 10003),
        ("POST", "/channels/1/messages", 404, 10003),
        ("GET", f"/channels/{GENERAL}/messages/1", 404, 10008),
        ("PATCH", f"/channels/{GENERAL}/messages/1", 404, 10008),
        ("GET", f"/channels/{GENERAL}/messages?limit=101", 400, 50035),
        ("POST", "/interactions/1/t/callback", 404, 10062),
        ("POST", "/webhooks/1/t", 404, 10015),
        ("GET", "/guilds/1", 404, 10004),
        ("GET", "/nowhere", 404, 0),
    ],
)
async def test_what_is_not_there_has_discords_code(method: str, path: str, status: int, code: int) -> None:
    async with bot() as one:
        told, answer, headers = await one.call(method, path, {"content": "x", "type": 4, "data": {"content": "x"}})
        assert (told, answer["code"]) == (status, code)
        assert headers["Content-Type"] == "application/json"


async def test_a_wrong_token_is_unauthorized_and_the_gateway_is_told_to_all() -> None:
    async with bot() as one:
        assert (await one.call("GET", "/users/@me", token="x"))[0] == 401
        assert (await one.call("GET", "/gateway", token="x"))[0] == 200
        assert (await one.call("GET", "/users/@me"))[1]["id"] == BOT


async def test_the_history_goes_by_ids_and_has_no_nonces() -> None:
    async with bot() as one:
        ids = [(await one.post({"content": f"{n}", "nonce": f"{n}"}))[1]["id"] for n in range(6)]
        assert ids == sorted(ids, key=int)

        async def history(query: str) -> list[str]:
            _, told, _ = await one.call("GET", f"/channels/{GENERAL}/messages?{query}")
            assert not any("nonce" in message for message in told)
            return [message["content"] for message in told]

        assert await history("") == ["5", "4", "3", "2", "1", "0"]
        assert await history(f"after={ids[1]}&limit=2") == ["3", "2"]
        assert await history(f"before={ids[2]}&limit=1") == ["1"]
        assert await history(f"around={ids[3]}&limit=2") == ["4", "3", "2"]
        await one.driver.set(denied=["READ_MESSAGE_HISTORY"])
        assert await history("") == []


async def test_a_wait_names_itself_as_discord_does() -> None:
    async with bot() as one:
        await one.driver.fault("busy", seconds=7)
        status, told, headers = await one.call("POST", f"/channels/{GENERAL}/messages", {"content": "x"})
        assert (status, told["retry_after"], headers["Retry-After"]) == (429, 7, "7")
        assert headers["Via"]
        assert (await one.post({"content": "x"}))[0] == 200


async def test_only_ones_own_messages_can_be_changed() -> None:
    async with bot() as one:
        said = await one.driver.say("mine", channel=GENERAL)
        _, told, _ = await one.call("PATCH", f"/channels/{GENERAL}/messages/{said['id']}", {"content": "yours"})
        assert told["code"] == 50005


async def test_an_interaction_is_answered_once_and_in_time() -> None:
    async with bot() as one:
        done = await one.driver.command("status")
        path = f"/interactions/{done['id']}/{done['token']}/callback"
        assert (await one.call("POST", path, {"type": 99}))[1]["code"] == 50035
        assert (await one.call("POST", path, {"type": 4, "data": {"content": "hi", "flags": 64}}))[0] == 204
        assert (await one.call("POST", path, {"type": 6}))[1]["code"] == 40060
        follow = f"/webhooks/{BOT}/{done['token']}"
        assert (await one.call("POST", follow, {"content": "more"}))[0] == 200
        assert (await one.call("PATCH", f"{follow}/messages/@original", {"content": "other"}))[0] == 200
        assert [a["text"] for a in (await one.driver.screen()).answers(done["id"])] == ["hi", "more", "other"]
        await one.driver.set(patience=0)
        late = await one.driver.command("status")
        told = await one.call("POST", f"/interactions/{late['id']}/{late['token']}/callback", {"type": 6})
        assert told[1]["code"] == 10062


async def test_an_answer_that_all_may_see_is_a_message_that_can_be_changed() -> None:
    async with bot() as one:
        done = await one.driver.command("status", channel=GENERAL)
        path = f"/interactions/{done['id']}/{done['token']}/callback"
        assert (await one.call("POST", path, {"type": 4, "data": {"content": "hi"}}))[0] == 204
        original = f"/webhooks/{BOT}/{done['token']}/messages/@original"
        assert (await one.call("GET", original))[1]["content"] == "hi"
        await one.call("PATCH", original, {"content": "ho"})
        assert (await one.driver.screen()).texts(GENERAL) == ["ho"]
        assert (await one.call("DELETE", original))[0] == 204
        assert (await one.driver.screen()).posts() == []


async def test_rooms_servers_and_conversations_are_told() -> None:
    async with bot() as one:
        assert (await one.call("GET", "/guilds/500"))[1]["name"] == "Lab"
        assert (await one.call("POST", "/users/@me/channels", {"recipient_id": "43"}))[1]["type"] == 1
        assert (await one.call("GET", "/gateway/bot"))[1]["session_start_limit"]["total"] == 1000


@pytest.mark.parametrize("commands", [{}, [{"name": "Big", "description": "x"}], [{"name": "x", "description": ""}]])
async def test_commands_that_discord_does_not_take_are_refused(commands: Any) -> None:
    async with bot() as one:
        assert (await one.call("PUT", f"/applications/{BOT}/commands", commands))[1]["code"] == 50035


async def test_what_is_visible_outlives_the_process(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    async with (
        spawned("tests.fakes.discord", "--journal", str(journal)) as (process, url),
        aiohttp.ClientSession() as http,
    ):
        one = Bot(http, url)
        first = (await one.post({"content": "one"}))[1]["id"]
        await one.post({"content": "two"}, channel="7200001")
        await one.call("PATCH", f"/channels/{GENERAL}/messages/{first}", {"content": "changed"})
        gone = (await one.post({"content": "gone"}))[1]["id"]
        await one.driver.do("delete", message=gone)
        await one.driver.say("a person's")
        process.kill()
    assert [message["content"] for message in on_screen(journal)] == ["changed", "two"]
    async with bot(journal) as again:
        assert (await again.driver.screen()).texts() == ["changed", "two"]
        assert int((await again.post({"content": "three"}))[1]["id"]) > int(gone)
