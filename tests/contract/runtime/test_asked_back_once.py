"""A question back is answered once, whatever else happens, and within limits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.testing.scripted import held
from runtime.agent.duties.answering import NO_CALLS_LEFT
from runtime.agent.registry import Limits
from runtime.chat.cards.exchanges import exchanges
from runtime.contract import Addressing, Choice, ModelReply, NodeId, Outcome, Said, Usage
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import new_id
from runtime.errors import ModelFailed
from runtime.store.approvals.asked_back.asking import ASKING, AT_IT
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.asked_back import BECAUSE, GENERAL, NAMED, Explaining, ask, card, kept, only, shell, waiting
from tests.contract.runtime.stage import ADA, LEASE, OTTO, PATIENCE, Crash, Stage, crash_at


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
        await asyncio.wait_for(slow.begun.wait(), PATIENCE)
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
