"""Forms on each platform, each by its own kind."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.contract.adapters.rigs.discord import DiscordRig
from tests.contract.adapters.rigs.slack import SlackRig
from tests.contract.adapters.rigs.telegram import TelegramRig, where
from tests.faults.channels.rounds import shown
from tests.faults.program import until

Done = TypeVar("Done")
Sign = TypeVar("Sign")

HEARD_WITHIN: Final = 3.0  # seconds; source: the time that Slack and Discord give an app
TIMES: Final = 20


async def until_heard(
    do: Callable[[], Awaitable[Done]], sign: Callable[[Done], Awaitable[Sign | None]], what: str
) -> Sign:
    """People do it again where their platform says, or they see, that nobody heard it."""
    for _ in range(TIMES):
        done = await do()
        with suppress(AssertionError):
            return await until(lambda done=done: sign(done), what, seconds=HEARD_WITHIN)  # type: ignore[misc]
    raise AssertionError(f"after {TIMES} times there was no sign of {what}")


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
    typed = [[name, name, text] for name, text in values.items()]

    async def opened(_: object) -> Any | None:
        views = (await rig.driver.screen()).raw["views"]
        return views[-1] if len(views) > before else None

    async def heard(done: Mapping[str, Any]) -> bool | None:
        return done["id"] in (await rig.driver.screen()).raw["acked"] or None

    view = await until_heard(lambda: rig.click(place, card, label), opened, "the form")
    await until_heard(lambda: rig.driver.do("submit", view=view, values=typed), heard, "an answer to the form")


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
    async def answered(done: Mapping[str, Any]) -> str | None:
        answers = (await rig.driver.screen()).answers(done["id"])
        return answers[-1]["text"] if answers else None

    payload = card.button(label).payload
    form = json.loads(await until_heard(lambda: rig.driver.click(card.id, payload), answered, "the form"))
    sent = {"message": card.id, "custom_id": form["custom_id"], "values": dict(values)}
    await until_heard(lambda: rig.driver.do("submit", **sent), answered, "an answer to the form")
