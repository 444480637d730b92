"""What `signalbox doctor` finds out about accounts: the real adapters and clients look at the fake platforms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.doctor.examine import examine
from bot.doctor.services.channels import check_channels
from bot.doctor.subject import Subject
from bot.plugins.channels import BUILT_IN
from bot.settings.settings import load_usable
from bot.tryouts.account import look_at
from runtime.contract import Finding, Level
from tests.contract.adapters.rig import Rig, Trouble
from tests.contract.adapters.rigs.discord import DiscordRig
from tests.contract.adapters.rigs.discord import gateway as discord
from tests.contract.adapters.rigs.slack import RIGS as SLACK
from tests.contract.adapters.rigs.slack import SlackRig
from tests.contract.adapters.rigs.telegram import TelegramRig, polling
from tests.fakes.telegram import TOKEN as TELEGRAM_TOKEN

MAKERS = {"slack": SLACK["slack"], "telegram": polling, "discord": discord}


@pytest.fixture(params=MAKERS)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    async with MAKERS[request.param](tmp_path) as made:
        yield made


def toml(table: Mapping[str, Any]) -> str:
    return "\n".join(["[[accounts]]", *(f"{name} = {json.dumps(value)}" for name, value in table.items()), ""])


def subject(folder: Path, text: str, **variables: str) -> Subject:
    file = folder / "signalbox.toml"
    file.write_text(text)
    settings, faults = load_usable(file, environ=variables)
    return Subject(settings, faults, None, None)


async def look(folder: Path, text: str, **variables: str) -> dict[str, Finding]:
    return {finding.id: finding for finding in await check_channels(subject(folder, text, **variables))}


def bad(found: Mapping[str, Finding]) -> dict[str, Finding]:
    return {ident: finding for ident, finding in found.items() if finding.level is Level.ERROR}


async def test_an_account_that_works_has_no_fault(rig: Rig, tmp_path: Path) -> None:
    table = rig.settings()
    found = await look(tmp_path, toml(table))
    assert bad(found) == {}
    assert all(ident.startswith(f"{table['channel']}.{table['name']}.") for ident in found)
    assert f"{table['channel']}.{table['name']}.token" in found


async def test_a_token_that_the_platform_refuses_is_named_with_what_mends_it(rig: Rig, tmp_path: Path) -> None:
    table = rig.settings()
    await rig.fault(Trouble.TOKEN)
    found = bad(await look(tmp_path, toml(table)))
    token = found[f"{table['channel']}.{table['name']}.token"]
    assert token.why
    assert token.fix
    assert not any(str(value) in f"{token}" for name, value in table.items() if name.endswith("token"))


async def test_a_platform_that_is_away_is_told(rig: Rig, tmp_path: Path) -> None:
    await rig.fault(Trouble.AWAY)
    assert bad(await look(tmp_path, toml(rig.settings())))


async def test_an_account_that_is_off_is_not_looked_at(rig: Rig, tmp_path: Path) -> None:
    table = rig.settings()
    await rig.fault(Trouble.TOKEN)
    found = await look(tmp_path, toml({**table, "enabled": False}))
    assert [finding.what for finding in found.values()] == ["turned off: enabled is false"]


async def test_one_account_that_is_wrong_hides_no_other(rig: Rig, tmp_path: Path) -> None:
    wrong = '[[accounts]]\nname = "other"\nchannel = "telegram"\ntoken_env = "GONE"\n'
    found = await look(tmp_path, wrong + toml(rig.settings()))
    assert list(bad(found)) == ["telegram.other.settings"]
    assert "token is missing" in found["telegram.other.settings"].what
    assert len(found) > 2


async def test_a_token_of_the_wrong_form_is_not_called_missing(rig: Rig, tmp_path: Path) -> None:
    wrong = '[[accounts]]\nname = "other"\nchannel = "telegram"\ntoken = "123:short"\n'
    found = await look(tmp_path, wrong + toml(rig.settings()))
    assert list(bad(found)) == ["telegram.other.settings"]
    assert "settings are wrong" in found["telegram.other.settings"].what
    assert "missing" not in str(found["telegram.other.settings"])


# ------------------------------------------------------------------------------------------------- what each asks for


async def test_a_missing_scope_is_named(tmp_path: Path) -> None:
    async with SLACK["slack"](tmp_path) as rig:
        assert isinstance(rig, SlackRig)
        await rig.driver.switch(without=["chat:write", "files:write"])
        found = await look(tmp_path, toml(rig.settings()))
    assert found["slack.work.scopes.chat:write"].level is Level.ERROR
    assert found["slack.work.scopes.files:write"].level is Level.WARNING
    assert "slack-manifest.yaml" in found["slack.work.scopes.chat:write"].fix


async def test_a_missing_intent_is_named(tmp_path: Path) -> None:
    async with discord(tmp_path) as rig:
        assert isinstance(rig, DiscordRig)
        await rig.driver.set(intents=0)
        found = await look(tmp_path, toml(rig.settings()))
    assert found["discord.guild.intents"].level is Level.ERROR
    assert "Message Content" in found["discord.guild.intents"].fix


async def test_a_webhook_that_keeps_messages_from_a_poller_is_named(tmp_path: Path) -> None:
    async with polling(tmp_path) as rig, aiohttp.ClientSession() as session:
        assert isinstance(rig, TelegramRig)
        hook = {"url": "https://elsewhere.example/hook"}
        async with session.post(f"{rig.url}/bot{TELEGRAM_TOKEN}/setWebhook", json=hook) as answer:
            assert answer.status == 200
        found = bad(await look(tmp_path, toml(rig.settings())))
    assert "a webhook is set" in found["telegram.tg.updates"].what


# ------------------------------------------------------------------------------------------------------ and elsewhere


async def test_half_of_what_makes_an_account_is_told(tmp_path: Path) -> None:
    found = await look(tmp_path, "", SLACK_BOT_TOKEN="xoxb-1-2-abcdefgh")
    assert found["slack"].level is Level.WARNING
    assert found["slack"].what == "SLACK_BOT_TOKEN is set but SLACK_APP_TOKEN is not, so there's no Slack account"
    assert await look(tmp_path, "") == {}


async def test_all_is_told_in_one_examination(rig: Rig, tmp_path: Path) -> None:
    looked = subject(tmp_path, f"[web]\nport = 0\n{toml(rig.settings())}")
    table = rig.settings()
    found = [finding async for finding in examine(looked.settings, looked.faults)]
    assert f"{table['channel']}.{table['name']}.token" in {finding.id for finding in found}


async def test_a_platform_that_does_not_answer_and_a_bug_are_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(account: object, wait: float) -> Sequence[Finding]:
        await asyncio.sleep(wait)
        raise KeyError("a bug")

    [account] = subject(
        tmp_path, toml({"name": "tg", "channel": "telegram", "token": TELEGRAM_TOKEN})
    ).settings.accounts
    for wait, ident in ((60.0, "telegram.tg.reachable"), (0.0, "telegram.tg.check")):
        plugin = replace(BUILT_IN["telegram"], check=partial(check, wait=wait))
        monkeypatch.setattr("bot.tryouts.account.channel", lambda name, plugin=plugin: plugin)
        [finding] = await look_at(account, timedelta(seconds=0.05))
        assert (finding.id, finding.level) == (ident, Level.ERROR)
