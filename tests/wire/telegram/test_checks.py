"""What `signalbox doctor` finds out about a Telegram account, live."""

from __future__ import annotations

import aiohttp

from adapters.telegram.checks import checked
from adapters.telegram.settings import TelegramSettings
from runtime.contract import Finding, Level
from tests.contract.adapters.rigs.telegram import SHORT
from tests.fakes.telegram import TOKEN
from tests.wire.telegram.stage import Bench


async def found(bench: Bench, **changes: object) -> dict[str, Finding]:
    """Findings by their step. The account does not listen meanwhile."""
    settings = {"api_base_url": bench.rig.url, "waits": SHORT, **changes}
    findings = await checked(TelegramSettings("tg", **{"token": TOKEN, **settings}))  # type: ignore[arg-type]
    assert all(finding.id.startswith("telegram.tg.") for finding in findings)
    assert all(finding.fix for finding in findings if finding.level is not Level.OK)
    assert not any(TOKEN.partition(":")[2] in str(finding) for finding in findings)
    return {finding.id.rpartition(".")[2]: finding for finding in findings}


async def called(bench: Bench, method: str, **asked: object) -> None:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{bench.rig.url}/bot{TOKEN}/{method}", json=asked) as response,
    ):
        assert response.status == 200


async def test_all_is_well(bench: Bench) -> None:
    told = await found(bench)
    assert {finding.level for finding in told.values()} == {Level.OK}
    assert list(told) == ["token", "privacy", "groups", "updates"]
    assert "@signalbox_bot" in told["token"].what


async def test_a_token_that_is_refused(bench: Bench) -> None:
    await bench.driver.switch(token=True)
    told = await found(bench)
    assert list(told) == ["token"]
    assert told["token"].level is Level.ERROR
    assert "@BotFather" in told["token"].what


async def test_a_platform_that_is_not_reached(bench: Bench) -> None:
    told = await found(bench, api_base_url="http://127.0.0.1:9")
    assert told["reachable"].level is Level.ERROR
    assert "127.0.0.1:9" in told["reachable"].fix


async def test_privacy_mode_is_told_with_what_it_means(bench: Bench) -> None:
    await bench.driver.switch(privacy=True)
    told = await found(bench)
    assert "privacy mode is on" in told["privacy"].what
    assert "/setprivacy" in told["privacy"].fix


async def test_a_webhook_against_polling(bench: Bench) -> None:
    await called(bench, "setWebhook", url="https://elsewhere.example.org/hook")
    told = await found(bench)
    assert told["updates"].level is Level.ERROR
    assert "https://elsewhere.example.org/hook" in told["updates"].what
    assert "deleteWebhook" in told["updates"].fix


async def test_updates_that_pile_up(bench: Bench) -> None:
    for _ in range(101):
        await bench.driver.say("hello")
    told = await found(bench)
    assert told["updates"].level is Level.WARNING
    assert "102 updates are waiting" in told["updates"].what


async def test_a_webhook_that_is_not_set_yet_or_another(bench: Bench) -> None:
    hooked = {"mode": "webhook", "webhook_url": "https://bot.example.org"}
    assert (await found(bench, **hooked))["updates"].level is Level.WARNING
    await called(bench, "setWebhook", url="https://elsewhere.example.org/hook")
    assert "not https://bot.example.org/telegram/tg" in (await found(bench, **hooked))["updates"].what
    await called(bench, "setWebhook", url="https://bot.example.org/telegram/tg")
    assert (await found(bench, **hooked))["updates"].level is Level.OK


async def test_a_webhook_that_does_not_work(bench: Bench) -> None:
    await called(bench, "setWebhook", url="https://bot.example.org/telegram/tg")
    bench.fake.hook.last_error = (502, "Wrong response from the webhook: 502 Bad Gateway")
    told = await found(bench, mode="webhook", webhook_url="https://bot.example.org")
    assert told["updates"].level is Level.ERROR
    assert "502 Bad Gateway" in told["updates"].what
