"""Questions to people: what goes up, who may answer, and what an answer does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import pytest

from runtime.agent.duties.expiry import Expiry
from runtime.agent.registry import Limits
from runtime.contract import ApprovalId, Call, Choice, Effect, Identity, Outcome, ToolTurn
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.policy.matchers import Commands
from runtime.policy.rules import Policy, Rule, Ruling
from tests.contract.runtime.stage import (
    ADA,
    ANYONE,
    OTTO,
    READ,
    SHELL,
    STRANGER,
    UMA,
    VERA,
    WRITE,
    FakeTool,
    Process,
    Stage,
    fake_tool,
)
from tests.contract.runtime.strict import Planned

WRITE_2 = Call("c-write-2", "write", '{"text": "c"}')
ALONE = Rights(self_approval=False)
ONLY_OTTO = Rights(approvers=frozenset({OTTO}))


def tools() -> list[FakeTool]:
    return [fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)]


def results(model: Planned) -> list[str]:
    """What the model read last as results."""
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def asked(process: Process, *, who: Identity = ADA) -> ApprovalId:
    """Someone asked for a dangerous call; its question."""
    await process.say("run uname", who=who)
    await process.answer_all()
    [question] = await process.stage.pending()
    return question.id


# ------------------------------------------------------------------------------------------------- asked and decided


async def nothing() -> None:
    """There is a hand-moved clock here, which nobody sets."""


async def test_allowed_calls_run_and_all_questions_go_up_together(any_stage: Stage) -> None:
    """Scenario 21."""
    model = Planned((READ, WRITE, SHELL), end="done")
    process = await any_stage.process(model, tools())
    await process.say("do all of it")
    await process.answer_all()
    assert [question.tool for question in await any_stage.pending()] == ["write", "shell"]
    assert len(process.tools["look"].calls) == 1
    assert len(await any_stage.screen()) == 2


async def test_the_run_goes_on_when_all_its_questions_are_decided_and_not_before(any_stage: Stage) -> None:
    """Scenario 21."""
    model = Planned((WRITE, WRITE_2), end="done")
    process = await any_stage.process(model, tools())
    await process.say("write both")
    await process.answer_all()
    first, second = await any_stage.pending()
    await process.click(first.id)
    await process.answer_all()
    assert process.tools["write"].calls == []
    await process.click(second.id, Choice.DENY)
    await process.answer_all()
    assert process.tools["write"].calls == [{"text": "b"}]
    assert await any_stage.answers() == ["done"]


async def test_an_approved_call_runs_once_with_exactly_its_arguments(stage: Stage) -> None:
    """Scenario 21."""
    model = Planned(SHELL, end="Linux")
    process = await stage.process(model, tools())
    question = await asked(process)
    assert (await process.click(question)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": "uname -a"}]
    assert await stage.answers() == ["Linux"]


async def test_a_denial_with_its_reason_is_told_to_the_model_and_the_run_goes_on(stage: Stage) -> None:
    """Scenario 21."""
    model = Planned(SHELL, end="then not")
    process = await stage.process(model, tools())
    await process.click(await asked(process), Choice.DENY, "not on this machine")
    await process.answer_all()
    assert process.tools["shell"].calls == []
    assert results(model) == [
        "denied: denied by Ada (not on this machine). It was not run; do not try the same call again unless you are "
        "asked to."
    ]
    assert await stage.answers() == ["then not"]


async def test_the_card_shows_the_call_and_its_buttons(stage: Stage) -> None:
    """Scenario 21."""
    process = await stage.process(Planned(SHELL), tools())
    await asked(process)
    [card] = await stage.screen()
    assert card == (
        "**May I run `shell`?**\n\nAda asks · shell · danger · expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) "
        "(in 12\u00a0h)\n\n“run uname”\n\n```\nuname -a\n```\n[Approve]\n[Deny]\n[Edit…]\n[Why?]\n[This conversation]\n[Always…]"
    )


async def test_the_card_then_says_who_when_and_what_and_has_no_buttons(stage: Stage) -> None:
    """Scenario 21."""
    process = await stage.process(Planned(SHELL), tools())
    await process.click(await asked(process))
    await process.answer_all()
    card, _ = await stage.screen()
    assert card == (
        "✅ **Approved** by Ada, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): `shell` · done at once\n\n"
        "Ada asked · shell · danger\n\n```\nuname -a\n```\n\nResult:\n\n```\nshell did it\n```"
    )


async def test_an_approved_call_still_obeys_a_policy_that_asks_about_the_next_one(stage: Stage) -> None:
    """Scenario 25: an approval is for its own call."""
    process = await stage.process(Planned(SHELL, SHELL), tools())
    await process.click(await asked(process))
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1
    assert len(await stage.pending()) == 1


async def test_two_sessions_do_not_wait_for_each_others_questions(stage: Stage) -> None:
    """Scenario 24."""
    process = await stage.process(Planned(SHELL), tools())
    await asked(process)
    process.ask(Planned(end="hello"))
    await process.say("hi", room="r2")
    await process.answer_all()
    assert await stage.answers("r2") == ["hello"]


async def test_a_decision_through_another_process_resumes_the_run_there(any_stage: Stage) -> None:
    """Scenario 23."""
    model = Planned(SHELL, end="Linux")
    question = await asked(await any_stage.process(model, tools()))
    any_stage.clock.advance(timedelta(hours=2))
    elsewhere = await any_stage.process(model, tools())
    await elsewhere.click(question)
    await elsewhere.answer_all()
    assert len(elsewhere.tools["shell"].calls) == 1
    assert await any_stage.answers() == ["Linux"]


async def test_a_question_nobody_answers_expires_and_the_model_is_told(stage: Stage) -> None:
    """Scenario 24."""
    model = Planned(SHELL, end="then not")
    process = await stage.process(model, tools(), limits=Limits(approval_time=timedelta(hours=12)))
    await asked(process)
    stage.clock.advance(timedelta(hours=12))
    expiry = Expiry(
        approvals=stage.store.approvals,
        decided=process.reception.decided,
        now=stage.clock,
        first=nothing,
        remind=process.reminders.look,
        every=timedelta(),
    )
    async with process.running():
        async with process.beside(expiry.run()):
            while await stage.pending():
                pass
        await process.rest()
    assert results(model)[0].startswith("denied: expired (nobody answered in time).")
    assert (await stage.screen())[0].startswith("⌛ **Expired**")
    assert await stage.answers() == ["then not"]


async def test_a_clock_that_is_set_between_its_look_and_the_end_ends_no_question(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL, end="then"), tools(), limits=Limits(approval_time=timedelta(hours=12)))
    await asked(process)
    looked = asyncio.Event()
    turns = 0

    async def first() -> None:
        """The clock is set at the end of the first look; the second one sees to what waits."""
        nonlocal turns
        turns += 1
        if turns == 1:
            stage.clock.advance(timedelta(hours=20))
        else:
            looked.set()
            await asyncio.Event().wait()

    expiry = Expiry(
        approvals=stage.store.approvals,
        decided=process.reception.decided,
        now=stage.clock,
        first=first,
        remind=process.reminders.look,
        every=timedelta(),
    )
    async with process.beside(expiry.run()):
        await looked.wait()
        assert await stage.pending()


# ------------------------------------------------------------------------------------------------- clicks in vain


@dataclass(frozen=True)
class Vain:
    """A click that must change nothing, and what the one who clicked is told."""

    told: str
    who: Identity = ADA
    room: str = "r1"
    choice: Choice = Choice.APPROVE
    asker: Identity = ADA
    rights: Rights = ANYONE
    forged: bool = False


VAIN = {
    "a stranger": Vain("I don't know you", who=STRANGER),
    "a viewer": Vain("Only approvers can answer this.", who=VERA),
    "a user": Vain("Only approvers can answer this.", who=UMA),
    "the user who asked": Vain("Only approvers can answer this.", who=UMA, asker=UMA),
    "a user who is an approver, on a dangerous call": Vain(
        "Only an operator or owner", who=UMA, rights=Rights(approvers=frozenset({UMA}))
    ),
    "an owner who is no approver": Vain("Only approvers can answer this.", rights=ONLY_OTTO),
    "the requester where self-approval is off": Vain("Someone else has to answer", rights=ALONE),
    "from another room": Vain("belongs to another room", room="r2"),
    "with a forged id": Vain("can't find this question", forged=True),
    "with an answer that the question has not": Vain("isn't one of the answers", choice=Choice.AGAIN),
}


@pytest.mark.parametrize("vain", VAIN.values(), ids=VAIN.keys())
async def test_a_click_that_does_not_count_changes_nothing_and_says_why(vain: Vain, stage: Stage) -> None:
    """Scenario 22: nothing runs, a private explanation, an audit row."""
    process = await stage.process(Planned(SHELL), tools(), rights=vain.rights)
    question = await asked(process, who=vain.asker)
    clicked = ApprovalId(new_id()) if vain.forged else question
    verdict = await process.click(clicked, vain.choice, who=vain.who, room=vain.room)
    await process.answer_all()
    assert verdict.outcome in (Outcome.UNCHANGED, Outcome.REFUSED)
    assert vain.told in (verdict.notice or "")
    assert [pending.id for pending in await stage.pending()] == [question]
    assert process.tools["shell"].calls == []
    [(_, subject, why)] = await stage.audit("click refused") + await stage.audit("refused")
    assert (subject, why) == (clicked, verdict.notice)


async def test_a_second_click_changes_nothing_and_is_told_who_was_first(any_stage: Stage) -> None:
    """Scenario 22."""
    process = await any_stage.process(Planned(SHELL), tools())
    question = await asked(process)
    await process.click(question, Choice.DENY, who=OTTO)
    verdict = await process.click(question, who=ADA)
    await process.answer_all()
    assert (verdict.outcome, verdict.notice) == (
        Outcome.UNCHANGED,
        "This was already settled: denied by Otto, just now.",
    )
    assert process.tools["shell"].calls == []
    assert len(await any_stage.audit("click refused")) == 1


@pytest.mark.parametrize("swept", [False, True])
async def test_a_click_after_its_time_changes_nothing(swept: bool, stage: Stage) -> None:
    """Scenario 22: whether or not anyone looked for overdue questions since."""
    process = await stage.process(Planned(SHELL), tools())
    question = await asked(process)
    stage.clock.advance(timedelta(hours=12))
    if swept:
        await stage.store.approvals.expire()
    verdict = await process.click(question)
    await process.answer_all()
    assert verdict.outcome is Outcome.UNCHANGED
    assert "expired" in (verdict.notice or "")
    assert process.tools["shell"].calls == []
    assert len(await stage.audit("click refused")) == 1


async def test_a_click_on_an_older_card_does_not_decide_the_newer_one(stage: Stage) -> None:
    """Scenario 22."""
    process = await stage.process(Planned(SHELL, SHELL), tools())
    older = await asked(process)
    await process.click(older)
    await process.answer_all()
    [newer] = await stage.pending()
    assert (await process.click(older)).outcome is Outcome.UNCHANGED
    await process.answer_all()
    assert [question.id for question in await stage.pending()] == [newer.id]
    assert len(process.tools["shell"].calls) == 1


async def test_one_click_event_delivered_twice_decides_once(stage: Stage) -> None:
    """Scenario 22."""
    process = await stage.process(Planned(SHELL), tools())
    question = await asked(process)
    await process.click(question, key="click-1")
    assert (await process.click(question, key="click-1")).outcome is Outcome.DUPLICATE
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1


async def test_a_user_may_approve_what_is_not_dangerous_where_approvers_name_them(stage: Stage) -> None:
    """Scenario 22's other side."""
    process = await stage.process(Planned(WRITE), tools(), rights=Rights(approvers=frozenset({UMA})))
    await process.say("write it")
    await process.answer_all()
    [question] = await stage.pending()
    assert (await process.click(question.id, who=UMA)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(process.tools["write"].calls) == 1


# ----------------------------------------------------------------------------------------------- policy at work


async def test_policy_decides_by_what_is_asked_who_asks_and_where(stage: Stage) -> None:
    """A rule for one person in one room lets that call run at once, and no other."""
    rules = [Rule(Ruling.ALLOW, tool="shell", person="Ada", room="page:main/r1", arguments={"command": "uname*"})]
    process = await stage.process(Planned(SHELL), tools(), rules=rules)
    for who, room in [(ADA, "r1"), (ADA, "r2"), (OTTO, "r1")]:
        await process.say(f"run uname, says {who}", who=who, room=room)
        await process.answer_all()
    assert len(process.tools["shell"].calls) == 1
    assert len(await stage.pending()) == 2
    assert await stage.states() == [RunState.DONE, RunState.PARKED, RunState.PARKED]


# ----------------------------------------------------------------------------------- a rule that came after the question

NO_SHELL: Final = Rule(
    Ruling.DENY, "shell", where={"command": Commands((("uname",),))}, name="no uname", reason="Kernels are Ann's"
)


async def refused_by_the_rule(process: Process) -> None:
    """The call was not made, and everybody reads which rule denies it."""
    stage = process.stage
    assert process.tools["shell"].calls == []
    [card] = [body for body in await stage.screen() if "Approved" in body]
    assert "not run: the rule 'no uname' doesn't allow it any more: Kernels are Ann's" in card
    assert "[Approve]" not in card
    [(result,)] = await stage.rows("SELECT text FROM turns WHERE role = 'tool'")
    assert result.startswith("denied: the rule 'no uname' no longer allows it. Kernels are Ann's. It was")
    [(_, subject, detail)] = await stage.audit("call refused by a rule")
    assert subject.endswith("/2")
    assert detail.endswith("the rule 'no uname'")
    assert await stage.states() == [RunState.DONE]


async def test_a_rule_that_denies_by_now_stops_an_approved_call(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("please")
    await process.answer_all()
    [question] = await any_stage.pending()
    process.policy = Policy([NO_SHELL])
    assert (await process.click(question.id)).outcome is Outcome.DECIDED
    await process.answer_all()
    await refused_by_the_rule(process)


async def test_a_rule_of_the_next_start_stops_a_call_that_was_approved_before(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("please")
    await process.answer_all()
    [question] = await any_stage.pending()
    assert (await process.click(question.id)).outcome is Outcome.DECIDED
    process = await any_stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)], rules=[NO_SHELL])
    await process.answer_all()
    await refused_by_the_rule(process)


async def test_a_rule_that_denies_another_call_stops_nothing(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("please")
    await process.answer_all()
    [question] = await stage.pending()
    process.policy = Policy([replace(NO_SHELL, where={"command": Commands((("git", "push"),))})])
    await process.click(question.id)
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1


async def test_a_veto_behind_a_rule_that_allows_stops_an_approved_call(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [fake_tool("shell", Effect.DANGER)])
    await process.say("please")
    await process.answer_all()
    [question] = await stage.pending()
    process.policy = Policy([Rule(Ruling.ALLOW), replace(NO_SHELL, ruling=Ruling.VETO)])
    await process.click(question.id)
    await process.answer_all()
    await refused_by_the_rule(process)
