"""A card whose call is too long for a message: one message with its buttons, its file, and edits that find the message."""

from __future__ import annotations

import json
from dataclasses import replace

from adapters.slack.bot_user import BotUser
from adapters.slack.outgoing.render import render
from runtime.chat.cards.open_cards import pending
from runtime.chat.cards.settled_cards import settled
from runtime.contract import Address, Content, Delivery, DeliveryId, Identity, Kind, Mention, Part
from runtime.domain.approvals import ApprovalState
from tests.fakes.slack_rules import check_message
from tests.unit.chat.test_cards import ASKED, PENDING, list_of
from tests.wire.slack.stage import THREAD, Workspace

COMMAND = "echo " + "x" * 60_000 + " && rm -rf ~/important"
LONG = replace(PENDING, arguments=json.dumps({"command": COMMAND}), arguments_hash="1a2b3c4d" * 8)
CALLED = (Mention(Identity("slack:T1/U1"), "Ada"), Mention(Identity("slack:T1/U2"), "Otto"))


def made(content: Content, *, edits: str = "", ordinal: int = 0, address: Address = THREAD) -> Delivery:
    edited = DeliveryId(edits) if edits else None
    return Delivery(DeliveryId("d1"), "approval:a1", ordinal, Kind.APPROVAL, address, content, edited)


def body(delivery: Delivery) -> dict[str, object]:
    [wire] = render(delivery)
    told: dict[str, object] = json.loads(wire.body)
    return told


async def test_a_long_call_is_one_message_with_its_file_under_it(on: Workspace) -> None:
    async with on.life() as adapter:
        wires = adapter.render(made(pending(LONG, ASKED)))
        receipts = [await adapter.show(Part(DeliveryId("d1"), n, THREAD, wire.body)) for n, wire in enumerate(wires, 1)]
        [card, file] = (await on.screen()).ours()
        assert "&& rm -rf ~/important" in json.dumps(card["blocks"])
        labels = [one["text"]["text"] for row in card["blocks"] if row["type"] == "actions" for one in row["elements"]]
        assert labels[:2] == ["Approve", "Deny"]
        assert file["files"] == ["call-1a2b3c4d.txt"]
        [held] = on.slack.board.files.values()
        assert held.data == COMMAND.encode()
        [edit] = adapter.render(made(settled(replace(LONG, state=ApprovalState.DENIED)), edits="d1", ordinal=1))
        await adapter.edit(receipts[0], Part(DeliveryId("d2"), 1, THREAD, edit.body))
        [card, file] = (await on.screen()).ours()
        assert card["text"].startswith("❌ Denied")
        assert file["files"] == ["call-1a2b3c4d.txt"]


def test_a_file_that_slack_refuses_is_told_of() -> None:
    card, file = render(made(pending(LONG, ASKED)))
    check_message(json.loads(card.body))
    assert file.fallback is not None
    assert json.loads(file.fallback) == {
        "text": "Slack didn't accept the file call-1a2b3c4d.txt here. The whole call is on the console."
    }


def test_only_the_first_card_brings_the_file_and_over_a_preview_it_stands_behind_it() -> None:
    assert len(render(made(pending(LONG, ASKED, voted=["Ada"]), edits="d0", ordinal=1))) == 1
    card, file = render(made(pending(LONG, ASKED), edits="preview"))
    assert "blocks" in json.loads(card.body)
    assert "file" in json.loads(file.body)


def test_a_line_calls_those_who_are_to_decide() -> None:
    told = json.dumps(body(made(pending(PENDING, ASKED, mentions=CALLED))))
    assert '"type": "mrkdwn", "text": "Waiting for <@U1>, <@U2>."' in told
    assert "Waiting for" not in json.dumps(body(made(pending(PENDING, ASKED))))


def test_a_message_has_its_permalink() -> None:
    me = BotUser("T1", "U0", "B0", "bot", "https://example.slack.com/")
    link = me.link(replace(THREAD, thread="1700000000.000001"), "1700000000.000001")
    assert link == "https://example.slack.com/archives/C1/p1700000000000001"
    assert me.link(THREAD, "1700000009.000002") == (
        "https://example.slack.com/archives/C1/p1700000009000002?thread_ts=1700000000.000001&cid=C1"
    )
    assert BotUser("T1", "U0", "B0", "bot").link(THREAD, "1700000009.000002") == ""
    assert me.link(THREAD, "no timestamp") == ""


async def test_the_workspaces_page_is_what_slack_tells_with_the_token(on: Workspace) -> None:
    async with on.life() as adapter:
        link = adapter.features().link
        assert link is not None
        assert link(THREAD, "1700000000.000001").startswith("https://example.slack.com/archives/C1/")


async def test_each_call_of_a_list_has_its_buttons(on: Workspace) -> None:
    """Rows of buttons within Slack's bounds, and each action names its own call."""
    async with on.life() as adapter:
        [wire] = adapter.render(made(list_of(4)))
        check_message(json.loads(wire.body))
        await adapter.show(Part(DeliveryId("d1"), 1, THREAD, wire.body))
        [card] = (await on.screen()).ours()
        rows = [row["elements"] for row in card["blocks"] if row["type"] == "actions"]
        shown = [(one["text"]["text"], one["value"]) for row in rows for one in row]
    assert shown[3:] == [
        (f"{word} {n}{sign}", f"a{n}:{choice}")
        for n in range(1, 5)
        for word, sign, choice in (("Edit", "…", "edit"), ("Why", "?", "why"))
    ]
    assert len({one["action_id"] for row in rows for one in row}) == len(shown)
