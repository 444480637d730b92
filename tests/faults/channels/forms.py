"""Forms on each platform, each by its own kind."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.contract.adapters.rigs.discord import DiscordRig
from tests.contract.adapters.rigs.slack import SlackRig
from tests.contract.adapters.rigs.telegram import TelegramRig, where
from tests.faults.channels.rounds import shown
from tests.faults.program import until


async def send(rig: Rig, place: Place, card: OnScreen, label: str, values: Mapping[str, str], asks: str = "") -> None:
    """Press the button `label`, and send its form with `values`. Where a message asks for them, it says `asks`."""
    if isinstance(rig, SlackRig):
        await _modal(rig, place, card, label, values)
    elif isinstance(rig, TelegramRig):
        await _answer(rig, place, card, label, values, asks)
    else:
        assert isinstance(rig, DiscordRig)
        await _dialog(rig, card, label, values)


async def _modal(rig: SlackRig, place: Place, card: OnScreen, label: str, values: Mapping[str, str]) -> None:
    before = len((await rig.driver.screen()).raw["views"])
    await rig.click(place, card, label)

    async def opened() -> bool | None:
        return len((await rig.driver.screen()).raw["views"]) > before or None

    await until(opened, "the form", seconds=30)
    view = (await rig.driver.screen()).raw["views"][-1]
    await rig.driver.do("submit", view=view, values=[[name, name, text] for name, text in values.items()])


async def _answer(
    rig: TelegramRig, place: Place, card: OnScreen, label: str, values: Mapping[str, str], asks: str
) -> None:
    before = len(await rig.visible(place))
    await rig.click(place, card, label)
    *_, prompt = await shown(rig, place, before + 1)
    assert asks in prompt.text
    several = "ref " in prompt.text and "," in prompt.text.rpartition("\n")[2]
    text = "\n".join(f"{name}: {words}" if several else words for name, words in values.items())
    await rig.driver.say(text, reply_to=int(prompt.id), **where(place))


async def _dialog(rig: DiscordRig, card: OnScreen, label: str, values: Mapping[str, str]) -> None:
    done = await rig.driver.click(card.id, card.button(label).payload)

    async def opened() -> str | None:
        answers = (await rig.driver.screen()).answers(done["id"])
        return answers[-1]["text"] if answers else None

    form = json.loads(await until(opened, "the form", seconds=30))
    await rig.driver.do("submit", message=card.id, custom_id=form["custom_id"], values=dict(values))
