"""Cards that list several calls: at most five are open, one answer decides all, each call is decided for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import text

from bot.wiring.forms import Forms
from runtime.contract import Call, Choice, Clicked, Effect, Form, Identity, Outcome
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.domain.ids import new_id
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.store.operations.after_restore import Origin, after_restore
from runtime.store.sql.driver import Op
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    STRANGER,
    UMA,
    Crash,
    FakeTool,
    Process,
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned

AT: Final = "[2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z)"
EXPIRES: Final = "expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) (in 12\u00a0h)"


def writes(number: int, *others: Call) -> tuple[Call, ...]:
    return (*(Call(f"c-{n}", "write", f'{{"text": "{n}"}}') for n in range(1, number + 1)), *others)


SHELL: Final = Call("c-shell", "shell", '{"command": "uname -a"}')


def tools() -> list[FakeTool]:
    effects = {"look": Effect.READ, "write": Effect.WRITE, "shell": Effect.DANGER}
    return [fake_tool(name, effect) for name, effect in effects.items()]


def written(process: Process) -> list[object]:
    return [arguments["text"] for arguments in process.tools["write"].calls]


async def asked(stage: Stage, *calls: Call, who: Identity = ADA, **more: Any) -> Process:
    """Somebody asked for something that takes these calls at once."""
    process = await stage.process(Planned(calls), tools(), **more)
    await process.say("do it all", who=who)
    await process.answer_all()
    return process


async def lead(stage: Stage) -> Approval:
    """The question on whose card others are listed."""
    [found] = [one for one in await stage.pending() if one.lead == one.id]
    return found


async def change(stage: Stage, sql: str) -> None:
    """Something else wrote into the store."""

    def write() -> Op[None]:
        yield text(sql), {}

    await stage.store.driver.write(write)


def cards(screen: Sequence[str]) -> list[str]:
    return [card for card in screen if "[Approve]" in card]


# ------------------------------------------------------------------------------------------------------- what is asked


async def test_five_calls_have_a_card_each(stage: Stage) -> None:
    await asked(stage, *writes(5))
    assert len(cards(await stage.screen())) == 5
    assert {one.lead for one in await stage.pending()} == {None}


async def test_further_calls_join_the_last_card_as_a_list(any_stage: Stage) -> None:
    await asked(any_stage, *writes(7))
    shown = cards(await any_stage.screen())
    assert len(shown) == 5
    assert shown[-1] == (
        f"**May I run these 3 calls?**\n\nAda asks · 3 calls · write · {EXPIRES}\n\n“do it all”\n\n"
        "1. `write` · write\n\n```json\n5\n```\n\n2. `write` · write\n\n```json\n6\n```\n\n3. `write` · write\n\n```json\n7\n```"
        "\n\nOne answer applies to all of them.\n[Approve]\n[Deny]"
        "\n[Edit 1…]\n[Why 1?]\n[Edit 2…]\n[Why 2?]\n[Edit 3…]\n[Why 3?]"
    ).replace("```json\n", "```\n")
    assert [one.lead for one in await any_stage.pending()][:4] == [None] * 4


async def test_one_answer_decides_all_listed_calls_and_each_is_recorded(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    one = await lead(any_stage)
    assert (await process.click(one.id)).outcome is Outcome.DECIDED
    assert len(await any_stage.pending()) == 4
    approved = await any_stage.store.approvals.approvals(state=ApprovalState.APPROVED)
    assert [each.decided_name for each in approved] == ["Ada"] * 3
    assert len(await any_stage.audit("approval approved")) == 3
    assert written(process) == []
    for other in await any_stage.pending():
        await process.click(other.id)
    await process.answer_all()
    assert sorted(map(str, written(process))) == list("1234567")
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert card.startswith(
        f"✅ **Approved** by Ada, {AT}: 3 calls\n\nAda asked · 3 calls · write\n\n1. `write` · done at once"
    )
    assert card.count("write did it") == 3
    assert "[Approve]" not in card


async def test_a_denial_denies_all_of_them(stage: Stage) -> None:
    process = await asked(stage, *writes(7))
    await process.click((await lead(stage)).id, Choice.DENY, "not today")
    await process.answer_all()
    denied = await stage.store.approvals.approvals(state=ApprovalState.DENIED)
    assert [each.reason for each in denied] == ["not today"] * 3
    [card] = [card for card in await stage.screen() if "3 calls" in card]
    assert card.startswith(f"❌ **Denied** by Ada, {AT}: 3 calls\n\n")
    assert card.endswith("> not today")


async def test_open_cards_of_earlier_answers_count(stage: Stage) -> None:
    """What one person has open in one conversation; others have cards of their own there."""
    process = await asked(stage, *writes(3))
    process.ask(Planned(tuple(replace(call, id=f"{call.id}-again") for call in writes(4))))
    await process.say("more")
    await process.answer_all()
    assert len(cards(await stage.screen())) == 5
    process.ask(Planned(tuple(replace(call, id=f"{call.id}-otto") for call in writes(4))))
    await process.say("mine too", who=OTTO)
    await process.answer_all()
    assert len(cards(await stage.screen())) == 9


async def test_where_five_are_open_a_further_answer_has_one_card(stage: Stage) -> None:
    process = await asked(stage, *writes(5))
    process.ask(Planned(tuple(replace(call, id=f"{call.id}-again") for call in writes(4))))
    await process.say("more")
    await process.answer_all()
    assert len(cards(await stage.screen())) == 6
    assert "May I run these 4 calls?" in cards(await stage.screen())[-1]


async def test_calls_asked_on_other_terms_have_a_card_of_their_own(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))
    await asked(stage, *writes(6, SHELL), rules=[rule])
    shown = cards(await stage.screen())
    assert [card.partition("\n")[0] for card in shown[4:]] == ["**May I run these 2 calls?**", "**May I run `shell`?**"]


# --------------------------------------------------------------------------------------------------------- who decides


async def test_a_list_with_a_dangerous_call_is_decided_by_who_may_answer_for_danger(any_stage: Stage) -> None:
    rights = Rights(approvers=frozenset(["page:uma", "page:otto"]))
    process = await asked(any_stage, *writes(5, SHELL), who=ADA, rights=rights)
    one = await lead(any_stage)
    assert (one.tool, one.effect) == ("shell", Effect.DANGER)
    refused = await process.click(one.id, who=UMA)
    assert refused.notice == "Only an operator or owner can decide about a dangerous call."
    assert len(await any_stage.pending()) == 6
    assert (await process.click(one.id, who=OTTO)).outcome is Outcome.DECIDED
    assert len(await any_stage.pending()) == 4


async def test_of_two_clicks_on_a_list_one_decides_all(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    one = await lead(any_stage)
    await process.click(one.id, Choice.DENY, who=OTTO)
    late = await process.click(one.id, who=ADA)
    assert late.notice == "This was already settled: denied by Otto, just now."
    assert len(await any_stage.store.approvals.approvals(state=ApprovalState.DENIED)) == 3


async def test_a_quorum_counts_for_all_of_a_list(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7), rules=[Rule(Ruling.ASK, "write", asking=Changes(quorum=2))])
    one = await lead(any_stage)
    assert (await process.click(one.id)).notice == "Your approval is counted: 1 of 2 so far."
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert "One answer applies to all of them. Ada approved: 1 of 2.\n[Approve]\n[Deny]\n[Edit 1…]" in card
    assert (await process.click(one.id)).notice == "You've approved this already: 1 of 2 so far."
    assert (await process.click(one.id, who=OTTO)).outcome is Outcome.DECIDED
    assert len(await any_stage.pending()) == 4


async def test_a_console_decides_one_call_and_the_card_goes_on_with_the_others(any_stage: Stage) -> None:
    """There each question is shown alone."""
    process = await asked(any_stage, *writes(7))
    one = await lead(any_stage)
    click = any_stage.signal(Clicked(one.id, Choice.DENY), ADA, "r1")
    await process.reception.sink(replace(click, console=True))
    await process.answer_all()
    assert len(await any_stage.pending()) == 6
    [card] = [card for card in cards(await any_stage.screen()) if "3 calls" in card]
    assert f"1. ❌ **Denied** by Ada, {AT}: `write`\n\n2. `write` · write" in card
    await process.click(one.id)
    assert len(await any_stage.pending()) == 4
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert card.startswith("**Decided**: 3 calls\n\n")
    assert "2. ✅ **Approved** by Ada" in card


async def test_an_answer_that_is_no_yes_or_no_decides_nothing_of_a_list(stage: Stage) -> None:
    process = await asked(stage, *writes(7))
    refused = await process.click((await lead(stage)).id, Choice.AGAIN)
    assert refused.notice == "That isn't one of the answers to this question."
    assert len(await stage.pending()) == 7


async def test_a_call_that_is_not_as_it_was_listed_stops_the_whole_list(stage: Stage) -> None:
    process = await asked(stage, *writes(7))
    one = await lead(stage)
    await change(stage, "UPDATE steps SET arguments_hash = 'x' WHERE call_id = 'c-7'")
    refused = await process.click(one.id)
    assert refused.notice == "This isn't the call I asked about, so your answer doesn't count."
    assert len(await stage.pending()) == 7


# ----------------------------------------------------------------------------------------------------- what ends them


async def test_a_list_that_nobody_answers_expires_as_one(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    any_stage.clock.advance(timedelta(hours=12))
    for decided in await any_stage.store.approvals.expire():
        process.reception.decided(decided)
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert card.startswith("⌛ **Expired**, [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z): 3 calls")
    assert await any_stage.pending() == []


async def test_a_list_of_a_run_that_is_stopped_is_withdrawn(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    await process.stop()
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert card.startswith("⚪ **Withdrawn**, ")
    assert written(process) == []


async def test_a_list_is_edited_once_for_one_answer(stage: Stage) -> None:
    process = await asked(stage, *writes(9))
    one = await lead(stage)
    before = len(await stage.rows("SELECT id FROM deliveries WHERE origin = :o", o=f"approval:{one.id}"))
    await process.click(one.id)
    after = len(await stage.rows("SELECT id FROM deliveries WHERE origin = :o", o=f"approval:{one.id}"))
    assert (before, after) == (1, 2)


@pytest.mark.parametrize("point", ["step-recorded", "approval-stored"])
async def test_a_kill_while_asking_asks_each_call_once(any_stage: Stage, point: str) -> None:
    process = await any_stage.process(Planned(writes(7)), tools(), probe=crash_at(point))
    await process.say("do it all")
    await process.until_crash()
    process = await any_stage.process(Planned(writes(7)), tools())
    await process.answer_all()
    assert [one.arguments for one in await any_stage.pending()] == [call.arguments for call in writes(7)]
    assert len(cards(await any_stage.screen())) == 5
    for one in await any_stage.pending():
        await process.click(one.id)
    await process.answer_all()
    assert sorted(map(str, written(process))) == list("1234567")


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished"])
async def test_a_kill_after_the_answer_runs_no_listed_call_twice_unasked(any_stage: Stage, point: str) -> None:
    process = await asked(any_stage, *writes(7), probe=crash_at(point, 6))
    for one in await any_stage.pending():
        await process.click(one.id)
    await process.until_crash()
    before = written(process)
    process = await any_stage.process(Planned(writes(7)), tools())
    await process.answer_all()
    [question] = await any_stage.pending()
    assert question.kind == "outcome"
    [card] = [card for card in await any_stage.screen() if "3 calls" in card]
    assert "2. `write` · was cut off" in card
    await process.click(question.id, Choice.SKIP)
    await process.answer_all()
    ran = sorted(map(str, before + written(process)))
    assert ran == list("1234567" if point == "tool-finished" else "123457")


async def test_after_a_restore_each_listed_call_is_asked_again_for_itself(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    old = await lead(any_stage)
    now = any_stage.clock()
    await any_stage.store.driver.write(lambda: after_restore(Origin("b1", now, "1.0"), "test", now, new_id))
    process = await any_stage.process(Planned(writes(7)), tools())
    await process.answer_all()
    assert len(await any_stage.pending()) == 7
    assert {one.lead for one in await any_stage.pending()} == {None}
    assert (await process.click(old.id)).outcome is Outcome.UNCHANGED
    for one in await any_stage.pending():
        await process.click(one.id)
    await process.answer_all()
    assert sorted(map(str, written(process))) == list("1234567")


async def test_an_inbox_shows_a_list_once_and_its_card_follows(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    one = await lead(any_stage)
    waiting = await any_stage.store.approvals.inbox(OTTO, Rights())
    assert len(waiting) == 5
    assert one.id in [each.approval.id for each in waiting]
    await process.say("/approvals", who=OTTO, room="otto")
    await process.answer_all()
    [card] = [card for card in await any_stage.screen("otto") if "3 calls" in card]
    assert "One answer applies to all of them.\n[Approve]\n[Deny]\n[Edit 1…]" in card
    assert (await process.click(one.id, who=OTTO, room="otto")).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(await any_stage.pending()) == 4
    [card] = [card for card in await any_stage.screen("otto") if "3 calls" in card]
    assert card.startswith("✅ **Approved** by Otto")


# ------------------------------------------------------------------------------------------------- one call of a list


async def open_cards(stage: Stage) -> list[str]:
    return [card for card in await stage.screen() if "[Approve]" in card]


async def test_a_short_list_has_buttons_about_each_call(stage: Stage) -> None:
    await asked(stage, *writes(7))
    card = (await open_cards(stage))[-1]
    assert card.endswith("[Approve]\n[Deny]\n[Edit 1…]\n[Why 1?]\n[Edit 2…]\n[Why 2?]\n[Edit 3…]\n[Why 3?]")


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_a_listed_call_is_changed_and_the_others_stay_on_the_list(any_stage: Stage, number: int) -> None:
    """Also the one that has the card."""
    process = await asked(any_stage, *writes(7))
    calls = [one for one in await any_stage.pending() if one.lead]
    verdict = await process.edit(calls[number].id, argument="other")
    assert (verdict.outcome, verdict.notice) == (Outcome.DECIDED, None)
    await process.answer_all()
    left = [one for one in await any_stage.pending() if one.lead]
    assert {one.id for one in left} == {one.id for one in calls} - {calls[number].id}
    assert len({one.lead for one in left}) == 1
    shown = await any_stage.screen()
    [changed] = [card for card in shown if "Runs:" in card]
    assert changed.startswith("✅ **Approved** by Ada")
    assert "other" in changed
    assert sum("these 2 calls" in card and "[Approve]" in card for card in shown) == 1
    assert (await process.click((await lead(any_stage)).id)).outcome is Outcome.DECIDED
    for one in await any_stage.pending():
        await process.click(one.id)
    await process.answer_all()
    expected = sorted([*"1234567", "other"])
    expected.remove(str(5 + number))
    assert sorted(map(str, written(process))) == expected
    assert not await open_cards(any_stage)


async def test_a_wrong_change_leaves_the_list_as_it_is(stage: Stage) -> None:
    process = await asked(stage, *writes(7))
    one = await lead(stage)
    before = await stage.screen()
    verdict = await process.edit(one.id, argument="5")
    assert verdict.notice == "You haven't changed anything. To run it as it is, approve it."
    for who in (UMA, STRANGER):
        assert (await process.edit(one.id, argument="other", who=who)).outcome is not Outcome.DECIDED
    await process.answer_all()
    assert await stage.screen() == before


async def test_a_list_of_two_becomes_two_cards(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(6))
    assert await process.why(next(one.id for one in await any_stage.pending() if one.lead), "what for?")
    await process.answer_all()
    assert {one.lead for one in await any_stage.pending()} == {None}
    shown = await open_cards(any_stage)
    assert len(shown) == 6
    assert sum("**Ada asked**: “what for?”" in card for card in shown) == 1


async def test_of_a_long_list_one_is_chosen_in_a_form(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(10))
    one = await lead(any_stage)
    card = (await open_cards(any_stage))[-1]
    assert card.endswith("[Approve]\n[Deny]\n[Edit one…]\n[Why one?]")
    form = await Forms(any_stage.store, lambda: process.gate.rights).open(one.id, Choice.EDIT, ADA)
    assert isinstance(form, Form)
    assert form.fields[0].options == tuple(f"{number}. write" for number in range(1, 7))
    for wrong in ("0", "7", "x", "", "9" * 4000):
        refused = await process.edit(one.id, call=wrong)
        assert (refused.notice, refused.form_stays) == ("The list has no such call. Choose one by its number.", True)
    told = await process.edit(one.id, call="2. write")
    assert told.notice == "It has a card of its own now. Press Edit… there."
    await process.answer_all()
    shown = await open_cards(any_stage)
    assert len(shown) == 6
    assert [card for card in shown if "\n6\n" in card and "[Edit…]" in card]
    assert sum("these 5 calls" in card for card in shown) == 1
    click = Clicked(one.id, Choice.WHY, values={"call": "3", "question": "why this?"})
    verdict = await process.reception.sink(any_stage.signal(click, ADA, "r1"))
    assert verdict.notice == "I'm asking the agent. Its answer comes beneath the card."
    await process.answer_all()
    assert sum("why this?" in card for card in await open_cards(any_stage)) == 1


async def test_two_who_take_the_same_call_out_take_it_once(any_stage: Stage) -> None:
    process = await asked(any_stage, *writes(7))
    one = next(one for one in await any_stage.pending() if one.lead and one.lead != one.id)
    await asyncio.gather(process.why(one.id, "a?", ADA), process.why(one.id, "b?", OTTO))
    await process.answer_all()
    assert len(await any_stage.pending()) == 7
    assert len(await open_cards(any_stage)) == 6


async def test_a_change_under_a_quorum_counts_as_one_vote_on_a_card_of_its_own(any_stage: Stage) -> None:
    rules = [Rule(Ruling.ASK, "write", asking=Changes(quorum=2))]
    process = await asked(any_stage, *writes(7), rules=rules)
    one = next(one for one in await any_stage.pending() if one.lead and one.lead != one.id)
    assert (await process.edit(one.id, argument="other")).notice == "Your approval is counted: 1 of 2 so far."
    assert (
        await process.click((await lead(any_stage)).id, who=OTTO)
    ).notice == "Your approval is counted: 1 of 2 so far."
    [changed] = [each for each in await any_stage.pending() if each.asked_arguments]
    assert (
        await process.click(changed.id, who=OTTO)
    ).notice == "The call has changed in the meantime. Please look at the card again."
    assert (await process.click(changed.as_shown, who=OTTO)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(await any_stage.pending()) == 6


@pytest.mark.parametrize("taken", [0, 2])
@pytest.mark.parametrize("point", ["approval-decided", "accepted"])
async def test_a_kill_while_a_call_leaves_its_list_loses_no_call_and_runs_each_once(
    any_stage: Stage, point: str, taken: int
) -> None:
    """Before the answer is told and after it; also where the call that leaves has the card."""
    process = await asked(any_stage, *writes(7))
    one = [each for each in await any_stage.pending() if each.lead][taken]
    deadly = await any_stage.process(Planned(writes(7)), tools(), probe=crash_at(point))
    with pytest.raises(Crash):
        await deadly.edit(one.id, argument="other", key="once")
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(Planned(writes(7)), tools())
    assert (await after.edit(one.id, argument="other", key="once")).outcome is Outcome.DUPLICATE
    await after.answer_all()
    assert len([each for each in await any_stage.pending() if each.lead]) == 2
    assert sum("these 2 calls" in card for card in await open_cards(any_stage)) == 1
    await after.click((await lead(any_stage)).id)
    for each in await any_stage.pending():
        await after.click(each.id)
    await after.answer_all()
    expected = sorted([*"1234567", "other"])
    expected.remove(str(5 + taken))
    assert sorted(map(str, written(process) + written(deadly) + written(after))) == expected
    assert not await open_cards(any_stage)
