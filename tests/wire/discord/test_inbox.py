"""What waits for one person, on Discord: ephemeral cards behind `/approvals`, and presses that Discord vouches for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from runtime.contract import ApprovalId, Button, Choice, Clicked, Content, Outcome, Whole
from runtime.markup.attachment import not_here
from tests.contract.adapters.stage import until
from tests.fakes.discord_world import GENERAL, Record
from tests.wire.discord.stage import APPROVAL, BUTTONS, On

CARD: Final = "**May I run `shell`?**\n\n```\nrm -rf *a*\n```"


def card(ident: str, text: str = CARD) -> Content:
    asked = ApprovalId(ident)
    return Content(text, (Button(asked, Choice.APPROVE, "Approve"), Button(asked, Choice.DENY, "Deny")))


async def answers(on: On, done: Record, count: int) -> list[Record]:
    """What the interaction was answered, once that is all there."""
    found: list[Record] = []

    async def told() -> bool:
        found[:] = (await on.driver.screen()).answers(done["id"])
        return len(found) >= count

    await until(told, f"{count} answers")
    return found


def pressed(answer: Record) -> list[Any]:
    return [one["custom_id"] for row in answer.get("components", ()) for one in row["components"]]


async def test_the_command_shows_cards_to_who_asked_alone(on: On) -> None:
    on.sink.notice, on.sink.cards = "2 questions are waiting for you.", (card("a1"), card("a2"))
    async with on.life():
        done = await on.driver.command("approvals", channel=GENERAL)
        words, *cards = await answers(on, done, 3)
        assert (words["text"], words["private"]) == ("2 questions are waiting for you.", True)
        assert [(pressed(one), one["private"]) for one in cards] == [
            (["a1:approve", "a1:deny", "a1:reason"], True),
            (["a2:approve", "a2:deny", "a2:reason"], True),
        ]
        assert await on.texts() == []


async def test_a_call_too_long_for_one_message_has_no_buttons_there(on: On) -> None:
    """Nobody decides by the last of several messages, and no file can stand beside one that one person sees."""
    long = card("a1", "May I?\n\n```\n" + 700 * "line\n" + "```")
    part = replace(card("a2"), whole=Whole("abcd1234", "all of it, " * 200))
    short = replace(card("a3"), whole=Whole("abcd1234", "all of it"))
    on.sink.notice, on.sink.cards = "3 questions are waiting for you.", (long, part, short)
    async with on.life():
        done = await on.driver.command("approvals", channel=GENERAL)
        _, first, second, third = await answers(on, done, 4)
        assert first["text"] == second["text"] == not_here("/")
        assert (pressed(first), pressed(second)) == ([], [])
        assert "All of it:\n```\nall of it\n```" in third["text"].replace("\n\n", "\n")
        assert pressed(third)[0] == "a3:approve"


async def test_a_press_on_an_ephemeral_card_is_vouched_for_and_its_buttons_go(on: On) -> None:
    on.sink.notice, on.sink.outcome = "shell: approved by Ada.", Outcome.DECIDED
    async with on.life():
        done = await on.driver.do("click", alone=True, channel=GENERAL, custom_id=f"{APPROVAL}:approve")
        [answer] = await answers(on, done, 1)
        assert (answer["type"], answer["text"]) == (7, "shell: approved by Ada.")
    [signal] = on.sink.taken
    assert (signal.body, signal.alone) == (Clicked(APPROVAL, Choice.APPROVE), True)


@pytest.mark.parametrize("outcome", [Outcome.UNCHANGED, Outcome.REFUSED])
async def test_a_press_that_changed_nothing_leaves_the_card(on: On, outcome: Outcome) -> None:
    on.sink.notice, on.sink.outcome = "Please say why.", outcome
    async with on.life():
        done = await on.driver.do("click", alone=True, channel=GENERAL, custom_id=f"{APPROVAL}:deny")
        [answer] = await answers(on, done, 1)
        assert (answer["type"], answer["text"], answer["private"]) == (4, "Please say why.", True)


async def test_a_press_on_a_message_of_the_room_is_not_vouched_for(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        await on.driver.click(receipt.message_id, f"{APPROVAL}:approve")
        await until(lambda: bool(on.sink.taken), "click")
    assert on.sink.taken[0].alone is False
