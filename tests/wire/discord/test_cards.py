"""A card whose call is too long for a message: one message with its buttons and file; and whom it notifies."""

from __future__ import annotations

import json
from dataclasses import replace

from adapters.discord.outgoing.render import LIMIT, render
from adapters.discord.rooms import MessageLinks, Place
from runtime.chat.cards.open_cards import pending
from runtime.chat.cards.settled_cards import settled
from runtime.contract import Address, Content, Delivery, DeliveryId, Identity, Kind, Mention, Part
from runtime.domain.approvals import ApprovalState
from tests.contract.adapters.stage import until
from tests.fakes.discord_world import GENERAL
from tests.unit.chat.test_cards import ASKED, PENDING, list_of
from tests.wire.discord.stage import BUTTONS, CHANNEL, On

COMMAND = "echo " + "x" * 60_000 + " && rm -rf ~/important"
LONG = replace(PENDING, arguments=json.dumps({"command": COMMAND}), arguments_hash="1a2b3c4d" * 8)
CALLED = (Mention(Identity("discord:42"), "Ada"), Mention(Identity("discord:77"), "Otto"))


def made(content: Content, *, edits: str = "", ordinal: int = 0) -> Delivery:
    edited = DeliveryId(edits) if edits else None
    return Delivery(DeliveryId("d" * 20), "approval:a1", ordinal, Kind.APPROVAL, CHANNEL, content, edited)


async def test_a_long_call_is_one_message_with_its_file(on: On) -> None:
    async with on.life() as adapter:
        [wire] = adapter.render(made(pending(LONG, ASKED)))
        receipt = await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [shown] = (await on.driver.screen()).posts()
        assert len(shown["content"]) <= LIMIT
        assert "&& rm -rf ~/important\n```" in shown["content"]
        [file] = shown["attachments"]
        assert file["filename"] == "call-1a2b3c4d.txt"
        assert on.fake.world.files[file["id"]] == COMMAND.encode()
        [vote] = adapter.render(made(pending(LONG, ASKED, voted=["Ada"]), edits="d", ordinal=1))
        await adapter.edit(receipt, Part(DeliveryId("e"), 1, CHANNEL, vote.body))
        [shown] = (await on.driver.screen()).posts()
        assert [one["filename"] for one in shown["attachments"]] == ["call-1a2b3c4d.txt"]
        [end] = adapter.render(made(settled(replace(LONG, state=ApprovalState.DENIED)), edits="d", ordinal=2))
        await adapter.edit(receipt, Part(DeliveryId("f"), 1, CHANNEL, end.body))
        [shown] = (await on.driver.screen()).posts()
        assert (shown["content"][:12], shown["components"], shown["attachments"]) == ("❌ **Denied**", [], [])


async def test_only_those_whom_a_card_calls_are_notified(on: On) -> None:
    async with on.life() as adapter:
        [wire] = adapter.render(made(pending(PENDING, ASKED, mentions=CALLED)))
        await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [shown] = (await on.driver.screen()).posts()
        assert shown["content"].endswith("\n\nWaiting for <@42>, <@77>.")
        assert shown["allowed_mentions"] == {"parse": [], "users": ["42", "77"], "replied_user": False}
        [plain] = adapter.render(made(pending(PENDING, ASKED)))
        await adapter.show(Part(DeliveryId("e"), 1, CHANNEL, plain.body))
        assert (await on.driver.screen()).posts()[-1]["allowed_mentions"] == {"parse": [], "replied_user": False}


def test_a_settled_card_with_a_button_brings_no_file_and_asks_for_nothing() -> None:
    settled_one = replace(settled(replace(LONG, state=ApprovalState.APPROVED)), buttons=BUTTONS)
    [wire] = render(made(settled_one, edits="d", ordinal=1))
    told = json.loads(wire.body)
    assert "files" not in told
    assert told["content"].endswith("sha256 1a2b3c4d")


def test_a_file_that_discord_refuses_is_told_of() -> None:
    [wire] = render(made(pending(LONG, ASKED)))
    plain = json.loads(wire.fallback or "{}")
    assert len(plain["content"]) <= LIMIT
    assert plain["components"]
    assert "files" not in plain


def test_a_message_of_a_server_has_a_link() -> None:
    links = MessageLinks()
    links.learn(Place(GENERAL, 0, guild="9"))
    links.learn(Place("500", 1))
    room = Address("discord", "1", GENERAL)
    assert links.link(room, "42") == f"https://discord.com/channels/9/{GENERAL}/42"
    assert links.link(replace(room, thread="41"), "42") == "https://discord.com/channels/9/41/42"
    assert links.link(replace(room, thread="42"), "42") == f"https://discord.com/channels/9/{GENERAL}/42"
    assert links.link(Address("discord", "1", "500"), "42") == ""
    assert links.link(room, "none") == ""


async def test_the_server_of_a_room_is_known_once_somebody_spoke_there(on: On) -> None:
    async with on.life() as adapter:
        link = adapter.features().link
        assert link is not None
        assert link(CHANNEL, "42") == ""
        await on.driver.say("hello", channel=GENERAL)
        await until(lambda: bool(on.sink.taken), "a message")
        assert link(CHANNEL, "42").endswith(f"/{GENERAL}/42")


async def test_each_call_of_a_list_has_its_buttons(on: On) -> None:
    """Five buttons a row at most, five rows, and each names its own call."""
    async with on.life() as adapter:
        [wire] = adapter.render(made(list_of(4)))
        await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [shown] = (await on.driver.screen()).posts()
    rows = [[(one["label"], one["custom_id"]) for one in row["components"]] for row in shown["components"]]
    assert [len(row) for row in rows] == [3, 5, 3]
    assert [label for row in rows[1:] for label, _ in row] == [
        f"{word}" for n in range(1, 5) for word in (f"Edit {n}…", f"Why {n}?")
    ]
    assert len({payload for row in rows for _, payload in row}) == 11
