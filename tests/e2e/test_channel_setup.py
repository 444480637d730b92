"""From nothing to an answer on a chat platform: `init` asks for the channel, and a person is paired by what they are sent."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

import pytest

from bot.plugins.channels import BUILT_IN
from tests.contract.adapters.rig import Place, Rig
from tests.e2e.house import House, environment
from tests.e2e.terminal import Terminal
from tests.unit.bot.doctor.test_channels import MAKERS

pytestmark = [pytest.mark.xdist_group("e2e-init"), pytest.mark.timeout(180)]

PATIENCE: Final = 45.0  # seconds: the machine may be busy with other tests
CODE: Final = re.compile(r"\b[A-Z2-9]{8}\b")


@pytest.fixture
def empty(tmp_path: Path) -> House:
    house = House(tmp_path)
    (tmp_path / "signalbox.toml").unlink()
    return house


async def shown(rig: Rig, place: Place, words: str | re.Pattern[str]) -> str:
    """The first message of ours with these words, once it is there."""
    async with asyncio.timeout(PATIENCE):
        while True:
            for message in await rig.visible(place):
                if re.search(words, message.text):
                    return message.text
            await asyncio.sleep(0.05)


def set_up(house: House, rig: Rig, channel: str) -> str:
    """Answer what `init` asks; what stood on the screen."""
    table = rig.settings()
    server = f"{channel}={table['api_base_url']}"
    with Terminal(["init", "--channel-server", server], house.folder, environment(house.folder)) as screen:
        for question, answer in (("Folder for the data", ""), ("Database", ""), ("Model [demo]", "")):
            screen.reads(question)
            screen.types(answer)
        screen.reads("Channel (telegram, slack, discord, none) [none]")
        screen.types(channel)
        screen.reads("Name of this account")
        screen.types("mine")
        for setting, secret in BUILT_IN[channel].needed().items():
            screen.reads(f"{secret.title} (hidden, and sealed; Enter to leave it out): ")
            screen.types(str(table[setting]))
        for question, answer in (("Another channel", ""), ("Your name", "Ada"), ("Port of the web page", "0")):
            screen.reads(question)
            screen.types(answer)
        screen.reads("key file): ")
        screen.types("")
        screen.reads("signalbox people pair CODE --name Ada")
        assert screen.ends() == 0
        return screen.screen


@pytest.mark.parametrize(
    "channel", [pytest.param(one, marks=() if one == "slack" else pytest.mark.soak) for one in MAKERS]
)
async def test_a_person_is_led_from_nothing_to_an_answer_in_their_chat(
    empty: House, tmp_path: Path, channel: str
) -> None:
    outside = tmp_path / "platform"
    outside.mkdir()
    async with MAKERS[channel](outside, process=True) as rig:
        tokens = [str(rig.settings()[setting]) for setting in BUILT_IN[channel].needed()]
        screen = await asyncio.to_thread(set_up, empty, rig, channel)
        assert not any(token in screen for token in tokens)
        examined = await asyncio.to_thread(empty.command, "doctor")
        assert f"{channel}.mine" in examined.stdout
        assert "ERROR" not in examined.stdout
        await asyncio.to_thread(empty.start)
        try:
            await paired_and_answered(empty, rig, rig.rooms().direct)
        finally:
            empty.kill()
        assert not any(token in empty.log() for token in tokens)
    held = b"".join(path.read_bytes() for path in empty.data.rglob("*") if path.is_file())
    assert not any(token.encode() in held for token in tokens)


async def paired_and_answered(house: House, rig: Rig, place: Place) -> None:
    await rig.say(place, "good morning")
    code = CODE.search(await shown(rig, place, CODE))
    assert code is not None
    told = await asyncio.to_thread(house.command, "people", "pair", code[0], "--name", "Ada")
    assert "is now Ada (owner)" in told.stdout
    await rig.say(place, "list the files")
    assert "The folder is empty" in await shown(rig, place, "Files in")
