"""What waits for one person, on Slack: ephemeral cards behind `/signalbox approvals`, and the home of the app."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from adapters.slack.outgoing.home_view import CARD_MAX_CHARS, QUESTIONS_MOST, home_view
from runtime.contract import (
    QUESTIONS,
    Address,
    Addressing,
    ApprovalId,
    ApprovalKind,
    Button,
    Choice,
    Clicked,
    Commanded,
    Content,
    Effect,
    Identity,
    Outcome,
    Waiting,
    Whole,
)
from tests.fakes.slack_driver import Screen
from tests.fakes.slack_rules import check_home
from tests.wire.slack.stage import Workspace, part

AT: Final = datetime(2026, 11, 23, 12, tzinfo=UTC)
CALL: Final = "**May I run `shell`?**\n\nBob asks · expires [2026-11-24 00:00 UTC](time:2026-11-24T00:00:00Z)\n\n```\nrm -rf *a*\n```"


def card(ident: str = "a1", text: str = CALL) -> Content:
    asked = ApprovalId(ident)
    return Content(text, (Button(asked, Choice.APPROVE, "Approve"), Button(asked, Choice.DENY, "Deny")))


def waiting(ident: str = "a1", text: str = CALL, **changes: Any) -> Waiting:
    made = Waiting(
        ApprovalId(ident),
        ApprovalKind.CALL,
        "shell",
        Effect.DANGER,
        Address("slack", "T1", "C1"),
        "#general",
        "Bob",
        AT,
        AT + timedelta(hours=12),
        card(ident, text),
    )
    return replace(made, **changes)


def values(blocks: list[Any]) -> list[str]:
    return [one["value"] for block in blocks if block["type"] == "actions" for one in block["elements"]]


class Inbox:
    """What waits for each person, as the tests have it."""

    def __init__(self) -> None:
        self.of: dict[str, list[Waiting]] = {}

    async def __call__(self, who: Identity) -> list[Waiting]:
        return self.of.get(who, [])


@pytest.fixture
def inbox(on: Workspace) -> Inbox:
    made = Inbox()
    on.given = replace(on.given, inbox=made)
    return made


# ------------------------------------------------------------------------------------------------- ephemeral messages


async def test_the_command_shows_cards_to_who_asked_alone(on: Workspace) -> None:
    on.sink.notice, on.sink.cards = "2 questions are waiting for you.", (card("a1"), card("a2"))
    async with on.life():
        await on.driver.do("command", channel="C1", user="U1", text="approvals")
        screen = await on.seen(lambda it: len(it.notices) == 3, "words and two cards")
    assert [one.body for one in on.sink.taken] == [Commanded("approvals")]
    cards = [one for one in screen.notices if one.get("blocks")]
    assert [values(one["blocks"])[0] for one in cards] == ["a1:approve", "a2:approve"]
    assert {(one["channel"], one["user"]) for one in cards} == {("C1", "U1")}
    assert screen.ours() == []


async def test_how_full_the_window_is_reads_who_asked_alone(on: Workspace) -> None:
    on.sink.notice = "Your next message goes to `demo` with about 3,000 tokens."
    async with on.life():
        await on.driver.do("command", channel="C1", user="U1", text="context")
        screen = await on.seen(lambda it: len(it.notices) == 1, "its size")
    assert [one.body for one in on.sink.taken] == [Commanded("context")]
    assert [(one["channel"], one["user"]) for one in screen.notices] == [("C1", "U1")]
    assert screen.ours() == []


async def test_in_a_thread_they_stand_in_that_thread(on: Workspace) -> None:
    on.sink.notice, on.sink.cards = "1 question is waiting for you.", (card(),)
    thread = "1700000000.000001"
    async with on.life():
        await on.driver.mention("<@U0BOT> !approvals", thread_ts=thread)
        screen = await on.seen(lambda it: len(it.notices) == 2, "words and a card")
    assert {one["thread_ts"] for one in screen.notices} == {thread}


async def test_a_press_on_an_ephemeral_card_is_vouched_for_and_its_buttons_go(on: Workspace) -> None:
    on.sink.notice, on.sink.outcome = "shell: approved by Ada.", Outcome.DECIDED
    async with on.life():
        await on.driver.do("press_alone", channel="C1", ts="1700000000.000002", user="U1", value="a1:approve")
        screen = await on.seen(lambda it: bool(it.notices), "the card replaced")
    [signal] = on.sink.taken
    assert (signal.body, signal.alone) == (Clicked(ApprovalId("a1"), Choice.APPROVE), True)
    assert [(one["text"], "replaces" in one) for one in screen.notices] == [("shell: approved by Ada.", True)]


async def test_a_press_that_changed_nothing_leaves_the_card(on: Workspace) -> None:
    on.sink.notice, on.sink.outcome = "Please say why.", Outcome.UNCHANGED
    async with on.life():
        await on.driver.do("press_alone", channel="C1", ts="1700000000.000002", user="U1", value="a1:deny")
        screen = await on.seen(lambda it: bool(it.notices), "words beside it")
    assert [("replaces" in one, one["text"]) for one in screen.notices] == [(False, "Please say why.")]


async def test_a_press_on_a_message_of_the_room_is_not_vouched_for(on: Workspace) -> None:
    async with on.life() as adapter:
        shown = await adapter.show(part(adapter, "May I?", *card().buttons))
        await on.driver.do("click", channel="DU1", ts=shown.message_id, value="a1:approve")
        [signal] = await on.taken()
    assert signal.alone is False


async def test_a_call_too_long_for_one_message_has_no_buttons_there(on: Workspace) -> None:
    long = card("a1", f"May I?\n\n```\n{'x' * 13_000}\n```")
    part = replace(card("a2"), whole=Whole("abcd1234", "all of it"))
    on.sink.notice, on.sink.cards = "2 questions are waiting for you.", (long, part)
    async with on.life():
        await on.driver.do("command", channel="C1", user="U1", text="approvals")
        screen = await on.seen(lambda it: len(it.notices) == 3, "words and two cards")
    first, second = (one for one in screen.notices if one.get("blocks"))
    assert (values(first["blocks"]), "too long to show here" in str(first["blocks"])) == ([], True)
    assert "`/signalbox approvals`" in str(first["blocks"])
    assert (values(second["blocks"])[0], "all of it" in str(second["blocks"])) == ("a2:approve", True)


# ----------------------------------------------------------------------------------------------------------- the home


def home_of(screen: Screen, user: str = "U1") -> Any:
    return screen.raw["homes"].get(user)


async def test_a_home_shows_what_waits_for_who_opened_it(on: Workspace, inbox: Inbox) -> None:
    inbox.of = {"slack:T1/U1": [waiting("a1"), waiting("a2")], "slack:T1/U2": [waiting("a3")]}
    async with on.life():
        await on.driver.do("open_home", user="U1", channel="DU1")
        await on.driver.do("open_home", user="U3", channel="DU3")
        screen = await on.seen(lambda it: bool(home_of(it)) and bool(home_of(it, "U3")), "two homes")
    assert [one for one in values(home_of(screen)["blocks"]) if one.endswith("approve")] == ["a1:approve", "a2:approve"]
    assert values(home_of(screen, "U3")["blocks"]) == []


async def test_the_messages_beside_a_home_publish_nothing(on: Workspace, inbox: Inbox) -> None:
    async with on.life():
        await on.driver.do("open_home", user="U1", tab="messages")
        told = await on.driver.say("hello")
        await on.taken()
        screen = await on.screen()
    assert told
    assert screen.calls("views.publish") == []


async def test_a_press_in_a_home_counts_for_the_direct_messages_beside_it(on: Workspace, inbox: Inbox) -> None:
    inbox.of = {"slack:T1/U1": [waiting()]}
    on.sink.notice, on.sink.outcome = "shell: approved by Ada.", Outcome.DECIDED
    async with on.life():
        await on.driver.do("open_home", user="U1", channel="DU1")
        view = home_of(await on.seen(lambda it: bool(home_of(it)), "a home"))
        inbox.of = {}
        await on.driver.do("press_home", user="U1", view=view, value="a1:approve")
        screen = await on.seen(lambda it: "approved by Ada" in str(home_of(it)), "the home with what came of it")
    [signal] = on.sink.taken
    assert (signal.body, signal.alone, signal.reach) == (
        Clicked(ApprovalId("a1"), Choice.APPROVE),
        True,
        Addressing.DIRECT,
    )
    assert (str(signal.address), signal.actor) == ("slack:T1/DU1", "slack:T1/U1")
    assert values(home_of(screen)["blocks"]) == []
    assert screen.notices == []


async def test_a_home_follows_what_others_decide_and_is_left_alone_else(on: Workspace, inbox: Inbox) -> None:
    inbox.of = {"slack:T1/U1": [waiting()]}
    async with on.life():
        await on.driver.do("open_home", user="U1")
        await on.seen(lambda it: bool(home_of(it)), "a home")
        await on.driver.say("hello")
        await on.taken()
        before = len((await on.screen()).calls("views.publish"))
        inbox.of = {}
        screen = await on.seen(lambda it: values(home_of(it)["blocks"]) == [], "the home without the question")
    assert before == 1
    assert len(screen.calls("views.publish")) == 2


async def test_a_new_question_is_in_an_open_home_within_a_second(on: Workspace, inbox: Inbox) -> None:
    """Also one that came while nobody looked; many at once are published as one."""
    async with on.life():
        await on.driver.do("open_home", user="U1")
        await on.seen(lambda it: bool(home_of(it)), "a home")
        moments = 0

        async def count() -> None:
            """By a clock that stands where this process does, as on a busy machine."""
            nonlocal moments
            while True:
                await asyncio.sleep(0.01)
                moments += 1

        counting = asyncio.ensure_future(count())
        inbox.of = {"slack:T1/U1": [waiting("a1")], "slack:T1/U2": [waiting("a2")]}
        for _ in range(20):
            on.given.notifier.notify(QUESTIONS)
        screen = await on.seen(lambda it: "a1:approve" in values(home_of(it)["blocks"]), "the question")
        counting.cancel()
    assert moments < 100
    assert len(screen.calls("views.publish")) == 2
    assert home_of(screen, "U2") is None  # nobody opened it


async def test_a_denial_with_a_reason_from_a_home_is_vouched_for_too(on: Workspace, inbox: Inbox) -> None:
    inbox.of = {"slack:T1/U1": [waiting()]}
    async with on.life():
        await on.driver.do("open_home", user="U1")
        view = home_of(await on.seen(lambda it: bool(home_of(it)), "a home"))
        await on.driver.do("press_home", user="U1", view=view, value="a1:reason")
        form = (await on.seen(lambda it: bool(it.raw["views"]), "a form")).raw["views"][0]
        await on.driver.do("submit", user="U1", view=form, values=[["reason", "reason", "not now"]])
        [signal] = await on.taken()
    assert (signal.body, signal.alone) == (Clicked(ApprovalId("a1"), Choice.DENY, "not now"), True)
    assert str(signal.address) == "slack:T1/DU1"


@pytest.mark.parametrize("metadata", ["", "{}", '{"room": "C1"}', "[]", '{"room": 7}'])
async def test_a_home_that_is_none_of_ours_is_left_out(on: Workspace, metadata: str) -> None:
    view = {"id": "V1", "type": "home", "private_metadata": metadata, "blocks": []}
    async with on.life():
        told = await on.driver.do("press_home", user="U1", view=view, value="a1:approve")
        await on.seen(lambda it: told["id"] in it.raw["acked"], "an acknowledgement")
    assert on.sink.taken == []


def test_what_runs_stands_in_a_home_as_it_is() -> None:
    view = home_view([waiting()], "DU1")
    check_home(view)
    [call] = [one for one in view["blocks"] if one["type"] == "rich_text"]
    assert call["elements"][0]["elements"] == [{"type": "text", "text": "rm -rf *a*"}]
    head = next(one for one in view["blocks"] if one["type"] == "section")
    assert head["text"] == {"type": "plain_text", "text": "May I run shell?", "emoji": False}
    assert "<!date^1795478400^" in str(view["blocks"])


def test_a_home_holds_ten_questions_and_says_how_many_more_there_are() -> None:
    view = home_view([waiting(f"a{number}") for number in range(QUESTIONS_MOST + 3)], "DU1")
    check_home(view)
    assert len([one for one in values(view["blocks"]) if one.endswith(":approve")]) == QUESTIONS_MOST
    assert view["blocks"][-1]["text"]["text"] == "… and 3 more questions."


def test_a_call_too_long_for_a_home_has_no_buttons_there() -> None:
    view = home_view([waiting(text=f"**May I run `shell`?**\n\n```\n{'x' * CARD_MAX_CHARS}\n```")], "DU1")
    check_home(view)
    assert values(view["blocks"]) == []
    assert "too long to show here. Send me `/signalbox approvals` in" in str(view["blocks"])


def test_a_question_that_its_rule_keeps_in_its_room_is_named_and_has_no_buttons() -> None:
    view = home_view([waiting(card=None)], "DU1")
    assert values(view["blocks"]) == []
    assert view["blocks"][-1]["text"]["text"] == "May I run shell? This can only be answered in #general."


def test_an_empty_home_says_so() -> None:
    view = home_view([], "DU1")
    check_home(view)
    assert [one["text"]["text"] for one in view["blocks"]] == ["Waiting for you", "Nothing is waiting for you."]
