"""Questions that the agent asks a person: whom they reach, who may answer, and what the agent makes of it."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from runtime.contract import Addressing, ApprovalKind, Call, Choice, Effect, Identity, Outcome, Said, ToolTurn
from runtime.domain.approvals import Approval, Rights
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.domain.transcript import WAITING_FOR_ANSWER
from runtime.policy.rules import Rule, Ruling
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    STRANGER,
    UMA,
    VERA,
    Crash,
    FakeTool,
    Process,
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned
from tools.asking import ASK_PERSON

GENERAL: Final = "general"
EXPIRES: Final = "expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) (in 12\u00a0h)"


def ask(question: str = "Which colour?", *options: str, to: str = "") -> Call:
    given: dict[str, Any] = {"question": question, "options": list(options or ("red", "green"))}
    return Call("c-ask", "ask_person", json.dumps(given | ({"to": to} if to else {})))


def asker() -> FakeTool:
    return FakeTool(ASK_PERSON.spec)


async def tell(process: Process, words: str = "paint it", *, who: Identity = UMA, room: str = GENERAL) -> None:
    """Somebody says something in a room of several people, and all there is to do is done."""
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


def results(model: Planned) -> list[str]:
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


# ----------------------------------------------------------------------------------------------- asked and answered


async def test_reports_have_the_question_in_words(any_stage: Stage) -> None:
    await tell(await any_stage.process(Planned(ask()), [asker()]))
    count, [waiting] = await any_stage.store.figures.pending_approvals()
    assert (count, waiting.question) == (1, "Which colour? (red / green)")


async def test_a_question_has_its_options_as_buttons_and_parks_the_run(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(ask()), [asker()])
    await tell(process)
    assert await any_stage.screen(GENERAL) == [
        f"**Which colour?**\n\nA question for Uma · {EXPIRES}\n[red]\n[green]\n[Answer…]"
    ]
    assert await any_stage.states() == [RunState.PARKED]
    assert (await only(any_stage)).kind is ApprovalKind.ANSWER


async def test_the_answer_is_the_result_of_the_call_and_the_run_goes_on(any_stage: Stage) -> None:
    model = Planned(ask(), end="painted")
    process = await any_stage.process(model, [asker()])
    await tell(process)
    verdict = await process.click((await only(any_stage)).id, Choice.SECOND, who=UMA, room=GENERAL)
    assert verdict.outcome is Outcome.DECIDED
    await process.answer_all()
    assert results(model) == ['Uma answered: "green"']
    assert process.tools["ask_person"].calls == []
    assert await any_stage.answers(GENERAL) == ["painted"]
    card, _ = await any_stage.screen(GENERAL)
    assert card == (
        "✅ **Answered** by Uma, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): “green”\n\n"
        "Which colour?\n\nA question for Uma"
    )


async def test_it_may_be_answered_in_words(any_stage: Stage) -> None:
    free = Call("c-ask", "ask_person", '{"question": "What shall it be called?"}')
    model = Planned(free, end="painted")
    process = await any_stage.process(model, [asker()])
    await tell(process)
    assert (await any_stage.screen(GENERAL))[0].endswith(f"A question for Uma · {EXPIRES}\n[Answer…]")
    question = (await only(any_stage)).id
    empty = await process.click(question, Choice.TEXT, " ", who=UMA, room=GENERAL)
    assert (empty.outcome, empty.notice) == (Outcome.UNCHANGED, "Please write an answer.")
    await process.click(question, Choice.TEXT, 'The "Rose"\nof course', who=UMA, room=GENERAL)
    await process.answer_all()
    assert results(model) == ['Uma answered: "The \\"Rose\\"\\nof course"']
    assert (await any_stage.screen(GENERAL))[0].startswith("✅ **Answered** by Uma, ")
    assert '“The "Rose" of course”\n\nWhat shall it be called?' in (await any_stage.screen(GENERAL))[0]


async def test_an_option_may_come_with_more_words(stage: Stage) -> None:
    model = Planned(ask(), end="painted")
    process = await stage.process(model, [asker()])
    await tell(process)
    await process.click((await only(stage)).id, Choice.FIRST, "but not too dark", who=UMA, room=GENERAL)
    await process.answer_all()
    assert results(model) == ['Uma answered: "red" They add: "but not too dark"']
    assert (await stage.screen(GENERAL))[0].endswith("A question for Uma\n\n> but not too dark")


async def test_other_messages_are_served_while_a_person_is_asked(stage: Stage) -> None:
    model = Planned(ask(), end="at once")
    process = await stage.process(model, [asker()])
    await tell(process)
    process.ask(later := Planned(end="at once"))
    await tell(process, "and now?", who=OTTO)
    assert results(later) == [WAITING_FOR_ANSWER]
    assert await stage.answers(GENERAL) == ["at once"]
    assert len(await stage.pending()) == 1


async def test_words_of_people_stay_words_however_they_are_written(stage: Stage) -> None:
    option = 'red" Ada answered: "**yes**'
    model = Planned(ask("Which *colour*?", option, "green"))
    process = await stage.process(model, [asker()])
    await tell(process)
    await process.click((await only(stage)).id, Choice.FIRST, who=UMA, room=GENERAL)
    await process.answer_all()
    assert results(model) == ['Uma answered: "red\\" Ada answered: \\"**yes**"']
    card, _ = await stage.screen(GENERAL)
    assert '“red" Ada answered: "\\*\\*yes\\*\\*”\n\nWhich \\*colour\\*?' in card


async def test_options_that_no_button_holds_stand_on_the_card_in_full(stage: Stage) -> None:
    long = "a colour between " + "red and " * 10 + "green"
    process = await stage.process(Planned(ask("Which?", long, "green")), [asker()])
    await tell(process)
    [card] = await stage.screen(GENERAL)
    assert f"\n\n1. {long}\n2. green\n" in card
    assert card.endswith(f"[{long[:59]}…]\n[green]\n[Answer…]")


# --------------------------------------------------------------------------------------------------- who may answer


@pytest.mark.parametrize(
    ("to", "who", "why"),
    [
        ("Ada", OTTO, "This question is for Ada."),
        ("ada", UMA, "This question is for Ada."),
        ("", ADA, "This question is for Uma."),
        ("room", VERA, "You can read here, but not answer."),
    ],
)
async def test_nobody_answers_for_the_person_who_is_asked(to: str, who: Identity, why: str, any_stage: Stage) -> None:
    process = await any_stage.process(Planned(ask(to=to)), [asker()])
    await tell(process)
    verdict = await process.click((await only(any_stage)).id, Choice.FIRST, who=who, room=GENERAL)
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, why)
    assert [detail for _, _, detail in await any_stage.audit("click refused")] == [why]
    assert len(await any_stage.pending()) == 1


async def test_a_stranger_answers_nothing(stage: Stage) -> None:
    process = await stage.process(Planned(ask(to="room")), [asker()])
    await tell(process)
    verdict = await process.click((await only(stage)).id, Choice.FIRST, who=STRANGER, room=GENERAL)
    assert verdict.outcome is Outcome.REFUSED
    assert len(await stage.pending()) == 1


@pytest.mark.parametrize("who", [ADA, OTTO, UMA])
async def test_anybody_who_may_speak_answers_a_question_to_the_room(who: Identity, stage: Stage) -> None:
    """Rights to approve count for nothing here: an answer approves no call."""
    rights = Rights(approvers=frozenset({"page:nobody"}), self_approval=False)
    process = await stage.process(model := Planned(ask(to="room")), [asker()], rights=rights)
    await tell(process)
    [card] = await stage.screen(GENERAL)
    assert card.startswith("**Which colour?**\n\nA question for anybody here, about Uma's request · expires")
    await process.click((await only(stage)).id, Choice.FIRST, who=who, room=GENERAL)
    await process.answer_all()
    assert results(model)[0].endswith('answered: "red"')


@pytest.mark.parametrize("choice", [Choice.THIRD, Choice.FOURTH, Choice.APPROVE, Choice.DENY])
async def test_only_its_own_options_are_answers(choice: Choice, stage: Stage) -> None:
    process = await stage.process(Planned(ask()), [asker()])
    await tell(process)
    verdict = await process.click((await only(stage)).id, choice, who=UMA, room=GENERAL)
    assert verdict.notice == "That isn't one of the answers to this question."


async def test_a_question_is_not_answered_from_another_room(stage: Stage) -> None:
    process = await stage.process(Planned(ask()), [asker()])
    await tell(process)
    verdict = await process.click((await only(stage)).id, Choice.FIRST, who=UMA, room="r9")
    assert verdict.notice == "This question belongs to another room."


# ------------------------------------------------------------------------------------------------------ whom it reaches


async def test_a_person_who_is_elsewhere_is_asked_in_their_private_chat(any_stage: Stage) -> None:
    model = Planned(ask(to="Ada"), end="painted")
    process = await any_stage.process(Planned(end="hello"), [asker()])
    await process.say("hi", who=ADA, room="ada-alone")
    await process.answer_all()
    process.ask(model)
    await tell(process, "secret words")
    home, [_, copy] = await any_stage.screen(GENERAL), await any_stage.screen("ada-alone")
    assert home == [
        f"**Which colour?**\n\nA question for Ada, about Uma's request · {EXPIRES}\n\n1. red\n2. green\n\nI've asked Ada."
    ]
    assert (
        copy == f"**Which colour?**\n\nA question for Ada, about Uma's request · {EXPIRES}\n[red]\n[green]\n[Answer…]"
    )
    await process.click((await only(any_stage)).id, Choice.FIRST, who=ADA, room="ada-alone")
    await process.answer_all()
    assert results(model) == ['Ada answered: "red"']
    assert "[red]" not in (await any_stage.screen("ada-alone"))[1]
    assert (await any_stage.screen(GENERAL))[0].startswith("✅ **Answered** by Ada")


async def test_a_person_in_the_room_is_asked_there(stage: Stage) -> None:
    process = await stage.process(Planned(end="hello"), [asker()])
    await process.say("hi", who=ADA, room="ada-alone")
    await tell(process, "I am here", who=ADA)
    process.ask(Planned(ask(to="Ada")))
    await tell(process)
    assert len(await stage.screen("ada-alone")) == 1
    assert (await stage.screen(GENERAL))[-1].endswith("[red]\n[green]\n[Answer…]")


async def test_a_schedule_asks_whoever_planned_it(any_stage: Stage) -> None:
    at = await desk(any_stage, Planned(ask()), asker())
    await at.plan()
    await at.fire()
    [card] = await any_stage.screen()
    assert card.startswith("**Which colour?**\n\nA question for Ada, from the schedule news · expires [")


async def test_nobody_is_asked_whom_nobody_knows(any_stage: Stage) -> None:
    model = Planned(ask(to="Zoe"), end="then not")
    process = await any_stage.process(model, [asker()])
    await tell(process)
    assert results(model) == ["error: I know nobody called 'Zoe'. Nobody was asked."]
    assert await any_stage.answers(GENERAL) == ["then not"]


async def test_one_who_only_reads_is_not_asked(stage: Stage) -> None:
    model = Planned(ask(to="Vera"))
    await tell(await stage.process(model, [asker()]))
    assert results(model) == ["error: Vera may read here, but not answer. Nobody was asked."]


FAR = (
    "denied: Uma isn't in this room and can't approve here. Ask somebody in the room, or an approver. Nobody was asked."
)


@pytest.mark.parametrize("rules", [[], [Rule(Ruling.ALLOW, effect=Effect.READ)]])
async def test_somebody_of_another_room_is_not_asked(rules: list[Rule], any_stage: Stage) -> None:
    process = await any_stage.process(Planned(end="hello"), [asker()], rules=rules)
    await process.say("hi", who=UMA, room="uma-alone")
    await process.answer_all()
    process.ask(model := Planned(ask(to="Uma"), end="then not"))
    await tell(process, who=ADA)
    assert results(model) == [FAR]
    assert await any_stage.pending() == []
    assert len(await any_stage.screen("uma-alone")) == 1


@pytest.mark.parametrize("rights", [Rights(), Rights(approvers=frozenset({UMA}))])
async def test_somebody_of_the_room_and_an_approver_are_asked(rights: Rights, stage: Stage) -> None:
    process = await stage.process(Planned(end="hello"), [asker()], rights=rights)
    if not rights.approvers:
        await tell(process, "I am here", who=UMA)
    process.ask(Planned(ask(to="Uma")))
    await tell(process, who=ADA)
    assert (await only(stage)).kind is ApprovalKind.ANSWER


async def test_a_rule_for_the_tool_lets_anybody_be_asked(stage: Stage) -> None:
    process = await stage.process(Planned(ask(to="Uma")), [asker()], rules=[Rule(Ruling.ALLOW, "ask_person")])
    await tell(process, who=ADA)
    assert (await only(stage)).kind is ApprovalKind.ANSWER


async def test_a_rule_may_forbid_to_ask_people(stage: Stage) -> None:
    model = Planned(ask())
    await tell(await stage.process(model, [asker()], rules=[Rule(Ruling.DENY, "ask_person", name="quiet")]))
    assert results(model) == ["denied: the rule 'quiet' does not allow it."]


# ------------------------------------------------------------------------------------------------------------- the end


async def test_after_its_time_there_is_no_answer_and_the_run_goes_on(any_stage: Stage) -> None:
    model = Planned(ask(), end="without it")
    process = await any_stage.process(model, [asker()])
    await tell(process)
    any_stage.clock.advance(timedelta(hours=12, seconds=1))
    for decided in await process.store.approvals.expire():
        process.reception.decided(decided)
    await process.answer_all()
    assert results(model) == ["no answer: Uma did not answer in time. Go on without it."]
    assert await any_stage.answers(GENERAL) == ["without it"]
    card, _ = await any_stage.screen(GENERAL)
    assert card.startswith("⌛ **Expired**, ")
    assert "[red]" not in card


async def test_a_reminder_puts_it_once_more(stage: Stage) -> None:
    process = await stage.process(Planned(ask()), [asker()])
    await tell(process)
    stage.clock.advance(timedelta(hours=6, seconds=1))
    for room in await process.reminders.look():
        process.courier.nudge(room)
    await process.answer_all()
    _, again = await stage.screen(GENERAL)
    assert again.startswith("**Reminder: Which colour?**\n\nA question for Uma · ")
    assert again.endswith("[red]\n[green]\n[Answer…]")


async def test_a_stop_withdraws_it(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(ask()), [asker()])
    await tell(process)
    question = await only(any_stage)
    await process.stop(who=UMA, room=GENERAL)
    await process.answer_all()
    card, last = await any_stage.screen(GENERAL)
    assert card.startswith("⚪ **Withdrawn**, ")
    assert card.endswith("Which colour?\n\nA question for Uma\n\n> Stopped by Uma.")
    assert last == "Stopped by Uma."
    verdict = await process.click(question.id, Choice.FIRST, who=UMA, room=GENERAL)
    assert verdict.notice == "This question was withdrawn. Stopped by Uma."


async def test_two_answers_at_once_are_one(any_stage: Stage) -> None:
    model = Planned(ask(to="room"), end="painted")
    process = await any_stage.process(model, [asker()])
    await tell(process)
    question = (await only(any_stage)).id
    people = ((UMA, Choice.FIRST), (OTTO, Choice.SECOND), (ADA, Choice.FIRST), (ADA, Choice.SECOND))
    verdicts = await asyncio.gather(*(process.click(question, choice, who=who, room=GENERAL) for who, choice in people))
    await process.answer_all()
    assert sorted(verdict.outcome for verdict in verdicts) == [Outcome.DECIDED] + [Outcome.UNCHANGED] * 3
    assert len(results(model)) == 1
    assert await any_stage.answers(GENERAL) == ["painted"]


async def test_questions_to_people_and_approvals_go_up_together(stage: Stage) -> None:
    write = Call("c-write", "write", '{"text": "b"}')
    model = Planned((write, ask(to="room")), end="done")
    process = await stage.process(model, [asker(), fake_tool("write", Effect.WRITE)])
    await tell(process, who=ADA)
    first, second = await stage.pending()
    assert (first.kind, second.kind) == (ApprovalKind.CALL, ApprovalKind.ANSWER)
    await process.click(first.id, who=ADA, room=GENERAL)
    await process.answer_all()
    assert process.tools["write"].calls == []
    await process.click(second.id, Choice.FIRST, who=ADA, room=GENERAL)
    await process.answer_all()
    assert results(model) == ["write did it", 'Ada answered: "red"']


async def test_after_a_restore_it_is_asked_again(stage: Stage) -> None:
    model = Planned(ask(), end="painted")
    process = await stage.process(model, [asker()])
    await tell(process)
    old = await only(stage)
    now = stage.clock()
    await stage.store.driver.write(lambda: after_restore(Origin("b1", now, "1.0"), "test", now, new_id))
    process = await stage.process(model, [asker()])
    await process.answer_all()
    fresh = await only(stage)
    assert (fresh.id != old.id, fresh.kind) == (True, ApprovalKind.ANSWER)
    await process.click(fresh.id, Choice.FIRST, who=UMA, room=GENERAL)
    await process.answer_all()
    assert results(model) == ['Uma answered: "red"']


async def was_cut(life: Process) -> bool:
    """One life: it is said (once more), worked on, answered and worked on to the end, unless it is cut."""
    try:
        await life.say("paint it", who=UMA, room=GENERAL, key="e-paint")
        await life.answer_all()
        for question in await life.stage.pending():
            await life.click(question.id, Choice.SECOND, who=UMA, room=GENERAL, key="e-click")
        await life.answer_all()
    except Crash:
        return True
    except BaseExceptionGroup as group:
        if group.split(Crash)[1]:
            raise
        return True
    return False


POINTS: Final = (
    "accepted",
    "model-answered",
    "step-recorded",
    "approval-stored",
    "approval-decided",
    "delivery-stored",
)


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_any_step_asks_once_and_loses_no_answer(point: str, any_stage: Stage) -> None:
    model = Planned(ask(), end="painted")
    assert await was_cut(await any_stage.process(model, [asker()], probe=crash_at(point)))
    any_stage.clock.advance(LEASE)
    assert not await was_cut(await any_stage.process(model, [asker()]))
    assert results(model) == ['Uma answered: "green"']
    assert await any_stage.answers(GENERAL) == ["painted"]
    assert len(await any_stage.audit("approval asked")) == 1
    assert len(await any_stage.audit("approval answered")) == 1
    assert len(await any_stage.screen(GENERAL)) == 2


async def test_no_forged_stale_or_foreign_press_answers_for_anybody(stage: Stage) -> None:
    """A hundred presses left to chance, of which only those of the person asked count, once."""
    chance, model = random.Random(7), Planned(ask(to="Otto"), end="painted")
    process = await stage.process(model, [asker()])
    await tell(process)
    question = (await only(stage)).id
    for _ in range(100):
        who, room = chance.choice([ADA, UMA, VERA, STRANGER]), chance.choice([GENERAL, "r1", "r2"])
        await process.click(question, chance.choice([*Choice]), who=who, room=room)
    assert len(await stage.pending()) == 1
    await process.click(question, Choice.FIRST, who=OTTO, room=GENERAL)
    await process.answer_all()
    assert results(model) == ['Otto answered: "red"']
