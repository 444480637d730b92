"""Approvers ask the agent back about a call that waits: who may, what the model is told, what everybody reads of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.wiring.forms import Forms
from runtime.agent.duties.answering import NO_CALLS_LEFT
from runtime.agent.registry import Limits
from runtime.chat.audience import Places
from runtime.chat.cards.exchanges import PLAIN_QUESTION, QUESTIONS_MAX, USED_UP, Exchange, exchanges
from runtime.contract import (
    Addressing,
    Call,
    Choice,
    Effect,
    Form,
    Identity,
    ModelReply,
    ModelRequest,
    NodeId,
    OnText,
    Outcome,
    Said,
    ToolTurn,
    Usage,
    UserTurn,
)
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.ids import digest, new_id
from runtime.errors import ModelFailed
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.store.approvals.asked_back.asking import ASKING, AT_IT
from runtime.store.approvals.decisions import MEANWHILE
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    SHELL,
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
from tests.fakes.models import Answer, held

GENERAL: Final = "general"
NAMED: Final = Places(room_name=lambda address: f"#{address.room}" if address.room == GENERAL else "")
BECAUSE: Final = "You asked for the kernel's name."


class Explaining(Planned):
    """Makes its plan; where words alone are wanted it gives the explanations, and then the first again."""

    def __init__(self, *explanations: Answer, plan: Sequence[Call | tuple[Call, ...]] = (SHELL,)) -> None:
        super().__init__(*plan, end="done")
        self.explanations = list(explanations) or [BECAUSE]
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if not request.words_only:
            return await super().reply(request, on_text)
        self.asked.append(request)
        now = self.explanations.pop(0) if len(self.explanations) > 1 else self.explanations[0]
        return await self._give(now, request, on_text)


def shell() -> FakeTool:
    return fake_tool("shell", Effect.DANGER)


async def waiting(stage: Stage, model: Explaining | None = None, *, room: str = GENERAL, **setting: Any) -> Process:
    """Uma asked for a call in a room of several people, which waits for a decision."""
    process = await stage.process(model or Explaining(), [shell()], places=NAMED, **setting)
    signal = replace(stage.signal(Said("the kernel, please"), UMA, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()
    return process


async def known_alone(stage: Stage) -> None:
    """Ada wrote to the agent alone, so she can be asked there."""
    process = await stage.process(Planned())
    await process.say("hi", who=ADA, room="ada")
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


async def ask(process: Process, question: str = "", who: Identity = ADA, *, room: str = GENERAL) -> str:
    """Somebody asks, and all that follows; what they alone are told."""
    notice = await process.why((await only(process.stage)).as_shown, question, who, room=room)
    await process.answerer.look()
    await process.answer_all()
    return notice


async def card(stage: Stage, room: str = GENERAL) -> str:
    return (await stage.screen(room))[0]


async def kept(stage: Stage) -> list[Exchange]:
    [approval] = await stage.store.approvals.approvals()
    return exchanges(approval.card)


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
    assert await ask(process, "And?") == USED_UP
    forms = Forms(any_stage.store, lambda: process.gate.rights)
    assert await forms.open((await only(any_stage)).id, Choice.WHY, OTTO) == USED_UP
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


# ----------------------------------------------------------------------------------------------------- once, and limits


async def test_a_repeated_press_asks_once(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model)
    question = await only(any_stage)
    assert await process.why(question.id, "Why?", room=GENERAL, key="e-once") == ASKING
    await process.why(question.id, "Why?", room=GENERAL, key="e-once")
    assert await process.why(question.id, "Why?", room=GENERAL) == AT_IT
    await process.answerer.look()
    assert (len(await kept(any_stage)), len(model.asked)) == (1, 1)


async def test_two_who_ask_at_once_both_have_their_answer(any_stage: Stage) -> None:
    process = await waiting(any_stage, Explaining("one.", "two."))
    question = await only(any_stage)
    asking = (process.why(question.id, "Why?", who, room=GENERAL) for who in (ADA, OTTO))
    assert await asyncio.gather(*asking) == [ASKING, ASKING]
    await asyncio.gather(*(process.answerer.look() for _ in range(3)))
    await process.answer_all()
    found = await kept(any_stage)
    assert {(one.number, one.by) for one in found} in ({(1, "Ada"), (2, "Otto")}, {(1, "Otto"), (2, "Ada")})
    assert sorted(one.answer for one in found) == ["one.", "two."]
    told = await card(any_stage)
    assert "> one." in told
    assert "> two." in told


async def test_a_question_of_two_nodes_is_answered_by_one(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model)
    await process.why((await only(any_stage)).id, room=GENERAL)
    other, lease = (
        process._make_answerer(),
        await any_stage.store.cluster.join(NodeId(new_id()), "b", LEASE, alone=False),
    )
    other._node = lambda: lease.node
    [found] = await any_stage.store.approvals.to_answer(process.lease.node)
    assert await any_stage.store.approvals.begin_answer(found, process.lease.node)
    assert await any_stage.store.approvals.begin_answer(found, lease.node) is None
    assert await any_stage.store.approvals.to_answer(lease.node) == ()
    await other.look()
    assert model.asked == []
    await process.answerer.look()
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("point", "asked"),
    [("accepted", 1), ("answer-begun", 1), ("answer-made", 2), ("answer-kept", 1)],
)
async def test_a_kill_loses_no_question_and_answers_it_once(point: str, asked: int, any_stage: Stage) -> None:
    model = Explaining("one.", "two.")
    before = await waiting(any_stage, model)
    question = await only(any_stage)
    before._given = replace(before._given, probe=crash_at(point))
    before.reception, before.answerer = before._make_reception(), before._make_answerer()

    async def dies() -> None:
        await before.why(question.id, "Why?", room=GENERAL, key="e-why")
        await before.answerer.look()

    with pytest.raises(Crash):
        await dies()
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(model, [shell()], places=NAMED)
    await after.why(question.id, "Why?", room=GENERAL, key="e-why")
    for _ in range(2):
        await after.answerer.look()
    await after.answer_all()
    [one] = await kept(any_stage)
    assert (one.question, one.answer) == ("Why?", "two." if asked > 1 else "one.")
    assert len(model.asked) == asked
    assert len(await any_stage.audit("asked back answered")) == 1
    assert (await card(any_stage)).count("The agent answered:") == 1


async def test_an_answer_that_comes_after_the_decision_stands_beneath_what_was_decided(any_stage: Stage) -> None:
    late = held("Too late.")
    process = await waiting(any_stage, Explaining(late))
    question = await only(any_stage)
    await process.why(question.id, room=GENERAL)
    async with asyncio.TaskGroup() as group:
        answering = group.create_task(process.answerer.look())
        await late.begun.wait()
        await process.click(question.id, room=GENERAL)
        await process.answer_all()
        assert process.tools["shell"].calls == [{"command": "uname -a"}]
        late.until.set()
        await answering
    await process.answer_all()
    told = await card(any_stage)
    assert told.startswith("✅ **Approved** by Ada")
    assert "The agent answered:\n\n> Too late." in told
    assert await any_stage.answers(GENERAL) == ["done"]
    [run] = await any_stage.runs()
    numbers = await any_stage.rows("SELECT number, kind FROM steps WHERE run_id = :run ORDER BY number", run=run.id)
    assert numbers == [(1, "model"), (2, "tool"), (3, "model"), (4, "model")]


async def test_a_question_decided_before_its_answer_began_costs_nothing(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model)
    question = await only(any_stage)
    await process.why(question.id, room=GENERAL)
    await process.click(question.id, Choice.DENY, room=GENERAL)
    await process.answerer.look()
    await process.answer_all()
    assert model.asked == []
    assert "No answer: it was already decided." in await card(any_stage)


async def test_a_model_that_fails_is_told_and_may_be_asked_again(any_stage: Stage) -> None:
    model = Explaining(ModelFailed("The model is overloaded."), BECAUSE)
    process = await waiting(any_stage, model)
    await ask(process)
    assert "No answer: The model is overloaded." in await card(any_stage)
    assert await ask(process) == ASKING
    assert [(one.number, one.answer) for one in await kept(any_stage)] == [(2, BECAUSE)]
    assert "No answer" not in await card(any_stage)


async def test_a_model_that_never_answers_is_given_up(stage: Stage) -> None:
    process = await waiting(stage, Explaining(held("never")), limits=Limits(model_time=timedelta(seconds=0.05)))
    await ask(process)
    assert "No answer: the model gave no answer within" in await card(stage)


async def test_a_bug_in_a_model_is_told_in_our_words(stage: Stage) -> None:
    process = await waiting(stage, Explaining(RuntimeError("secret")))
    await ask(process)
    assert "No answer: that failed unexpectedly. Ask again." in await card(stage)


async def test_an_answer_costs_the_run_a_call_and_whoever_asked_for_it_the_money(any_stage: Stage) -> None:
    reply = ModelReply(BECAUSE, (), Usage("m", 10, 20, 300))
    process = await waiting(any_stage, Explaining(reply))
    await ask(process)
    [run] = await any_stage.runs()
    assert run.iterations == 2
    spent = "SELECT u.step, p.name, u.input_tokens, u.output_tokens, u.cost_micros FROM usage u JOIN people p ON p.id = u.person_id"
    assert await any_stage.rows(f"{spent} WHERE u.model = 'm'") == [(3, "Uma", 10, 20, 300)]
    steps = await any_stage.rows("SELECT number, kind, result FROM steps ORDER BY number")
    assert steps[-1] == (3, "model", "it answered Ada, who asked about shell")


async def test_a_run_keeps_the_last_of_its_calls_for_itself(any_stage: Stage) -> None:
    model = Explaining()
    process = await waiting(any_stage, model, limits=Limits(iterations=3))
    await ask(process, "One?")
    await ask(process, "Two?")
    assert len(model.asked) == 1
    assert f"No answer: {NO_CALLS_LEFT}" in await card(any_stage)
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.answer_all()
    assert await any_stage.answers(GENERAL) == ["done"]


async def test_the_lane_serves_others_while_the_agent_answers(any_stage: Stage) -> None:
    slow = held(BECAUSE)
    model = Explaining(slow)
    process = await waiting(any_stage, model)
    await process.why((await only(any_stage)).id, room=GENERAL)
    async with process.beside(process.answerer.run()):
        await asyncio.wait_for(slow.begun.wait(), 10)
        model._plan = ()
        signal = replace(any_stage.signal(Said("meanwhile"), ADA, GENERAL), reach=Addressing.MENTION)
        await process.reception.sink(signal)
        await process.answer_all()
        assert await any_stage.answers(GENERAL) == ["done"]
        assert (await only(any_stage)).state is ApprovalState.PENDING
        slow.until.set()
        while not await any_stage.audit("asked back answered"):  # noqa: ASYNC110 - no event tells of a row
            await asyncio.sleep(0.01)


async def test_a_press_is_heard_at_once_and_slow_answers_stop_no_others(stage: Stage) -> None:
    slow = held("slow")
    process = await waiting(stage, Explaining(slow, "fast"))
    question = await only(stage)
    async with process.beside(process.answerer.run()), asyncio.timeout(30):
        await process.why(question.id, "Slow?", room=GENERAL)
        await slow.begun.wait()
        await process.why(question.id, "Fast?", OTTO, room=GENERAL)
        while [one.answer for one in await kept(stage)] != ["", "fast"]:  # noqa: ASYNC110 - no event tells of a row
            await asyncio.sleep(0.01)


async def test_a_node_whose_lease_is_over_answers_nothing(stage: Stage) -> None:
    model = Explaining()
    process = await waiting(stage, model)
    await process.why((await only(stage)).id, room=GENERAL)
    process.fresh = False
    await process.answerer.look()
    assert model.asked == []
    process.fresh = True
    await process.answerer.look()
    assert len(model.asked) == 1


async def test_what_was_open_before_a_backup_is_asked_about_anew_without_its_open_question(stage: Stage) -> None:
    model = Explaining()
    process = await waiting(stage, model)
    await ask(process, "Before?")
    await process.why((await only(stage)).id, "Open?", room=GENERAL)
    now = stage.clock()
    await stage.store.driver.write(lambda: after_restore(Origin("b1", now, "1.0"), "test", now, new_id))
    process = await stage.process(model, [shell()], places=NAMED)
    await process.answerer.look()
    await process.answer_all()
    assert [one.question for one in exchanges((await only(stage)).card)] == ["Before?"]
    assert len(model.asked) == 1
    assert await stage.rows("SELECT * FROM asked_back") == []


async def test_asking_is_unchanged_for_the_question_and_said_to_the_asker(stage: Stage) -> None:
    process = await waiting(stage)
    verdict = await process.click((await only(stage)).id, Choice.WHY, room=GENERAL)
    assert (verdict.outcome, verdict.notice, verdict.form_stays) == (Outcome.UNCHANGED, ASKING, False)
