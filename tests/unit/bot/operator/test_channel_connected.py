"""A channel connected from the page: from its tokens to an answer in somebody's chat there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from adapters.slack import adapter as slack_adapter
from adapters.slack import web as slack_web
from adapters.telegram import settings as telegram
from bot.plugins.channels import BUILT_IN
from bot.settings.settings import load
from tests.contract.adapters.rig import Place, Rig
from tests.security.running import Running, running
from tests.unit.bot.doctor.test_channels import MAKERS
from tests.unit.bot.operator.test_settings_page import called, confirm, entries_of, file_of, sealed_in

PLATFORMS: Final = {
    "telegram": ((telegram, "PLATFORM"),),
    "slack": ((slack_adapter, "SLACK"), (slack_web, "SLACK")),
}
TEXT: Final = '[web]\nport = 0\n[secrets]\nfile = "own.sealed"\npassphrase_file = "passphrase"\n'


async def answered(rig: Rig, place: Place, words: str) -> None:
    async with asyncio.timeout(30):
        while True:
            if any(words in message.text for message in await rig.visible(place)):
                return
            await asyncio.sleep(0.02)


async def connected(house: Running, channel: str, tokens: dict[str, str]) -> None:
    """By the form of the page."""
    await confirm(house)
    status, told = await called(house, "owner", f"/channels/{channel}", {**tokens, "name": "mine"})
    assert status == 200, told
    assert "Restart Signalbox, then write to it there" in told["told"]
    assert told["restart"] == ["accounts"]
    page = await house.ask("GET", "/console/settings-channels", "owner")
    assert not any(token in page.text for token in tokens.values())


@pytest.mark.parametrize("channel", PLATFORMS)
async def test_who_writes_to_a_channel_that_was_connected_in_the_page_is_answered(
    channel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed, outside = sealed_in(tmp_path), tmp_path / "platform"
    outside.mkdir()
    async with MAKERS[channel](outside) as rig:
        table = rig.settings()
        for module, name in PLATFORMS[channel]:
            monkeypatch.setattr(module, name, table["api_base_url"])
        tokens = {setting: str(table[setting]) for setting in BUILT_IN[channel].needed()}
        async with running(tmp_path, f'data_dir = "{tmp_path}"\n{TEXT}') as house:
            await connected(house, channel, tokens)
        assert sorted(entries_of(sealed).values()) == sorted(tokens.values())
        assert not any(token in file_of(tmp_path).read_text() for token in tokens.values())
        async with running(tmp_path, settings=load(file_of(tmp_path), environ={})) as house:
            place = rig.rooms().direct
            await house.api.add_person("Ada", "user", [place.user])
            await rig.say(place, "list the files")
            await answered(rig, place, "The folder is empty")
