"""Approvers ask the agent back about a call that waits: who may, what the model is told, what everybody reads of it."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.wiring.forms import Forms
from runtime.chat.cards.exchanges import PLAIN_QUESTION, QUESTIONS_MAX, USED_UP, Exchange
from runtime.contract import Addressing, Call, Choice, Form, ModelReply, Said, ToolTurn, Usage, UserTurn
from runtime.domain.ids import digest
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.store.approvals.asked_back.asking import ASKING
from runtime.store.approvals.decisions import MEANWHILE
from tests.contract.runtime.asked_back import (
    BECAUSE,
    GENERAL,
    Explaining,
    ask,
    card,
    kept,
    known_alone,
    only,
    shell,
    waiting,
)
from tests.contract.runtime.stage import ADA, OTTO, SHELL, STRANGER, UMA, VERA, Stage

# -------------------------------------------------------------------------------------------------------- what is told


async def test_the_question_and_the_answer_stand_beneath_the_card(any_stage: Stage) -> None:
    process = await waiting(any_stage)
    before = await card(any_stage)
    assert await ask(process, "What for?") == ASKING
    after = await card(any_stage)
    assert after == before.replace(
        "\n[Approve]", f"\n\n**Ada asked**: “What for?” The agent answered:\n\n> {BECAUSE}\n[Approve]"
    )
    assert await kept(any_stage) == [Exchange(1, "Ada", "What for?", BECAUSE)]
    assert await any_stage.rows("SELECT * FROM asked_back") == []


async def test_the_call_stays_frozen_and_open(any_stage: Stage) -> None:
    process = await waiting(any_stage)
    before = await only(any_stage)
    await ask(process)
    after = await only(any_stage)
    assert replace(after, card=before.card) == before
    assert process.tools["shell"].calls == []
    assert [run.state for run in await any_stage.runs()] == ["parked"]
    await process.click(after.id, room=GENERAL)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": "uname -a"}]
    assert await any_stage.answers(GENERAL) == ["done"]


async def test_an_empty_form_asks_the_plain_question(stage: Stage) -> None:
    process = await waiting(stage)
    for words in ("", "  ?  "):
        await ask(process, words)
    assert [one.question for one in await kept(stage)] == [PLAIN_QUESTION] * 2


async def test_the_model_gets_what_the_run_knew_and_is_told_that_it_explains(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model)
    signal = replace(any_stage.signal(Said("something else"), ADA, GENERAL), reach=Addressing.MENTION)
    model._plan = ()
    await process.reception.sink(signal)
    await process.answer_all()
    await ask(process, 'Is "uname" safe?', OTTO)
    [request] = model.asked
    *before, question = request.turns
    assert [type(turn).__name__ for turn in before] == ["UserTurn", "AssistantTurn", "ToolTurn"]
    assert not any("something else" in turn.text for turn in request.turns)
    assert isinstance(before[-1], ToolTurn)
    assert before[-1].text == "waiting for approval"
    assert isinstance(question, UserTurn)
    assert question.text.startswith(
        '[from Signalbox] Your call shell uname -a waits for people to decide. "Otto", who may'
    )
    assert '"Is \\"uname\\" safe?"' in question.text
    assert (request.words_only, [tool.name for tool in request.tools]) == (True, ["shell"])


async def test_nothing_of_it_enters_the_conversation(any_stage: Stage) -> None:
    process = await waiting(any_stage)
    before = await any_stage.rows("SELECT * FROM turns ORDER BY number")
    await ask(process, "What for?")
    assert await any_stage.rows("SELECT * FROM turns ORDER BY number") == before


async def test_a_call_in_the_answer_is_never_made(stage: Stage) -> None:
    call = Call("c-more", "shell", '{"command": "rm -rf /"}')
    model = Explaining(ModelReply("I look.", (call,), Usage("m")), call)
    process = await waiting(stage, model)
    await ask(process)
    assert "> I look." in await card(stage)
    await ask(process, "And now?")
    assert "No answer: the model gave no answer." in await card(stage)
    assert process.tools["shell"].calls == []
    [approval] = await stage.store.approvals.approvals()
    assert approval.arguments_hash == digest(SHELL.arguments)


async def test_what_the_model_writes_is_text_with_nothing_hidden_and_cut_where_it_is_long(stage: Stage) -> None:
    text = "**Approved** by Ada\u202e [x](https://evil.example)\n\n# Big\n" + "long " * 300
    process = await waiting(stage, Explaining(text))
    await ask(process)
    told = await card(stage)
    assert "> \\*\\*Approved\\*\\* by Ada⟨U+202E⟩ \\[x\\](https://evil.example)\n>\n> # Big" in told
    assert re.search(r"long l?o?n?g?…\n>\n> \(1,\d\d\d more characters, in a message of its own\)", told)
    assert (await kept(stage))[0].answer == text.strip()


async def test_a_card_shows_the_newest_two_and_counts_the_rest(stage: Stage) -> None:
    process = await waiting(stage, Explaining("one.", "two.", "three."))
    for question in ("A?", "B?", "C?"):
        await ask(process, question)
    told = await card(stage)
    assert "1 earlier answer is in a message of its own.\n\n**Ada asked**: “B?” The agent answered:\n\n> two." in told
    assert told.index("> two.") < told.index("> three.")
    assert "> one." not in told


async def test_a_copy_outside_the_room_says_only_where_the_answer_is(any_stage: Stage) -> None:
    await known_alone(any_stage)
    process = await waiting(any_stage, Explaining("It is about the secret plan."))
    await process.why((await only(any_stage)).id, "About the plan?", ADA, room="ada")
    await process.answer_all()
    copy = (await any_stage.screen("ada"))[-1]
    assert "Ada asked a question; the answer will be in #general." in copy
    await process.answerer.look()
    await process.answer_all()
    copy, home = (await any_stage.screen("ada"))[-1], await card(any_stage)
    assert "Ada asked a question; the answer is in #general." in copy
    assert "plan" not in copy
    assert "> It is about the secret plan." in home
    assert ("[This conversation]" in copy, "[Why?]" in copy) == (True, True)


async def test_where_the_rule_keeps_the_call_from_the_room_the_answer_is_on_the_console(any_stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("dm",)))
    await known_alone(any_stage)
    process = await waiting(any_stage, rules=[rule])
    await ask(process, "About the plan?", room="ada")
    assert "Ada asked a question; operators can read the answer on the console." in (await any_stage.screen("ada"))[-1]
    assert "plan" not in (await any_stage.screen("ada"))[-1] + await card(any_stage)
    assert (await kept(any_stage))[0].answer == BECAUSE


async def test_answers_stay_on_the_card_after_the_decision(any_stage: Stage) -> None:
    process = await waiting(any_stage)
    await ask(process)
    await process.click((await only(any_stage)).id, Choice.DENY, room=GENERAL)
    await process.answer_all()
    told = await card(any_stage)
    assert told.startswith("❌ **Denied** by Ada")
    assert told.endswith(f"**Ada asked**: “{PLAIN_QUESTION}” The agent answered:\n\n> {BECAUSE}")


# ------------------------------------------------------------------------------------------------------------ who may


async def test_only_who_may_decide_may_ask(any_stage: Stage) -> None:
    process = await waiting(any_stage)
    question, model = await only(any_stage), Explaining()
    process.ask(model)
    forms = Forms(any_stage.store, lambda: process.gate.rights)
    assert isinstance(await forms.open(question.id, Choice.WHY, OTTO), Form)
    for who in (UMA, VERA):
        words = "Only approvers can answer this."
        assert (await ask(process, "Why?", who)).startswith(words)
        assert str(await forms.open(question.id, Choice.WHY, who)).startswith(words)
    await process.why(question.id, "Why?", STRANGER, room=GENERAL)
    assert await process.why(question.id, "Why?", ADA, room="elsewhere") == "This question belongs to another room."
    assert (await kept(any_stage), model.asked) == ([], [])
    assert len(await any_stage.audit("click refused")) == 3


async def test_four_eyes_let_nobody_ask_about_their_own_request(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(four_eyes=True))
    process = await stage.process(Explaining(), [shell()], rules=[rule])
    await process.say("please", who=ADA)
    await process.answer_all()
    assert await ask(process, room="r1") == "Someone else has to answer: you asked for this yourself."
    assert await ask(process, who=OTTO, room="r1") == ASKING


async def test_after_five_questions_there_are_no_more(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model)
    for number in range(QUESTIONS_MAX):
        assert await ask(process, f"What about {number}?") == ASKING
    assert await ask(process, "And?") == USED_UP.format(number=QUESTIONS_MAX)
    forms = Forms(any_stage.store, lambda: process.gate.rights)
    assert await forms.open((await only(any_stage)).id, Choice.WHY, OTTO) == USED_UP.format(number=QUESTIONS_MAX)
    assert len(model.asked) == QUESTIONS_MAX


async def test_a_decided_question_is_not_asked_about(stage: Stage) -> None:
    process = await waiting(stage)
    question = await only(stage)
    await process.click(question.id, room=GENERAL)
    assert (await process.why(question.id, room=GENERAL)).startswith("This was already settled: approved by Ada")


async def test_a_call_that_changed_since_is_looked_at_again(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))
    process = await waiting(stage, rules=[rule])
    question = await only(stage)
    assert (await process.edit(question.id, OTTO, room=GENERAL, arguments='{"command": "uname"}')).outcome
    assert await process.why(question.id, room=GENERAL) == MEANWHILE
    await ask(process)
    told = await card(stage)
    assert "Otto approved: 1 of 2." in told
    assert f"> {BECAUSE}" in told


async def test_all_of_a_long_answer_comes_once_in_a_message_of_its_own(any_stage: Stage) -> None:
    """And a short one once the card has no more room for it."""
    long = "so that the *kernel* is known. " * 60
    process = await waiting(any_stage, Explaining("Short.", long, "Third."))
    for question in ("A?", "B?", "C?"):
        await ask(process, question)
    messages = await any_stage.answers(GENERAL)
    assert [message.partition(" The agent answered:")[0] for message in messages] == [
        "**Ada asked** about `shell`: “B?”",
        "**Ada asked** about `shell`: “A?”",
    ]
    whole = messages[0].partition("> ")[2]
    assert whole.replace("\\", "") == long.strip()
    assert messages[1].endswith("> Short.")


async def test_where_the_room_is_told_nothing_no_answer_comes_there(stage: Stage) -> None:
    await known_alone(stage)
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("dm",)))
    process = await waiting(stage, Explaining("so " * 400), rules=[rule])
    await ask(process, room="ada")
    assert await stage.answers(GENERAL) == []


async def test_a_listed_call_gets_a_card_of_its_own_for_the_answer(any_stage: Stage) -> None:
    calls = tuple(Call(f"c{n}", "shell", f'{{"command": "echo {n}"}}') for n in range(7))
    process = await waiting(any_stage, Explaining(plan=[calls]))
    one = [one for one in await any_stage.pending() if one.lead][1]
    assert await process.why(one.id, room=GENERAL) == ASKING
    await process.answerer.look()
    await process.answer_all()
    [told] = [card for card in await any_stage.screen(GENERAL) if BECAUSE in card]
    assert (one.arguments.split()[-1][:1] in told, "[Edit…]" in told) == (True, True)
    assert len([one for one in await any_stage.pending() if one.lead]) == 2
