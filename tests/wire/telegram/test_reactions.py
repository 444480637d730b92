"""Emoji on messages: as Telegram writes them, and only those that it takes."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import Content, Delivery, DeliveryId, Identity, Kind, Part, Reaction
from runtime.text.emoji import FAVOURITES
from tests.fakes.telegram_driver import ADA
from tests.wire.telegram.stage import Bench, address


def reaction(adapter: object, emoji: str) -> Part:
    made = Delivery(DeliveryId("d"), "reacted:r:c", 1, Kind.REPORT, address(), Content("", reaction=emoji))
    [wire] = adapter.render(made)  # type: ignore[attr-defined]
    return Part(made.id, 1, made.address, wire.body)


async def test_a_message_is_marked_and_marked_again_without_a_difference(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "hello")
        for _ in range(2):
            assert await adapter.edit(receipt, reaction(adapter, "❤️")) == receipt
        assert (await bench.last(ADA))["reactions"] == ["❤"]


async def test_an_emoji_that_telegram_does_not_take_is_told_before(bench: Bench) -> None:
    async with bench.life() as adapter:
        reacts = adapter.features().reacts
        assert reacts is not None
        assert [reacts(emoji) for emoji in FAVOURITES.split()] == [""] * len(FAVOURITES.split())
        assert "Telegram takes no reaction ✅" in reacts("✅")


def set_of(*emoji: str) -> list[dict[str, str]]:
    return [{"type": "emoji", "emoji": one} for one in emoji]


async def test_a_rating_is_told_as_what_came_and_what_went(bench: Bench) -> None:
    rated: list[Reaction] = []

    async def rate(reaction: Reaction) -> bool:
        rated.append(reaction)
        return True

    bench.stage.given = replace(bench.stage.given, rated=rate)
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "hello")
        number = int(receipt.message_id.partition(":")[2])
        chat = {"id": ADA, "type": "private"}
        person = {"id": ADA, "is_bot": False, "first_name": "Ada"}
        told = {"chat": chat, "message_id": number, "date": 1, "user": person}
        changes = [((), ("👍", "🎉")), (("👍", "🎉"), ("👎",))]
        for old, new in changes:
            update = {"message_reaction": told | {"old_reaction": set_of(*old), "new_reaction": set_of(*new)}}
            await bench.driver.inject(type="raw", update=update)
        anonymous = {key: value for key, value in told.items() if key != "user"} | {"actor_chat": chat}
        update = {"message_reaction": anonymous | {"old_reaction": [], "new_reaction": set_of("👍")}}
        await bench.driver.inject(type="raw", update=update)
        await bench.signal_of("behind all of them")
    here = (address(), Identity(f"telegram:{ADA}"), receipt.message_id)
    assert rated == [Reaction(*here, ("👍", "🎉"), ()), Reaction(*here, ("👎",), ("👍", "🎉"))]
