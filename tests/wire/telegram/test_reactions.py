"""Emoji on messages: as Telegram writes them, and only those that it takes."""

from __future__ import annotations

from runtime.contract import Content, Delivery, DeliveryId, Kind, Part
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
