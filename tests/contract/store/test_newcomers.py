"""Newcomers: those who may let a stranger in are asked by a card in private, and one press decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.chat import pairing
from runtime.chat.cards.card_facts import LABELS
from runtime.contract import Address, ApprovalId, Choice, Clicked, Content, Identity, Outcome, Role, Said
from runtime.domain.approvals import ApprovalState, Rights
from runtime.store.protocol import Paired, Taken
from tests.contract.store.stage import ADA, GATE, OTTO, UMA, Stage
from tests.contract.store.test_aftermath import restore
from tests.contract.store.test_pairings import DIRECT, PAIRS, SAM, ask, code_of, enter, private

ADAS = Address("telegram", "77", "7")
OTTOS = Address("slack", "T1", "D9")
HOMES = {ADA: ADAS, OTTO: OTTOS}


@pytest.fixture
async def asked(stage: Stage) -> ApprovalId:
    """An owner and an operator wrote to the agent alone before; then a stranger does."""
    await stage.say("hello", actor=ADA, at=ADAS)
    await stage.say("hello", actor=OTTO, at=replace(OTTOS, thread="1.5"))
    taken = await ask(stage)
    assert set(taken.deliveries) == {DIRECT, ADAS, OTTOS}
    (card,) = await stage.store.approvals.approvals()
    return card.id


async def card(stage: Stage, at: Address) -> Content:
    """What it says by now."""
    return (
        (await stage.waiting(at))[-1].delivery.content if len(await stage.waiting(at)) == 1 else await newest(stage, at)
    )


async def newest(stage: Stage, at: Address) -> Content:
    sql = "SELECT content FROM deliveries WHERE address = :at AND kind = 'approval' ORDER BY number DESC LIMIT 1"
    return Content.from_json((await stage.column(sql, at=str(at)))[0])


async def press(stage: Stage, asked: ApprovalId, choice: Choice, who: Identity = ADA) -> Taken:
    return await stage.click(asked, choice, actor=who, at=HOMES.get(who, ADAS))


async def test_the_card_names_who_wants_to_come_in(stage: Stage, asked: ApprovalId) -> None:
    for room in (ADAS, OTTOS):
        content = await card(stage, room)
        assert content.text == (
            "**Let `Sam` in?**\n\n- name: `Sam`\n- platform: `telegram`\n- id: `telegram:1001`\n- account: `telegram:77`"
        )
        assert [button.label for button in content.buttons] == ["As user", "No", "Other role…"]
    assert "I've asked the people who run me" in (await stage.waiting(DIRECT))[0].delivery.content.text
    await code_of(stage)


async def test_a_name_is_no_mark_up(stage: Stage) -> None:
    await stage.say("hello", actor=ADA, at=ADAS)
    await stage.take_in(replace(private(stage), actor_name="**`Ada`** [x](http://evil)"), PAIRS)
    assert "**Let `**'Ada'** [x](http://evil)` in?**" in (await card(stage, ADAS)).text


async def test_a_name_is_neither_long_nor_an_identity(stage: Stage) -> None:
    """Settings name people by name or identity: a stranger who is called as one of those has none of their rights."""
    await stage.say("hello", actor=ADA, at=ADAS)
    for user, name in ((1002, "telegram:7"), (1003, "x" * 60_000)):
        sam = Identity(f"telegram:{user}")
        await stage.take_in(replace(private(stage, actor=sam), actor_name=name), PAIRS)
        (pending,) = await stage.store.approvals.approvals(state=ApprovalState.PENDING)
        await press(stage, pending.id, Choice.USER)
        who = await stage.store.people.identified(sam)
        assert who
        assert who.name in ("telegram 7", "x" * pairing.LONGEST_NAME)
        assert len((await newest(stage, ADAS)).text) < 500


@pytest.mark.parametrize("name", ["Grace", "GRACE", "Uma"])
async def test_a_name_that_is_somebodys_is_told_on_the_card(stage: Stage, name: str) -> None:
    gate = replace(PAIRS, rights=Rights(given=frozenset({"Grace"})))
    await stage.say("hello", actor=ADA, at=ADAS)
    await stage.take_in(replace(private(stage), actor_name=name), gate)
    assert f"- will be called: `{name} 2`" in (await card(stage, ADAS)).text
    (pending,) = await stage.store.approvals.approvals(state=ApprovalState.PENDING)
    await stage.take_in(stage.signal(Clicked(pending.id, Choice.USER), actor=ADA, at=ADAS), gate)
    who = await stage.store.people.identified(SAM)
    assert who
    assert who.name == f"{name} 2"


async def test_a_flood_of_strangers_asks_about_a_few_at_once(stage: Stage) -> None:
    await stage.say("hello", actor=ADA, at=ADAS)
    asked = 0
    for user in range(2 * pairing.CARDS):
        stage.clock.at += pairing.APART / pairing.FRESH_CODES_MAX
        taken = await ask(stage, Identity(f"telegram:{2000 + user}"))
        assert taken.deliveries, "everybody has a code"
        asked += ADAS in taken.deliveries
    assert asked == pairing.CARDS
    await press(stage, (await stage.store.approvals.approvals(state=ApprovalState.PENDING))[0].id, Choice.NO)
    stage.clock.at += pairing.APART
    assert ADAS in (await ask(stage)).deliveries


async def test_one_press_lets_a_stranger_in_and_every_copy_says_so(stage: Stage, asked: ApprovalId) -> None:
    taken = await press(stage, asked, Choice.USER)
    assert taken.verdict.outcome is Outcome.DECIDED
    assert set(taken.deliveries) == {ADAS, OTTOS, DIRECT}
    who = await stage.store.people.identified(SAM)
    assert who
    assert (who.name, who.role) == ("Sam", Role.USER)
    for room in (ADAS, OTTOS):
        content = await newest(stage, room)
        assert content.text.startswith("✅ **Let in as user** by Ada, [2026-03-01 12:00 UTC](time:")
        assert content.buttons == ()
    told = pairing.welcome(who).replace("'", "\\'")  # as `repr` writes it
    assert told in str(await stage.everything())
    assert await stage.store.people.pairings() == []
    assert await stage.audit("paired") == [("Ada", SAM, "Sam, user")]
    assert (await stage.say("hello", actor=SAM, at=DIRECT)).verdict.outcome is Outcome.ACCEPTED


async def test_only_the_first_press_counts(stage: Stage, asked: ApprovalId) -> None:
    await stage.many()
    both = await asyncio.gather(press(stage, asked, Choice.USER), press(stage, asked, Choice.NO, OTTO))
    outcomes = [one.verdict.outcome for one in both]
    assert sorted(outcomes) == [Outcome.DECIDED, Outcome.UNCHANGED]
    assert (await stage.store.people.identified(SAM) is not None) == (outcomes[0] is Outcome.DECIDED)
    assert "already settled" in str(both)


async def test_who_may_not_let_in_changes_nothing(stage: Stage, asked: ApprovalId) -> None:
    assert (
        await press(stage, asked, Choice.USER, UMA)
    ).verdict.notice == "This needs the role operator, and yours is user."
    assert (await press(stage, asked, Choice.USER, SAM)).verdict.outcome is Outcome.REFUSED
    refused = await press(stage, asked, Choice.OPERATOR, OTTO)
    assert refused.verdict.notice == "This needs the role owner, and yours is operator."
    assert (
        await press(stage, asked, Choice.APPROVE)
    ).verdict.notice == "That isn't one of the answers to this question."
    assert await stage.store.people.identified(SAM) is None
    assert len(await stage.audit("click refused")) == 3


@pytest.mark.parametrize("choice", [Choice.VIEWER, Choice.OPERATOR])
async def test_other_roles_are_a_second_press(stage: Stage, asked: ApprovalId, choice: Choice) -> None:
    taken = await press(stage, asked, Choice.OTHER)
    assert (taken.verdict.outcome, set(taken.deliveries)) == (Outcome.UNCHANGED, {ADAS, OTTOS})
    labels = [button.label for button in (await newest(stage, ADAS)).buttons]
    assert labels == ["As user", "As viewer", "As operator", "No"]
    await press(stage, asked, choice)
    who = await stage.store.people.identified(SAM)
    assert who
    assert who.role is Role[choice.name]
    assert (await newest(stage, OTTOS)).text.startswith(f"✅ **Let in {LABELS[choice].lower()}** by Ada")


async def test_a_no_is_told_and_keeps_quiet_for_a_day(stage: Stage, asked: ApprovalId) -> None:
    await press(stage, asked, Choice.NO, OTTO)
    assert pairing.TURNED_AWAY in str(await stage.everything())
    assert (await newest(stage, ADAS)).text.startswith("❌ **Not let in** by Otto")
    stage.clock.advance(hours=23)
    assert (await ask(stage)).deliveries == ()
    stage.clock.advance(hours=1)
    assert set((await ask(stage)).deliveries) == {DIRECT, ADAS, OTTOS}


async def test_a_card_stays_when_the_code_is_over(stage: Stage, asked: ApprovalId) -> None:
    stage.clock.advance(hours=1)
    assert (await ask(stage)).deliveries == (DIRECT,)
    await press(stage, asked, Choice.USER)
    assert await stage.store.people.identified(SAM)


async def test_a_card_that_nobody_answers_expires(stage: Stage, asked: ApprovalId) -> None:
    stage.clock.at += timedelta(days=1)
    (decided,) = await stage.store.approvals.expire()
    assert set(decided.deliveries) == {ADAS, OTTOS}
    assert (await newest(stage, ADAS)).text.startswith("⌛ **Expired**")
    assert set((await ask(stage)).deliveries) == {DIRECT, ADAS, OTTOS}


async def test_the_code_settles_the_card(stage: Stage, asked: ApprovalId) -> None:
    made = await enter(stage, await code_of(stage), "Samuel", Role.OPERATOR)
    assert isinstance(made, Paired)
    assert set(made.cards) == {ADAS, OTTOS}
    found = await stage.store.approvals.approval(asked)
    assert found
    assert (found.state, found.reason) == (ApprovalState.APPROVED, "by their code, as Samuel (operator)")
    assert (await newest(stage, OTTOS)).text.startswith("✅ **Let in** by Ada")
    assert "already settled" in str(await press(stage, asked, Choice.NO))


async def test_on_the_page_the_card_stands_in_the_newest_conversation(stage: Stage) -> None:
    ada = await stage.store.people.identified(ADA)
    assert ada
    for room in ("older1", "newer1"):
        await stage.say("hello", actor=Identity(f"web:{ada.id}"), at=Address("web", "main", room))
        stage.clock.advance(seconds=1)
    assert set((await ask(stage)).deliveries) == {DIRECT, Address("web", "main", "newer1")}


async def test_a_conversation_of_somebody_else_is_nobodys_private_room(stage: Stage) -> None:
    """On the page an owner reads and answers in a user's conversation: what it shows from then on the user reads."""
    ada = await stage.store.people.identified(ADA)
    assert ada
    theirs = Address("web", "main", "theirs")
    await stage.say("hello", actor=UMA, at=theirs)
    stage.clock.advance(seconds=1)
    await stage.say("hello", actor=Identity(f"web:{ada.id}"), at=theirs)
    assert (await ask(stage)).deliveries == (DIRECT,)


async def test_without_anybody_to_ask_the_code_alone_is_sent(stage: Stage) -> None:
    await stage.say("hello", actor=UMA, at=ADAS)
    assert (await ask(stage)).deliveries == (DIRECT,)
    assert "Give it to the owner" in (await stage.waiting(DIRECT))[0].delivery.content.text
    assert await stage.store.approvals.approvals() == []


async def test_where_strangers_are_denied_nobody_is_asked(stage: Stage) -> None:
    await stage.say("hello", actor=ADA, at=ADAS)
    await stage.take_in(private(stage), GATE)
    assert await stage.store.approvals.approvals() == []


async def test_a_room_of_several_is_nobodys_private_room(stage: Stage) -> None:
    from runtime.contract import Addressing

    await stage.take_in(replace(stage.signal(Said("hello"), actor=ADA, at=ADAS), reach=Addressing.MENTION))
    assert (await ask(stage)).deliveries == (DIRECT,)


async def test_after_a_restore_no_copy_of_a_card_asks_any_more(stage: Stage, asked: ApprovalId) -> None:
    await stage.drain(ADAS)
    await restore(stage)
    for room in (ADAS, OTTOS):
        assert (await newest(stage, room)).buttons == ()


async def test_after_a_restore_a_card_that_never_left_is_shown_nowhere(stage: Stage, asked: ApprovalId) -> None:
    await restore(stage)
    assert set(await stage.column("SELECT state FROM deliveries WHERE kind = 'approval'")) == {"discarded"}


async def test_a_no_that_comes_after_somebody_is_known_tells_them_nothing(stage: Stage, asked: ApprovalId) -> None:
    await stage.store.people.add_person("Sam", Role.USER, [SAM], actor="Ada")
    before = len(await stage.column("SELECT id FROM deliveries WHERE kind = 'final'"))
    await press(stage, asked, Choice.NO)
    assert len(await stage.column("SELECT id FROM deliveries WHERE kind = 'final'")) == before
