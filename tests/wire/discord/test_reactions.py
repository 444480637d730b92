"""Emoji on messages: one call, which changes nothing when it is made again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import Address, Content, DeliveryId, Identity, Part, Reaction
from runtime.errors import Uncertain
from tests.contract.adapters.stage import until
from tests.fakes.discord_faults import Do
from tests.fakes.discord_world import BOT, GENERAL, GUILD
from tests.wire.discord.stage import CHANNEL, On, delivery


def reaction(on: On, emoji: str, address: Address = CHANNEL) -> Part:
    [wire] = on.adapter().render(replace(delivery(""), content=Content("", reaction=emoji)))
    return Part(DeliveryId("d"), 1, address, wire.body)


def marks(on: On, message: str) -> list[str]:
    return [one["emoji"]["name"] for one in on.fake.world.find(GENERAL, message).data.get("reactions", ())]


async def test_a_message_is_marked_once_also_when_the_first_call_was_cut(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part())
        await on.driver.fault(Do.CUT_AFTER, count=2, on="react")  # the client itself makes a PUT twice
        with pytest.raises(Uncertain):
            await adapter.edit(receipt, reaction(on, "❤️"))
        assert await adapter.edit(receipt, reaction(on, "❤️")) == receipt
        assert marks(on, receipt.message_id) == ["❤️"]


async def test_the_message_that_a_thread_hangs_on_is_marked_in_its_channel(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part())
        await adapter.edit(receipt, reaction(on, "👍", Address("discord", BOT, GENERAL, receipt.message_id)))
        assert marks(on, receipt.message_id) == ["👍"]


async def test_a_rating_is_told_at_the_thread_it_was_given_in(on: On) -> None:
    rated: list[Reaction] = []

    async def rate(reaction: Reaction) -> bool:
        rated.append(reaction)
        return True

    on.stage.given = replace(on.stage.given, rated=rate)
    async with on.life() as adapter:
        receipt = await adapter.show(on.part())
        await on.driver.do("thread", id="801", parent=GENERAL, user="42")
        told = {"message_id": receipt.message_id, "guild_id": GUILD, "user_id": "42"}
        for channel, emoji, event in (
            (GENERAL, {"id": None, "name": "👍"}, "MESSAGE_REACTION_ADD"),
            (GENERAL, {"id": None, "name": "👍"}, "MESSAGE_REACTION_REMOVE"),
            ("801", {"id": "5", "name": "party"}, "MESSAGE_REACTION_ADD"),
        ):
            await on.driver.do("raw", event=event, data=told | {"channel_id": channel, "emoji": emoji})
        own = told | {"user_id": BOT, "channel_id": GENERAL, "emoji": {"id": None, "name": "👍"}}
        await on.driver.do("raw", event="MESSAGE_REACTION_ADD", data=own)
        await until(lambda: len(rated) == 3, "ratings")
    person = Identity("discord:42")
    assert rated == [
        Reaction(CHANNEL, person, receipt.message_id, ("👍",)),
        Reaction(CHANNEL, person, receipt.message_id, (), ("👍",)),
        Reaction(Address("discord", BOT, GENERAL, "801"), person, receipt.message_id, ("",)),
    ]
