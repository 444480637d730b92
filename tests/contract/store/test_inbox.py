"""`/approvals`: a person's questions, shown to that person alone; and what may be pressed there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.chat import inbox
from runtime.chat.cards import card_facts, open_cards
from runtime.contract import (
    Address,
    Addressing,
    Asking,
    Choice,
    Clicked,
    Commanded,
    Content,
    Identity,
    Outcome,
    Role,
    Said,
)
from runtime.domain.approvals import ApprovalState, Home, Rights
from runtime.policy.terms import Terms
from runtime.store.protocol import Taken
from tests.contract.store.asking import CHOSEN, doubted
from tests.contract.store.stage import ADA, GATE, OTTO, ROOM, SHELL, STRANGER, UMA, VERA, WRITE, Parked, Stage

GROUP = Address("telegram", "tg", "-100")
CHAT = Address("telegram", "tg", "1")
EVE_CHAT = Address("telegram", "tg", "2")
ADA_THERE = Identity("telegram:1")
EVE = Identity("telegram:2")


@pytest.fixture
async def met(stage: Stage) -> Stage:
    """Ada and Eve, both operators at least, are on Telegram too."""
    await stage.store.people.add_person("Ann", Role.OWNER, [ADA_THERE], actor="test")
    await stage.store.people.add_person("Eve", Role.OPERATOR, [EVE], actor="test")
    return stage


async def ask(
    stage: Stage, *, actor: Identity = ADA, at: Address = ROOM, private: int = 0, alone: bool = True
) -> Taken:
    reach = Addressing.DIRECT if alone else Addressing.MENTION
    signal = stage.signal(Commanded("approvals"), actor=actor, at=at)
    return await stage.take_in(replace(signal, message_id="m1", private=private, reach=reach))


async def write_to(stage: Stage, at: Address, actor: Identity) -> None:
    """They write to the agent alone: from now on it knows where."""
    await stage.take_in(stage.signal(Said("hi"), actor=actor, at=at))


async def press(stage: Stage, parked: Parked, *, actor: Identity, at: Address, alone: bool = False) -> Taken:
    signal = stage.signal(Clicked(parked.approvals[0], Choice.APPROVE), actor=actor, at=at)
    return await stage.take_in(replace(signal, alone=alone))


async def set_terms(stage: Stage, parked: Parked, terms: Terms, card: str = "") -> None:
    await stage.write(
        "UPDATE approvals SET terms = :terms, card = :card WHERE id = :id",
        terms=terms.to_json(),
        card=card,
        id=parked.approvals[0],
    )


async def shown(stage: Stage, at: Address) -> list[Content]:
    """What waits to be shown there, cards before words."""
    found = sorted(await stage.waiting(at), key=lambda one: one.delivery.kind.rank)
    return [one.delivery.content for one in found]


async def state_of(stage: Stage, parked: Parked) -> ApprovalState:
    found = await stage.store.approvals.approval(parked.approvals[0])
    assert found is not None
    return found.state


async def cards_of(stage: Stage, parked: Parked, at: Address) -> list[Content]:
    """All that was ever to be shown of a question in a room."""
    sql = "SELECT content FROM deliveries WHERE origin = :o AND address = :at ORDER BY ordinal"
    found = await stage.column(sql, o=f"approval:{parked.approvals[0]}", at=str(at))
    return [Content.from_json(content) for content in found]


def choices(card: Content) -> list[Choice]:
    return [button.choice for button in card.buttons]


# ------------------------------------------------------------------------------------------------------ who sees what


async def test_nothing_waits_for_who_has_nothing_to_decide(stage: Stage) -> None:
    await stage.park(SHELL, actor=ADA, at=replace(ROOM, room="r8"))
    assert await stage.store.approvals.inbox(UMA, Rights()) == []
    assert await stage.store.approvals.inbox(STRANGER, Rights()) == []
    await ask(stage, actor=UMA)
    assert [one.text for one in await shown(stage, ROOM)] == ["No questions are waiting for you."]


async def test_what_became_of_a_question_is_told_to_those_for_whom_it_waited(stage: Stage) -> None:
    parked, open_still = await stage.park(SHELL), await stage.park(SHELL, at=replace(ROOM, room="r8"))
    ids = [*parked.approvals, *open_still.approvals]
    assert await stage.store.approvals.closed(OTTO, ids, Rights()) == []
    await press(stage, parked, actor=ADA, at=ROOM)
    (one,) = await stage.store.approvals.closed(OTTO, ids, Rights())
    told = inbox.closed(one)
    assert (told.id, told.tool, told.state) == (parked.approvals[0], "shell", "approved")
    assert (told.by, told.at) == ("Ada", one.decided_at)
    assert await stage.store.approvals.closed(UMA, ids, Rights()) == []
    assert await stage.store.approvals.closed(STRANGER, ids, Rights()) == []


async def test_questions_of_all_rooms_come_oldest_first(stage: Stage) -> None:
    first = await stage.park(SHELL, at=replace(ROOM, room="r7"))
    stage.clock.advance(seconds=60)
    second = await stage.park(WRITE, at=replace(ROOM, room="r8"))
    waiting = [one.approval.id for one in await stage.store.approvals.inbox(OTTO, Rights())]
    assert waiting == [first.approvals[0], second.approvals[0]]


async def test_what_is_settled_or_over_waits_no_longer(stage: Stage) -> None:
    decided = await stage.park(SHELL, at=replace(ROOM, room="r7"))
    await stage.park(WRITE, at=replace(ROOM, room="r8"))
    await press(stage, decided, actor=ADA, at=replace(ROOM, room="r7"))
    assert len(await stage.store.approvals.inbox(OTTO, Rights())) == 1
    stage.clock.advance(hours=12)
    assert await stage.store.approvals.inbox(OTTO, Rights()) == []


async def test_rights_say_for_whom_a_question_waits(stage: Stage) -> None:
    await stage.park(WRITE)
    assert await stage.store.approvals.inbox(OTTO, CHOSEN.rights) == []
    assert len(await stage.store.approvals.inbox(UMA, CHOSEN.rights)) == 1
    assert await stage.store.approvals.inbox(UMA, replace(CHOSEN.rights, blocked=frozenset({"Uma"}))) == []
    assert await stage.store.approvals.inbox(ADA, Rights(self_approval=False)) == []


async def test_who_has_voted_waits_with_the_others(stage: Stage) -> None:
    parked = await stage.park(WRITE)
    await set_terms(stage, parked, Terms(quorum=2))
    assert (await press(stage, parked, actor=ADA, at=ROOM)).verdict.notice == "Your approval is counted: 1 of 2 so far."
    assert await stage.store.approvals.inbox(ADA, Rights()) == []
    (waiting,) = await stage.store.approvals.inbox(OTTO, Rights())
    assert waiting.voted == ("Ada",)
    assert "Ada approved: 1 of 2." in inbox.card(waiting, None, stage.clock()).text


async def test_a_stranger_at_the_door_waits_for_operators(stage: Stage) -> None:
    await stage.write("UPDATE identities SET room = 'web:main/r1' WHERE identity = 'web:ada'")
    await stage.take_in(
        stage.signal(Said("let me in"), actor=STRANGER, at=replace(ROOM, room="r5")), replace(GATE, pairs=True)
    )
    (waiting,) = await stage.store.approvals.inbox(OTTO, Rights())
    assert choices(inbox.card(waiting, None, stage.clock())) == list(open_cards.LET_IN)
    assert await stage.store.approvals.inbox(UMA, Rights()) == []


async def test_a_call_that_was_cut_waits_with_its_own_answers(stage: Stage) -> None:
    await doubted(stage)
    (waiting,) = await stage.store.approvals.inbox(OTTO, Rights())
    assert choices(inbox.card(waiting, None, stage.clock())) == [Choice.DONE, Choice.AGAIN, Choice.SKIP]


# ----------------------------------------------------------------------------------------------- in a chat of their own


async def test_in_a_private_chat_cards_come_with_buttons_and_may_be_pressed_there(met: Stage) -> None:
    parked = await met.park(SHELL, at=ROOM)
    taken = await ask(met, actor=ADA_THERE, at=CHAT)
    card, words = await shown(met, CHAT)
    assert (choices(card), words.text) == (
        [Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.WHY],
        "1 question is waiting for you.",
    )
    assert set(taken.deliveries) == {CHAT}
    assert (await press(met, parked, actor=ADA_THERE, at=CHAT)).verdict.outcome is Outcome.DECIDED
    assert await state_of(met, parked) is ApprovalState.APPROVED


async def test_a_listed_card_is_a_copy_that_follows_the_decision(met: Stage) -> None:
    parked = await met.park(SHELL, at=ROOM)
    await ask(met, actor=ADA_THERE, at=CHAT)
    await press(met, parked, actor=ADA, at=ROOM)
    card, edit = await cards_of(met, parked, CHAT)
    assert (bool(card.buttons), edit.buttons) == (True, ())
    assert edit.text.startswith("✅ **Approved** by Ada")


async def test_a_press_in_the_private_chat_of_somebody_else_is_refused(met: Stage) -> None:
    """Eve may decide, but the question does not stand where she presses; Uma has a copy before her, and may not decide."""
    parked = await met.park(SHELL, at=ROOM)
    await ask(met, actor=ADA_THERE, at=CHAT)
    refused = await press(met, parked, actor=EVE, at=EVE_CHAT)
    assert refused.verdict.notice == "This question belongs to another room."
    refused = await press(met, parked, actor=UMA, at=CHAT, alone=True)
    assert refused.verdict.notice == "Only approvers can answer this."
    assert await state_of(met, parked) is ApprovalState.PENDING


async def test_at_most_five_come_at_once(met: Stage) -> None:
    for number in range(8):
        await met.park(SHELL, at=replace(ROOM, room=f"r{number}"))
    await ask(met, actor=ADA_THERE, at=CHAT)
    *listed, words = await shown(met, CHAT)
    assert len(listed) == inbox.LISTED
    assert words.text == "8 questions are waiting for you. Here are the 5 oldest."


async def test_a_card_is_called_up_a_few_times_and_then_stands_above(met: Stage) -> None:
    parked = await met.park(SHELL, at=ROOM)
    for _ in range(7):
        await ask(met, actor=ADA_THERE, at=CHAT)
    assert len(await cards_of(met, parked, CHAT)) == 5


async def test_two_who_ask_while_a_third_decides_see_one_state(met: Stage) -> None:
    parked = await met.park(SHELL, at=ROOM)
    await met.many()
    await asyncio.gather(
        ask(met, actor=ADA_THERE, at=CHAT),
        ask(met, actor=EVE, at=EVE_CHAT),
        press(met, parked, actor=ADA, at=ROOM),
        press(met, parked, actor=OTTO, at=ROOM),
    )
    assert await state_of(met, parked) is ApprovalState.APPROVED
    last = [(await cards_of(met, parked, at))[-1:] for at in (ROOM, CHAT, EVE_CHAT)]
    assert not any(one.buttons for found in last for one in found)  # whoever was shown the card is shown its end


# ------------------------------------------------------------------------------------------------- where others read it


async def test_in_a_group_the_cards_go_to_the_private_chat(met: Stage) -> None:
    await write_to(met, CHAT, ADA_THERE)
    await met.park(SHELL, at=ROOM)
    taken = await ask(met, actor=ADA_THERE, at=GROUP, alone=False)
    (words,) = await shown(met, GROUP)
    assert words.text == "1 question is waiting for you. I've sent it to our private chat."
    assert [choices(one) for one in await shown(met, CHAT) if one.buttons] == [
        [Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.WHY]
    ]
    assert set(taken.deliveries) == {GROUP, CHAT}


async def test_in_a_group_nothing_of_the_call_is_told_where_no_private_chat_is_known(met: Stage) -> None:
    await met.park(SHELL, at=ROOM)
    await ask(met, actor=ADA_THERE, at=GROUP, alone=False)
    (words,) = await shown(met, GROUP)
    assert words.text == "1 question is waiting for you. Send me `/approvals` in a private chat to see it."


async def test_where_the_platform_can_cards_go_with_the_answer(stage: Stage) -> None:
    parked = await stage.park(SHELL, at=replace(ROOM, room="r8"))
    taken = await ask(stage, private=3000, alone=False)
    assert taken.deliveries == ()
    assert taken.verdict.notice == "1 question is waiting for you."
    assert [choices(one) for one in taken.verdict.cards] == [[Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.WHY]]
    refused = await press(stage, parked, actor=ADA, at=ROOM)  # a button that somebody made, beside the private message
    assert refused.verdict.notice == "This question belongs to another room."
    pressed = await press(stage, parked, actor=ADA, at=ROOM, alone=True)
    assert (pressed.verdict.outcome, pressed.verdict.notice) == (Outcome.DECIDED, "shell: approved by Ada.")


async def test_others_of_the_room_are_told_of_its_questions_in_words(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=1)
    taken = await ask(stage, actor=VERA, private=3000, alone=False)
    assert taken.verdict.cards == ()
    assert taken.verdict.notice == (
        "1 question here that others can answer:\n\n- `shell` `uname -a`, asked 1 hour ago, expires in 11 hours"
    )
    hidden = card_facts.circumstances(home=Home.TOLD)
    await set_terms(stage, parked, Terms(to=("dm",)), hidden)
    taken = await ask(stage, actor=VERA, private=3000, alone=False)
    assert (taken.verdict.notice or "").endswith("- `shell`, asked 1 hour ago, expires in 11 hours")


# ------------------------------------------------------------------------------------------------ what rules keep apart


async def test_a_question_that_its_rule_keeps_in_its_room_is_only_named(met: Stage) -> None:
    parked = await met.park(SHELL, at=ROOM)
    await set_terms(met, parked, Terms(to=("room",)), card_facts.circumstances("#ops_team"))
    await ask(met, actor=ADA_THERE, at=CHAT)
    (words,) = await shown(met, CHAT)
    assert words.text == "1 question can only be answered in #ops\\_team."
    refused = await press(met, parked, actor=ADA_THERE, at=CHAT, alone=True)
    assert refused.verdict.notice == "This question belongs to another room."
    (waiting,) = [inbox.waiting(one, met.clock()) for one in await met.store.approvals.inbox(ADA, Rights())]
    assert (waiting.card, waiting.room) == (None, "#ops_team")


async def test_in_its_own_room_it_is_shown_with_what_was_said_there(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await set_terms(stage, parked, Terms(to=("room",)))
    await stage.write("UPDATE approvals SET request = '“do it”', requester_name = 'Ada'")
    taken = await ask(stage, private=3000, alone=False)
    assert "“do it”" in taken.verdict.cards[0].text
    await ask(stage, actor=OTTO, at=replace(ROOM, room="r9"))
    assert await shown(stage, replace(ROOM, room="r9"))
    assert all("“do it”" not in one.text for one in await shown(stage, replace(ROOM, room="r9")))


async def test_an_escalation_to_private_chats_opens_them(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    terms = Terms(to=("room",), escalate=timedelta(hours=8), escalate_to=("dm",))
    await set_terms(stage, parked, terms)
    refused = await press(stage, parked, actor=OTTO, at=replace(ROOM, room="r9"), alone=True)
    assert refused.verdict.notice == "This question belongs to another room."
    await stage.write("UPDATE approvals SET calls = 2")  # the reminder, then the escalation
    pressed = await press(stage, parked, actor=OTTO, at=replace(ROOM, room="r9"), alone=True)
    assert pressed.verdict.outcome is Outcome.DECIDED


async def test_a_surface_of_one_person_gives_no_rights(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    for actor, gate in ((UMA, GATE), (VERA, GATE), (UMA, CHOSEN), (STRANGER, GATE)):
        signal = stage.signal(Clicked(parked.approvals[0], Choice.APPROVE), actor=actor, at=replace(ROOM, room="r9"))
        taken = await stage.take_in(replace(signal, alone=True), gate)
        assert taken.verdict.outcome in (Outcome.UNCHANGED, Outcome.REFUSED)
    assert await state_of(stage, parked) is ApprovalState.PENDING


# ------------------------------------------------------------------------------------------- what the agent asks people


async def asked_person(stage: Stage, *whom: str) -> Parked:
    """The agent asks one person, or anybody in the room."""
    parked = await stage.park(SHELL)
    asking = Asking("Which colour?", ("red", "green"), "Uma" if whom else "")
    await stage.write("UPDATE approvals SET kind = 'answer'")
    await set_terms(stage, parked, Terms(approvers=whom), json.dumps(asking.to_json()))
    return parked


async def answer(stage: Stage, parked: Parked, *, actor: Identity, at: Address) -> Taken:
    signal = stage.signal(Clicked(parked.approvals[0], Choice.SECOND), actor=actor, at=at)
    return await stage.take_in(replace(signal, alone=True))


async def test_what_the_agent_asks_a_person_waits_for_that_person(stage: Stage) -> None:
    parked = await asked_person(stage, UMA)
    (waiting,) = await stage.store.approvals.inbox(UMA, Rights())
    assert [button.label for button in inbox.card(waiting, None, stage.clock()).buttons][:2] == ["red", "green"]
    assert await stage.store.approvals.inbox(ADA, Rights()) == []
    refused = await answer(stage, parked, actor=ADA, at=replace(ROOM, room="r9"))
    assert refused.verdict.notice == "This question is for Uma."
    assert (await answer(stage, parked, actor=UMA, at=replace(ROOM, room="r9"))).verdict.outcome is Outcome.DECIDED


async def test_what_it_asks_anybody_of_a_room_is_answered_in_that_room(stage: Stage) -> None:
    parked = await asked_person(stage)
    assert await stage.store.approvals.inbox(UMA, Rights()) == []
    refused = await answer(stage, parked, actor=UMA, at=replace(ROOM, room="r9"))
    assert refused.verdict.notice == "This question belongs to another room."
    assert (await answer(stage, parked, actor=UMA, at=ROOM)).verdict.outcome is Outcome.DECIDED
