"""Where two ways to say yes meet: none of them lets run what another one keeps back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from bot.testing.scripted import Scripted
from runtime.contract import Addressing, ApprovalId, Call, Choice, Clicked, Effect, Identity, Json, Said, Verdict
from runtime.domain.approvals import KEPT_FROM_HOME, Rights
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.stage import ADA, OTTO, READ, SHELL, UMA, WRITE, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned
from tools.asking import ASK_PERSON

NOTHING: Final[Mapping[str, str]] = {}
ALWAYS: Final = {"arguments": "command = *", "where": "everywhere", "until": "2026-03-20", "uses": ""}
MANY: Final = tuple(Call(f"c-{n}", "write", json.dumps({"path": f"{n}"})) for n in range(8))


def tools() -> list[FakeTool]:
    return [fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER), FakeTool(ASK_PERSON.spec)]


async def tell(process: Process, words: str = "do it", *, who: Identity = UMA) -> None:
    signal = replace(process.stage.signal(Said(words), who, "r1"), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def press(
    process: Process, approval: ApprovalId, choice: Choice, values: Mapping[str, str] = NOTHING, who: Identity = ADA
) -> Verdict:
    signal = process.stage.signal(Clicked(approval, choice, values.get("reason", ""), values), who, "r1", "")
    return await process.reception.sink(signal)


def called(process: Process) -> int:
    return sum(len(tool.calls) for tool in process.tools.values())


async def allowed_for_longer(stage: Stage, call: Call) -> Process:
    """One call ran, and may run again here unasked."""
    process = await stage.process(Planned(call), tools())
    await tell(process)
    [question] = await stage.pending()
    await press(process, question.id, Choice.CONVERSATION)
    await process.answer_all()
    assert called(process) == 1
    return process


async def test_a_read_only_conversation_denies_what_was_granted(any_stage: Stage) -> None:
    process = await allowed_for_longer(any_stage, SHELL)
    await tell(process, "/mode read-only", who=ADA)
    process.ask(Planned(SHELL))
    await tell(process)
    assert (called(process), await any_stage.pending()) == (1, [])
    assert await any_stage.audit("grant used") == []


async def test_a_plan_asks_about_what_was_granted_and_uses_nothing_up(any_stage: Stage) -> None:
    process = await allowed_for_longer(any_stage, WRITE)
    await tell(process, "/mode plan", who=ADA)
    process.ask(Planned(WRITE))
    await tell(process)
    assert (called(process), len(await any_stage.pending())) == (1, 1)
    assert await any_stage.audit("grant used") == []


@pytest.mark.parametrize("choice", [Choice.CONVERSATION, Choice.ALWAYS, Choice.ALL, Choice.UNDO])
async def test_a_listed_call_allows_nothing_further(stage: Stage, choice: Choice) -> None:
    process = await stage.process(Planned(MANY), tools())
    await tell(process)
    asked = await stage.pending()
    listed = [one for one in asked if one.lead]
    assert listed, "more calls than cards"
    for one in listed:
        verdict = await press(process, one.id, choice, {**ALWAYS, "argument": "x"})
        assert verdict.outcome.value == "unchanged", verdict
    await process.answer_all()
    assert (called(process), len(await stage.pending())) == (0, len(asked))
    assert list(await stage.store.approvals.grants()) == []


@pytest.mark.parametrize("choice", [Choice.FIRST, Choice.TEXT, Choice.UNDO, Choice.DONE, Choice.AGAIN, Choice.OTHER])
async def test_a_call_takes_no_answer_of_another_question(stage: Stage, choice: Choice) -> None:
    process = await stage.process(Planned(SHELL), tools())
    await tell(process)
    [question] = await stage.pending()
    verdict = await press(process, question.id, choice, {"reason": "yes"})
    assert verdict.outcome.value == "unchanged"
    await process.answer_all()
    assert (called(process), len(await stage.pending())) == (0, 1)


@pytest.mark.parametrize(
    "choice", [Choice.APPROVE, Choice.EDIT, Choice.CONVERSATION, Choice.ALWAYS, Choice.ALL, Choice.DONE, Choice.USER]
)
async def test_a_question_to_a_person_is_approved_by_nobody(stage: Stage, choice: Choice) -> None:
    question = Call("c-ask", "ask_person", json.dumps({"question": "Tea?", "options": ["yes", "no"]}))
    process = await stage.process(Planned(question), tools())
    await tell(process)
    [asked] = await stage.pending()
    for who in (UMA, ADA):
        verdict = await press(process, asked.id, choice, {**ALWAYS, "argument": "{}"}, who)
        assert verdict.outcome.value == "unchanged"
    assert len(await stage.pending()) == 1
    assert list(await stage.store.approvals.grants()) == []


async def test_a_card_from_before_a_change_approves_nothing_and_grants_nothing(stage: Stage) -> None:
    """Its id names a change that is not the last one: whoever presses it has not seen what would run."""
    process = await stage.process(Planned((SHELL, WRITE)), tools())
    await tell(process)
    for one in await stage.pending():
        for choice in (Choice.ALL, Choice.CONVERSATION, Choice.APPROVE):
            verdict = await press(process, ApprovalId(f"{one.id}~7"), choice)
            assert verdict.outcome.value == "unchanged"
    await process.answer_all()
    assert (called(process), len(await stage.pending())) == (0, 2)
    assert list(await stage.store.approvals.grants()) == []


async def test_approve_all_approves_no_call_that_its_room_was_not_shown(any_stage: Stage) -> None:
    """One rule keeps its call from the room; whoever presses there has not seen it, and may decide it elsewhere."""
    kept = Call("c-kept", "write", json.dumps({"path": "kept"}))
    rules = [Rule(Ruling.ASK, "write", asking=Changes(to=("dm",)))]
    process = await any_stage.process(Planned(end="hello"), tools(), rules=rules)
    await process.say("hi", who=ADA, room="ada")
    await process.answer_all()
    process.ask(Planned((kept, SHELL)))
    await tell(process)
    first, last = await any_stage.pending()
    assert KEPT_FROM_HOME in first.card
    for choice in (Choice.APPROVE, Choice.DENY, Choice.CONVERSATION, Choice.ALWAYS, Choice.WHY, Choice.EDIT):
        verdict = await press(process, first.id, choice, {**ALWAYS, "arguments": '{"path": "x"}'})
        assert verdict.notice == "This question belongs to another room."
    verdict = await press(process, last.id, Choice.ALL, who=OTTO)
    assert verdict.notice == "You approved 1 call. 1 question stays open. This question belongs to another room."
    await process.answer_all()
    assert [one.id for one in await any_stage.pending()] == [first.id]
    verdict = await process.click(first.id, who=ADA, room="ada")
    assert verdict.outcome.value == "decided"
    await process.answer_all()
    assert called(process) == 2


async def test_a_grant_lets_nobody_approve_what_they_asked_for_by_joining(any_stage: Stage) -> None:
    """Where nobody approves their own requests: Otto allowed a call of Uma's, and now steers her run."""
    more = [*tools(), fake_tool("look", Effect.READ)]
    process = await any_stage.process(Planned(WRITE), more, rights=Rights(self_approval=False))
    await tell(process)
    [question] = await any_stage.pending()
    await press(process, question.id, Choice.CONVERSATION, who=OTTO)
    await process.answer_all()
    process.ask(Planned(WRITE))
    await tell(process)
    assert (called(process), await any_stage.pending()) == (2, []), "the grant holds for Uma"
    process.ask(Scripted([READ, WRITE, "done"]))

    async def joined(_: Mapping[str, Json]) -> str:
        signal = replace(any_stage.signal(Said("write b"), OTTO, "r1"), reach=Addressing.MENTION)
        await process.reception.sink(signal)
        return "seen"

    process.tools["look"].does = joined
    await tell(process)
    assert (len(process.tools["write"].calls), len(await any_stage.pending())) == (2, 1)


async def test_another_room_is_not_told_how_a_question_ended(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), tools())
    await tell(process)
    [question] = await stage.pending()
    await press(process, question.id, Choice.DENY, {"reason": "the merger"})
    verdict = await process.click(question.id, who=OTTO, room="elsewhere")
    assert verdict.notice == "This question belongs to another room."
