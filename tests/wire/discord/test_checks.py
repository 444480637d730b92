"""What `doctor` finds: each step looked at live, what is missing named with its fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.discord.checks import RIGHTS, checked, invitation
from runtime.contract import Finding, Level
from tests.contract.adapters.stage import until
from tests.fakes.discord_world import BOT
from tests.wire.discord.stage import On


async def found(on: On) -> dict[str, Finding]:
    """The findings of an account that is not at work, by what was looked at."""
    findings = await checked(replace(on.settings, shards=1))
    assert all(finding.id.startswith("discord.guild.") for finding in findings)
    return {finding.id.removeprefix("discord.guild."): finding for finding in findings}


async def test_a_sound_account(on: On) -> None:
    async with on.life():
        await until(lambda: bool(on.fake.rest.commands), "commands")
    findings = await found(on)
    assert list(findings) == ["token", "intents", "gateway", "servers", "commands"]
    assert {finding.level for finding in findings.values()} == {Level.OK}
    assert findings["commands"].what == "the commands are registered"


async def test_a_refused_token_is_all_there_is_to_say(on: On) -> None:
    await on.driver.set(token=True)
    findings = await found(on)
    assert list(findings) == ["token"]
    assert findings["token"].level is Level.ERROR
    assert "discord.com/developers/applications" in findings["token"].fix


async def test_without_a_network_the_token_is_not_to_blame(on: On) -> None:
    [finding] = await checked(replace(on.settings, api_base_url="http://127.0.0.1:9/api/v10"))
    assert finding.id == "discord.guild.reachable"
    assert "discord.com reachable from this machine" in finding.fix
    assert "token" not in finding.what + finding.fix


async def test_a_token_that_names_another_bot_is_told_with_both_ids(on: On) -> None:
    on.fake.world.users[BOT] |= {"id": "999"}
    finding = (await found(on))["token"]
    assert finding.level is Level.ERROR
    assert BOT in finding.what
    assert "999" in finding.what


async def test_a_missing_intent_is_named_with_its_switch(on: On) -> None:
    await on.driver.set(intents=0)
    finding = (await found(on))["intents"]
    assert finding.level is Level.ERROR
    assert f"{BOT}/bot" in finding.fix
    assert "4014" in finding.why


async def test_a_bot_in_no_server_is_told_its_invitation(on: On) -> None:
    on.fake.world.guilds.clear()
    finding = (await found(on))["servers"]
    assert finding.level is Level.WARNING
    assert invitation(BOT) in finding.fix


async def test_too_few_shards_are_told(on: On) -> None:
    await on.driver.set(shards=4)
    finding = (await found(on))["gateway"]
    assert finding.level is Level.WARNING
    assert "4" in finding.fix


async def test_a_platform_that_is_away_is_told_and_nothing_raised(on: On) -> None:
    await on.driver.set(away=True)
    findings = await found(on)
    assert findings["reachable"].level is Level.ERROR
    assert "503" in findings["reachable"].what


def test_the_invitation_asks_for_what_is_needed_and_no_more() -> None:
    assert invitation("7") == (
        "https://discord.com/oauth2/authorize?client_id=7&scope=bot+applications.commands&permissions=309237746752"
    )
    assert RIGHTS.value == 309237746752
    assert not RIGHTS.administrator


@pytest.mark.parametrize("page", ["docs/channels/discord.md"])
def test_the_page_for_operators_has_the_same_number(page: str, pytestconfig: pytest.Config) -> None:
    assert str(RIGHTS.value) in (pytestconfig.rootpath / page).read_text(encoding="utf-8")
