"""An approver changes a call before it runs: what is asked, what runs, and what everybody is told of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final

import pytest

from bot.wiring.forms import Forms
from runtime.contract import (
    ApprovalId,
    Call,
    Choice,
    Effect,
    Form,
    Identity,
    Json,
    Outcome,
    ToolSpec,
    ToolTurn,
    Verdict,
)
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.ids import digest
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    OUR_WORDS,
    SHELL,
    STRANGER,
    UMA,
    VERA,
    Crash,
    FakeTool,
    Process,
    Stage,
    crash_at,
)
from tests.contract.runtime.strict import Planned

COMMAND: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"command": {"type": "string", "minLength": 1}},
    "required": ["command"],
    "additionalProperties": False,
}
SEND: Final = Call("c-send", "send", '{"room": "general", "count": 2}')
SENDS: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"room": {"type": "string", "pattern": "^(a+)+$"}, "count": {"type": "integer", "maximum": 9}},
    "required": ["room"],
}
CHANGED: Final = "uname -r"


def tools() -> list[FakeTool]:
    shell, send = (
        ToolSpec("shell", "Runs.", COMMAND, Effect.DANGER, flow=OUR_WORDS),
        ToolSpec("send", "Sends.", SENDS, Effect.WRITE),
    )
    return [FakeTool(shell), FakeTool(send)]


async def asked(stage: Stage, call: Call = SHELL, *, who: Identity = ADA, **more: Any) -> tuple[Process, Approval]:
    """Somebody asked for a call; its question."""
    process = await stage.process(Planned(call, end="done"), tools(), **more)
    await process.say("please", who=who)
    await process.answer_all()
    [question] = await stage.pending()
    return process, question


def ran(process: Process) -> list[Mapping[str, Json]]:
    return [call for tool in process.tools.values() for call in tool.calls]


async def now(stage: Stage, approval: ApprovalId) -> Approval:
    found = await stage.store.approvals.approval(approval)
    assert found is not None
    return found


async def result(stage: Stage) -> str:
    """What the model reads as the call's result."""
    [(session,)] = await stage.rows("SELECT DISTINCT session FROM turns")
    [text] = [turn.text for turn in await stage.store.runs.turns(session) if isinstance(turn, ToolTurn)]
    return text


async def refused(process: Process, question: Approval, words: str, who: Identity = ADA, **values: str) -> None:
    """The form says `words` and stays; the question is open as it was, and nothing runs."""
    verdict = await process.edit(question.as_shown, who, **values)
    assert (verdict.outcome, verdict.notice, verdict.form_stays) == (Outcome.UNCHANGED, words, True)
    await process.answer_all()
    assert await now(process.stage, question.id) == question
    assert ran(process) == []


# ------------------------------------------------------------------------------------------------- the form itself


async def test_the_form_is_for_those_who_may_decide(stage: Stage) -> None:
    process, question = await asked(stage)
    forms = Forms(stage.store, lambda: process.gate.rights)
    form = await forms.open(question.id, Choice.EDIT, OTTO)
    assert isinstance(form, Form)
    assert [field.text for field in form.fields] == ["uname -a"]
    for who, words in (
        (UMA, "Only approvers can answer this."),
        (STRANGER, "I don't know you here, so you can't answer this."),
    ):
        assert str(await forms.open(question.id, Choice.EDIT, who)).startswith(words)
        assert str(await forms.open(question.id, Choice.DENY, who)).startswith(words)
    assert await forms.open(ApprovalId("0" * 22), Choice.EDIT, OTTO) == "This question no longer exists."
    await process.click(question.id)
    assert str(await forms.open(question.id, Choice.EDIT, OTTO)).startswith("This was already settled: approved by Ada")


async def test_a_rule_that_wants_reasons_lets_the_form_for_one_open(stage: Stage) -> None:
    process, question = await asked(stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(reason_required=True))])
    forms = Forms(stage.store, lambda: process.gate.rights)
    assert isinstance(await forms.open(question.id, Choice.DENY, OTTO), Form)


async def test_a_rule_that_forbids_edits_has_no_form(stage: Stage) -> None:
    process, question = await asked(stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(editable=False))])
    forms = Forms(stage.store, lambda: process.gate.rights)
    assert await forms.open(question.id, Choice.EDIT, OTTO) == "That isn't one of the answers to this question."


async def test_the_form_of_a_changed_call_has_the_changed_call(stage: Stage) -> None:
    process, question = await asked(stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))])
    await process.edit(question.id, argument=CHANGED)
    form = await Forms(stage.store, lambda: process.gate.rights).open(question.id, Choice.EDIT, OTTO)
    assert isinstance(form, Form)
    assert (form.approval_id, form.fields[0].text) == (f"{question.id}~1", CHANGED)


# ------------------------------------------------------------------------------------------------------- what runs


async def test_the_changed_call_runs_and_the_one_that_was_asked_about_does_not(any_stage: Stage) -> None:
    process, question = await asked(any_stage)
    verdict = await process.edit(question.id, argument=CHANGED)
    assert (verdict.outcome, verdict.notice, verdict.form_stays) == (Outcome.DECIDED, None, False)
    await process.answer_all()
    assert ran(process) == [{"command": CHANGED}]
    assert await any_stage.answers() == ["done"]


async def test_what_was_asked_and_what_runs_are_both_kept(any_stage: Stage) -> None:
    process, question = await asked(any_stage)
    await process.edit(question.id, OTTO, argument=CHANGED)
    after = await now(any_stage, question.id)
    assert (after.asked_arguments, after.arguments) == (SHELL.arguments, '{"command": "uname -r"}')
    assert after.arguments_hash == digest(after.arguments)
    assert (after.state, after.choice, after.decided_name) == (ApprovalState.APPROVED, Choice.APPROVE, "Otto")
    [step] = await any_stage.rows("SELECT arguments, arguments_hash FROM steps WHERE kind = 'tool'")
    assert step == (after.arguments, after.arguments_hash)
    [edited] = await any_stage.audit("approval edited")
    assert edited == ("Otto", question.id, f"shell {question.arguments_hash[:12]} to {after.arguments_hash[:12]}")
    [approved] = await any_stage.audit("approval approved")
    assert approved == ("Otto", question.id, f"shell {after.arguments_hash[:12]}")


async def test_the_card_shows_both_calls(any_stage: Stage) -> None:
    process, question = await asked(any_stage)
    await process.edit(question.id, argument=CHANGED)
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "`shell`" in card]
    assert card.startswith("✅ **Approved** by Ada, ")
    assert "Asked:\n\n```\nuname -a\n```\n\nRuns:\n\n```\nuname -r\n```" in card


async def test_the_model_is_told_who_changed_the_call_and_what_ran(any_stage: Stage) -> None:
    process, question = await asked(any_stage)
    await process.edit(question.id, OTTO, argument=CHANGED)
    await process.answer_all()
    assert await result(any_stage) == (
        "shell did it\n\n[from Signalbox] An approver changed this call before it ran: Otto had it run with "
        '{"command": "uname -r"}'
    )


async def test_several_arguments_are_changed_as_json(any_stage: Stage) -> None:
    process, question = await asked(any_stage, SEND)
    await process.edit(question.id, arguments='{"room": "bbb",\r\n "count": 3}')
    await process.answer_all()
    assert ran(process) == [{"room": "bbb", "count": 3}], "a server's own patterns are for its tool to check"


async def test_codes_are_read_as_what_they_stand_for(stage: Stage) -> None:
    process, question = await asked(stage)
    await process.edit(question.id, argument="echo ⟨U+202E⟩⟨12 spaces⟩.")
    await process.answer_all()
    assert ran(process) == [{"command": "echo \u202e" + " " * 12 + "."}]


# ------------------------------------------------------------------------------------------------ what is no such call


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("{", "This isn't valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)."),
        ("[1]", "The arguments must be a JSON object of names and values."),
        ('"general"', "The arguments must be a JSON object of names and values."),
        ('{"room": "a", "count": NaN}', "This isn't valid JSON: NaN isn't a number."),
        ('{"count": 3}', "'room' is a required property."),
        ('{"room": 7}', "room: 7 is not of type 'string'."),
        ('{"room": "a", "count": 10}', "count: 10 is greater than the maximum of 9."),
        ('{"room": "\\ud800"}', "This contains a broken character. Please type it again."),
        ('{"count": 2, "room": "general"}', "You haven't changed anything. To run it as it is, approve it."),
        (f'{{"room": "{"a" * 100_001}"}}', "This is too long: at most 100,000 characters."),
    ],
)
async def test_bad_input_is_told_in_the_form_and_the_question_stays_open(stage: Stage, typed: str, words: str) -> None:
    process, question = await asked(stage, SEND)
    await refused(process, question, words, arguments=typed)


async def test_brackets_without_end_are_told_in_the_form(stage: Stage) -> None:
    process, question = await asked(stage, SEND)
    verdict = await process.edit(question.id, arguments="[" * 99_999)
    assert (verdict.outcome, verdict.form_stays) == (Outcome.UNCHANGED, True)
    assert (verdict.notice or "").startswith("This isn't valid JSON: ")


async def test_the_same_text_is_no_change_and_an_empty_one_misses_the_schema(stage: Stage) -> None:
    process, question = await asked(stage)
    await refused(
        process, question, "You haven't changed anything. To run it as it is, approve it.", argument="uname -a"
    )
    await refused(process, question, "command: '' should be non-empty.", argument="")


async def test_another_field_belongs_to_another_call(stage: Stage) -> None:
    process, question = await asked(stage, SEND)
    words = "The call has changed in the meantime. Please open the form again."
    await refused(process, question, words, argument="general")


async def test_a_press_without_its_form_changes_nothing(stage: Stage) -> None:
    process, question = await asked(stage)
    verdict = await process.edit(question.id)
    assert (verdict.outcome, verdict.form_stays) == (Outcome.UNCHANGED, False)
    assert verdict.notice == "I need the changed call. Press Edit again, or use the console or the command line."
    assert await now(stage, question.id) == question


async def test_a_tool_that_is_gone_runs_no_changed_call(stage: Stage) -> None:
    process, question = await asked(stage)
    del process.tools["shell"]
    await refused(process, question, "The tool shell no longer exists.", argument=CHANGED)


# -------------------------------------------------------------------------------------------------------- who, and when


@pytest.mark.parametrize("who", [VERA, UMA])
async def test_only_those_who_may_decide_change_a_call(stage: Stage, who: Identity) -> None:
    process, question = await asked(stage)
    verdict = await process.edit(question.id, who, argument=CHANGED)
    assert verdict.outcome is Outcome.UNCHANGED
    assert (verdict.notice or "").startswith("Only approvers can answer this.")
    assert await now(stage, question.id) == question


async def test_a_stranger_and_another_room_change_nothing(stage: Stage) -> None:
    process, question = await asked(stage)
    assert (await process.edit(question.id, STRANGER, argument=CHANGED)).outcome is Outcome.REFUSED
    elsewhere = await process.edit(question.id, room="r2", argument=CHANGED)
    assert elsewhere.notice == "This question belongs to another room."
    assert await now(stage, question.id) == question


async def test_a_rule_may_forbid_it_and_then_there_is_no_button(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(editable=False))
    process, question = await asked(stage, rules=[rule])
    assert "[Edit…]" not in (await stage.screen())[-1]
    await refused(process, question, "That isn't one of the answers to this question.", argument=CHANGED)


async def test_a_question_about_a_cut_call_cannot_be_edited(stage: Stage) -> None:
    process, question = await asked(stage)

    async def die(arguments: Mapping[str, Json]) -> str:
        raise Crash

    process.tools["shell"].does = die
    await process.click(question.id)
    await process.until_crash()
    stage.clock.advance(LEASE)
    after = await stage.process(Planned(SHELL, end="done"), tools())
    await after.answer_all()
    [doubt] = await stage.pending()
    verdict = await after.edit(doubt.id, argument=CHANGED)
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, "That isn't one of the answers to this question.")


@pytest.mark.parametrize("choice", [Choice.APPROVE, Choice.DENY])
async def test_what_is_settled_is_not_changed(stage: Stage, choice: Choice) -> None:
    process, question = await asked(stage)
    await process.click(question.id, choice)
    verdict = await process.edit(question.id, argument=CHANGED)
    assert verdict.outcome is Outcome.UNCHANGED
    assert (verdict.notice or "").startswith("This was already settled: ")
    await process.answer_all()
    assert ran(process) == ([{"command": "uname -a"}] if choice is Choice.APPROVE else [])


async def test_a_form_that_was_opened_in_time_and_sent_too_late_changes_nothing(any_stage: Stage) -> None:
    process, question = await asked(any_stage)
    assert isinstance(
        await Forms(any_stage.store, lambda: process.gate.rights).open(question.id, Choice.EDIT, ADA), Form
    )
    any_stage.clock.advance(timedelta(hours=13))
    for _ in range(2):  # before the duty that ends it has looked, and after
        verdict = await process.edit(question.id, argument=CHANGED)
        assert verdict.outcome is Outcome.UNCHANGED
        assert "expired" in str(verdict.notice)
        await any_stage.store.approvals.expire()
    after = await now(any_stage, question.id)
    assert (after.state, after.asked_arguments, ran(process)) == (ApprovalState.EXPIRED, "", [])


# ------------------------------------------------------------------------------------------------------ what rules say


def rules(*, changed: Ruling = Ruling.ASK, **terms: Any) -> list[Rule]:
    """One rule for the changed call, and one for every other."""
    own = Rule(changed, "shell", arguments={"command": "*-r"}, name="releases", asking=Changes(**terms))
    return [own, Rule(Ruling.ASK, "shell", name="kernel")]


@pytest.mark.parametrize("ruling", [Ruling.DENY, Ruling.VETO])
async def test_a_changed_call_that_a_rule_denies_is_denied_in_the_form(ruling: Ruling, any_stage: Stage) -> None:
    process, question = await asked(any_stage, rules=rules(changed=ruling))
    await refused(process, question, "The rule 'releases' doesn't allow the changed call.", argument=CHANGED)
    assert (await process.edit(question.id, argument="uname -m")).outcome is Outcome.DECIDED


async def test_a_changed_call_that_needs_no_question_runs(stage: Stage) -> None:
    process, question = await asked(stage, rules=rules(changed=Ruling.ALLOW))
    assert (await process.edit(question.id, argument=CHANGED)).outcome is Outcome.DECIDED


async def test_the_approvers_of_the_changed_call_are_those_of_its_rule(stage: Stage) -> None:
    process, question = await asked(stage, rules=rules(approvers=("Ada",)))
    words = "The rule for this call lets only Ada answer."
    await refused(process, question, words, OTTO, argument=CHANGED)
    assert (await process.edit(question.id, argument=CHANGED)).outcome is Outcome.DECIDED
    assert (await now(stage, question.id)).terms.rule == "releases"


async def test_four_eyes_of_the_changed_call_hold(stage: Stage) -> None:
    process, question = await asked(stage, rules=rules(four_eyes=True))
    words = "Someone else has to answer: you asked for this yourself."
    await refused(process, question, words, argument=CHANGED)


async def test_a_changed_call_that_takes_several_waits_for_the_others(any_stage: Stage) -> None:
    process, question = await asked(any_stage, rules=rules(quorum=2))
    verdict = await process.edit(question.id, argument=CHANGED)
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, "Your approval is counted: 1 of 2 so far.")
    assert not verdict.form_stays
    after = await now(any_stage, question.id)
    await process.answer_all()
    assert ran(process) == []
    [card] = await any_stage.screen()
    assert "Asked:\n\n```\nuname -a\n```\n\nRuns:\n\n```\nuname -r\n```" in card
    assert "Ada approved: 1 of 2." in card
    assert (await process.click(after.as_shown, who=OTTO)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert ran(process) == [{"command": CHANGED}]


async def test_an_edit_takes_back_the_votes_for_the_call_before(any_stage: Stage) -> None:
    process, question = await asked(any_stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))])
    await process.click(question.id)
    assert (await process.edit(question.id, OTTO, argument=CHANGED)).outcome is Outcome.UNCHANGED
    await process.answer_all()
    assert ran(process) == []
    after = await now(any_stage, question.id)
    assert (await process.click(after.as_shown)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert ran(process) == [{"command": CHANGED}]


@pytest.mark.parametrize("choice", [Choice.APPROVE, Choice.DENY])
async def test_a_button_of_the_card_before_an_edit_decides_nothing(stage: Stage, choice: Choice) -> None:
    process, question = await asked(stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))])
    await process.edit(question.id, OTTO, argument=CHANGED)
    verdict = await process.click(question.id, choice)
    assert verdict.outcome is Outcome.UNCHANGED
    assert verdict.notice == "The call has changed in the meantime. Please look at the card again."
    second = await process.edit((await now(stage, question.id)).as_shown, argument="uname -m")
    assert second.notice == "Your approval is counted: 1 of 2 so far."
    assert (await process.edit(question.id, OTTO, argument="uname -v")).notice == verdict.notice
    assert (await process.click(ApprovalId(f"{question.id}~1"), who=OTTO)).notice == verdict.notice
    assert (await process.click(ApprovalId(f"{question.id}~2"), who=OTTO)).outcome is Outcome.DECIDED
    await process.answer_all()
    assert ran(process) == [{"command": "uname -m"}]


@pytest.mark.parametrize("revision", ["~", "~0", "~1", "~x", "~~", "~-1"])
async def test_an_id_of_a_change_that_nobody_made_decides_nothing(stage: Stage, revision: str) -> None:
    process, question = await asked(stage)
    verdict = await process.click(ApprovalId(f"{question.id}{revision}"))
    assert verdict.outcome is Outcome.UNCHANGED
    assert await now(stage, question.id) == question


# ----------------------------------------------------------------------------------------------- at once, and with kills


@pytest.mark.parametrize("seed", range(6))
async def test_an_approval_and_an_edit_at_once_are_one_decision(any_stage: Stage, seed: int) -> None:
    process, question = await asked(any_stage)
    answers = [
        process.click(question.id, who=OTTO),
        process.edit(question.id, argument=CHANGED),
        process.click(question.id, Choice.DENY),
        process.edit(question.id, OTTO, argument="uname -m"),
    ]
    Random(seed).shuffle(answers)
    verdicts: list[Verdict] = await asyncio.gather(*answers)
    assert [one.outcome for one in verdicts].count(Outcome.DECIDED) == 1
    await process.answer_all()
    after = await now(any_stage, question.id)
    assert ran(process) == ([json.loads(after.arguments)] if after.state is ApprovalState.APPROVED else [])


async def test_two_edits_at_once_of_a_call_for_several_leave_one_call(any_stage: Stage) -> None:
    process, question = await asked(any_stage, rules=[Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))])
    await asyncio.gather(
        process.edit(question.id, argument=CHANGED), process.edit(question.id, OTTO, argument="uname -m")
    )
    after = await now(any_stage, question.id)
    [votes] = await any_stage.rows("SELECT COUNT(*) FROM votes")
    assert (after.state, after.edits, votes) == (ApprovalState.PENDING, 1, (1,))


@pytest.mark.parametrize("point", ["approval-decided", "accepted", "claimed", "tool-marked", "delivery-stored"])
async def test_a_kill_at_any_step_runs_the_changed_call_at_most_once(any_stage: Stage, point: str) -> None:
    before, question = await asked(any_stage)
    deadly = await any_stage.process(Planned(SHELL, end="done"), tools(), probe=crash_at(point))
    if point in ("approval-decided", "accepted"):
        with pytest.raises(Crash):
            await deadly.edit(question.id, argument=CHANGED, key="once")
    else:
        await deadly.edit(question.id, argument=CHANGED, key="once")
        await deadly.until_crash()
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(Planned(SHELL, end="done"), tools())
    assert (await after.edit(question.id, argument=CHANGED, key="once")).outcome is Outcome.DUPLICATE
    await after.answer_all()
    if point == "tool-marked":  # whether it ran is for a person to say
        [doubt] = await any_stage.pending()
        assert doubt.arguments == '{"command": "uname -r"}'
        await after.click(doubt.id, Choice.AGAIN)
        await after.answer_all()
    assert ran(before) + ran(deadly) + ran(after) == [{"command": CHANGED}]
    assert await any_stage.answers() == ["done"]
    assert "had it run with" in await result(any_stage)


@pytest.mark.parametrize("choice", [Choice.DONE, Choice.SKIP])
async def test_the_model_learns_of_the_change_of_a_call_that_was_cut_off(stage: Stage, choice: Choice) -> None:
    _, question = await asked(stage)
    deadly = await stage.process(Planned(SHELL, end="done"), tools(), probe=crash_at("tool-finished"))
    await deadly.edit(question.id, argument=CHANGED)
    await deadly.until_crash()
    stage.clock.advance(LEASE)
    after = await stage.process(Planned(SHELL, end="done"), tools())
    await after.answer_all()
    [doubt] = await stage.pending()
    await after.click(doubt.id, choice)
    await after.answer_all()
    assert (await result(stage)).endswith(
        '[from Signalbox] An approver changed this call before it ran: Ada had it run with {"command": "uname -r"}'
    )


async def test_a_schema_that_cannot_be_read_leaves_the_check_to_the_tool(stage: Stage) -> None:
    process, question = await asked(stage)
    spec = replace(process.tools["shell"].spec, schema={"$ref": "https://example.invalid/schema.json"})
    process.tools["shell"].spec = spec
    assert (await process.edit(question.id, argument=CHANGED)).outcome is Outcome.DECIDED
