"""A card whose call is too long for a message: one message with its buttons, its file; folded output, and who is called."""

from __future__ import annotations

import json
from dataclasses import replace

from adapters.telegram.outgoing.render import TEXT_MAX_UNITS, Body, render
from adapters.telegram.rooms import link
from runtime.chat.cards.open_cards import pending
from runtime.chat.cards.settled_cards import settled
from runtime.contract import Address, Content, Delivery, DeliveryId, Identity, Kind, Mention, Part
from runtime.domain.approvals import ApprovalState
from runtime.text.lengths import utf16
from tests.fakes.telegram_rules import check_entities
from tests.unit.chat.test_cards import ASKED, DONE, PENDING, list_of
from tests.wire.telegram.stage import Bench, address

COMMAND = "echo " + "x" * 60_000 + " && rm -rf ~/important"
LONG = replace(PENDING, arguments=json.dumps({"command": COMMAND}), arguments_hash="1a2b3c4d" * 8)
CALLED = (Mention(Identity("telegram:1001"), "Ada 😀"), Mention(Identity("telegram:1002"), "Otto"))


def made(content: Content, *, edits: str = "", ordinal: int = 0, at: Address | None = None) -> Delivery:
    edited = DeliveryId(edits) if edits else None
    return Delivery(DeliveryId("d1"), "approval:a1", ordinal, Kind.APPROVAL, at or address(), content, edited)


def bodies(delivery: Delivery) -> list[Body]:
    found = [Body.of(wire.body) for wire in render(delivery)]
    for one in found:
        check_entities(one.text, one.entities)
    return found


async def test_a_long_call_is_one_message_with_its_file_after_it(bench: Bench) -> None:
    async with bench.life() as adapter:
        first, *more = [
            await adapter.show(Part(DeliveryId("d1"), n, address(), wire.body))
            for n, wire in enumerate(adapter.render(made(pending(LONG, ASKED))), 1)
        ]
        assert len(more) == 1
        file = await bench.last()
        assert (file["document"]["file_name"], file["document"]["file_size"]) == ("call-1a2b3c4d.txt", len(COMMAND))
        [edit] = adapter.render(made(settled(replace(LONG, state=ApprovalState.DENIED)), edits="d1", ordinal=1))
        await adapter.edit(first, Part(DeliveryId("d2"), 1, address(), edit.body))
        card, file = await bench.driver.shown()
        assert card["text"].startswith("❌ Denied")
        assert file["document"]["file_name"] == "call-1a2b3c4d.txt"


def test_buttons_stand_under_the_card_and_not_under_the_file() -> None:
    card, file = bodies(made(pending(LONG, ASKED)))
    assert [label for label, _ in card.buttons] == ["Approve", "Deny", "Deny with a reason…", "Edit…", "Why?"]
    assert (file.buttons, file.file, file.holds) == ((), "call-1a2b3c4d.txt", COMMAND)
    assert utf16(card.text) <= TEXT_MAX_UNITS
    assert "&& rm -rf ~/important" in card.text
    assert "sha256 1a2b3c4d · Read the attached file before you approve." in card.text
    assert len(bodies(made(pending(LONG, ASKED, voted=["Ada"]), edits="d0", ordinal=1))) == 1


def test_what_a_call_returned_is_folded() -> None:
    [card] = bodies(made(settled(DONE)))
    [quote] = [one for one in card.entities if one["type"] == "expandable_blockquote"]
    units = card.text.encode("utf-16-le")
    folded = units[2 * quote["offset"] : 2 * (quote["offset"] + quote["length"])].decode("utf-16-le")
    assert folded.replace("\n\n", "\n") == "Result:\nLinux\nand\nmore\n… 2 more lines"


def test_names_are_links_to_those_who_are_to_decide() -> None:
    [card] = bodies(made(pending(PENDING, ASKED, mentions=CALLED)))
    assert card.text.endswith("\n\nWaiting for Ada 😀, Otto.")
    units = card.text.encode("utf-16-le")
    links = [one for one in card.entities if one["type"] == "text_link"]
    assert [one["url"] for one in links] == ["tg://user?id=1001", "tg://user?id=1002"]
    assert [units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le") for one in links] == [
        "Ada 😀",
        "Otto",
    ]
    [wire] = render(made(pending(PENDING, ASKED, mentions=CALLED)))
    assert Body.of(wire.fallback or "").entities == ()


def test_a_message_of_a_supergroup_has_a_link() -> None:
    room = Address("telegram", "1", "-1001234567890")
    assert link(room, "-1001234567890:42") == "https://t.me/c/1234567890/42"
    assert link(replace(room, thread="7"), "-1001234567890:42") == "https://t.me/c/1234567890/7/42"
    assert link(Address("telegram", "1", "-55"), "-55:42") == ""
    assert link(Address("telegram", "1", "1001"), "1001:42") == ""
    assert link(room, "") == ""


async def test_each_call_of_a_list_has_its_buttons(bench: Bench) -> None:
    async with bench.life() as adapter:
        [wire] = adapter.render(made(list_of(4)))
        await adapter.show(Part(DeliveryId("d1"), 1, address(), wire.body))
        card = await bench.last()
    shown = [(one["text"], one["callback_data"]) for row in card["reply_markup"]["inline_keyboard"] for one in row]
    assert [label for label, _ in shown][3:] == [label for n in range(1, 5) for label in (f"Edit {n}…", f"Why {n}?")]
    assert len({payload for _, payload in shown}) == len(shown)
    assert all(len(payload.encode()) <= 64 for _, payload in shown)


def test_what_was_thought_is_folded_under_a_plain_message_in_as_many_as_it_takes() -> None:
    thought = "\n\n".join(f"{number}. I think of {number} sheep." for number in range(400))
    words, *folded = bodies(made(Content("What I thought:", folded=f"**Thinking**\n\n{thought}")))
    assert (words.text, [one["type"] for one in words.entities]) == ("What I thought:", [])
    assert len(folded) > 1
    assert all("expandable_blockquote" in [one["type"] for one in body.entities] for body in folded)
    assert all(len(body.text.encode("utf-16-le")) // 2 <= TEXT_MAX_UNITS for body in folded)
    assert "399 sheep" in folded[-1].text
