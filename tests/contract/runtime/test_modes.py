"""Modes of conversations: what runs there, and for whom, after the rules have spoken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from runtime.contract import (
    ApprovalId,
    Call,
    Choice,
    Effect,
    Identity,
    Json,
    ModelReply,
    ModelRequest,
    OnText,
    Role,
    Said,
    ToolTurn,
    Turn,
)
from runtime.domain.approvals import Rights
from runtime.policy.modes import READ_ONLY_REASON
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    READ,
    SHELL,
    WRITE,
    FakeTool,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned

ALLOW_WRITE: Final = Rule(Ruling.ALLOW, "write")
DENY_WRITE: Final = Rule(Ruling.DENY, "write")


class Again(Planned):
    """Makes the same calls for each message, each under an id of its own."""

    def _next(self, turns: Sequence[Turn]) -> Call | tuple[Call, ...] | str:
        found = super()._next(turns)
        return replace(found, id=f"{found.id}-{len(turns)}") if isinstance(found, Call) else found


def tools() -> list[FakeTool]:
    effects = {"look": Effect.READ, "write": Effect.WRITE, "shell": Effect.DANGER}
    return [fake_tool(name, effect) for name, effect in effects.items()]


def called(process: Process) -> list[str]:
    return [name for name, tool in process.tools.items() for _ in tool.calls]


async def tell(process: Process, words: str, *, who: Identity = ADA, room: str = "r1") -> None:
    await process.say(words, who=who, room=room)
    await process.answer_all()


async def asked(stage: Stage) -> list[str]:
    return [one.tool for one in await stage.pending()]


def results(model: Planned) -> Sequence[str]:
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


# ------------------------------------------------------------------------------------------------------------ read-only


async def test_in_a_read_only_conversation_only_reads_run(any_stage: Stage) -> None:
    model = Planned(READ, WRITE, SHELL)
    process = await any_stage.process(model, tools(), rules=[ALLOW_WRITE])
    await tell(process, "/mode read-only")
    await tell(process, "do it all")
    assert called(process) == ["look"]
    assert await asked(any_stage) == []
    assert results(model) == ["look did it", f"denied: {READ_ONLY_REASON}", f"denied: {READ_ONLY_REASON}"]


async def test_a_read_that_a_rule_asks_about_is_asked_there_too(stage: Stage) -> None:
    process = await stage.process(Planned(READ), tools(), rules=[Rule(Ruling.ASK, "look")])
    await tell(process, "/mode read-only")
    await tell(process, "look")
    assert await asked(stage) == ["look"]


async def test_what_was_asked_before_may_still_be_approved(stage: Stage) -> None:
    process = await stage.process(Planned(WRITE), tools())
    await tell(process, "write")
    await tell(process, "/mode read-only")
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    assert called(process) == ["write"]


async def test_of_a_thread_and_its_room_the_mode_that_was_set_last_holds(stage: Stage) -> None:
    """A room's command reaches the threads, and a thread can be set free after it."""
    process = await stage.process(Again(WRITE), tools(), rules=[ALLOW_WRITE])
    thread = replace(address(), thread="17")

    async def in_thread(words: str) -> None:
        signal = stage.signal(Said(words), ADA, "r1")
        await process.reception.sink(replace(signal, address=thread))
        await process.answer_all()

    for words, runs in (("/mode read-only", False), ("/mode normal", True)):
        await tell(process, words)
        before = len(called(process))
        await in_thread("write")
        assert (len(called(process)) > before) is runs
    await in_thread("/mode read-only")
    before = len(called(process))
    await in_thread("write")
    await tell(process, "write")
    assert len(called(process)) == before + 1


# -------------------------------------------------------------------------------------------------------------- trusted


async def test_writes_of_the_trusted_run_and_danger_still_asks(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(WRITE, SHELL), tools())
    await tell(process, "/mode trusted 2h")
    await tell(process, "do both")
    assert called(process) == ["write"]
    assert await asked(any_stage) == ["shell"]
    [(who, _, detail)] = await any_stage.audit("call allowed by mode")
    assert (who, detail.split()[0]) == ("Ada", "write")


async def test_trust_is_in_one_person_and_ends_at_its_time(stage: Stage) -> None:
    process = await stage.process(Again(WRITE), tools())
    await tell(process, "/mode trusted 2h")
    await tell(process, "write", who=OTTO)
    assert (called(process), await asked(stage)) == ([], ["write"])
    await tell(process, "write")
    assert called(process) == ["write"]
    stage.clock.advance(timedelta(hours=2))
    await tell(process, "write")
    assert (called(process), await asked(stage)) == (["write"], ["write", "write"])


@pytest.mark.parametrize(
    "terms", [Changes(quorum=2), Changes(four_eyes=True), Changes(approvers=("Otto",))], ids=["quorum", "four", "named"]
)
async def test_trust_spares_no_question_that_one_could_not_answer_alone(stage: Stage, terms: Changes) -> None:
    rule = Rule(Ruling.ASK, "write", asking=terms)
    process = await stage.process(Planned(WRITE), tools(), rules=[rule])
    await tell(process, "/mode trusted 2h")
    await tell(process, "write")
    assert (called(process), await asked(stage)) == ([], ["write"])


@pytest.mark.parametrize(
    "rules",
    [[DENY_WRITE], [ALLOW_WRITE, Rule(Ruling.VETO, "write")], [Rule(Ruling.ASK, "write"), Rule(Ruling.VETO, "w*")]],
    ids=["deny", "veto behind allow", "veto behind ask"],
)
async def test_a_denying_rule_wins_over_trust(rules: list[Rule], stage: Stage) -> None:
    process = await stage.process(Planned(WRITE), tools(), rules=rules)
    await tell(process, "/mode trusted 2h")
    await tell(process, "write")
    assert (called(process), await asked(stage)) == ([], [])


async def test_somebody_who_lost_their_role_is_trusted_no_more(stage: Stage) -> None:
    process = await stage.process(Planned(WRITE), tools())
    await tell(process, "/mode trusted 2h", who=OTTO)
    assert await stage.store.people.set_role("Otto", Role.USER, actor="test")
    await tell(process, "write", who=OTTO)
    assert (called(process), await asked(stage)) == ([], ["write"])


@pytest.mark.parametrize("rights", [Rights(self_approval=False), Rights(approvers=frozenset(["page:otto"]))])
async def test_nobody_is_trusted_who_may_not_approve_their_own(stage: Stage, rights: Rights) -> None:
    process = await stage.process(Planned(WRITE), tools(), rights=rights)
    await tell(process, "/mode trusted 2h")
    assert await stage.answers() == [
        "Trusted mode skips questions that you could answer yourself. You can't answer any here."
    ]
    await tell(process, "write")
    assert (called(process), await asked(stage)) == ([], ["write"])


async def cut(stage: Stage) -> None:
    """A process dies with a trusted call of Ada's recorded, and not begun."""
    process = await stage.process(Planned(WRITE), tools(), probe=crash_at("step-recorded"))
    await tell(process, "/mode trusted 2h")
    await process.say("write", who=ADA)
    await process.until_crash()


async def test_a_trusted_call_that_was_cut_before_it_began_runs_while_the_trust_lasts(any_stage: Stage) -> None:
    await cut(any_stage)
    any_stage.clock.advance(timedelta(hours=1))
    process = await any_stage.process(Planned(WRITE), tools())
    await process.answer_all()
    assert (called(process), await asked(any_stage)) == (["write"], [])


@pytest.mark.parametrize("how", ["its time passed", "it was ended"])
async def test_a_trusted_call_that_was_cut_asks_once_the_trust_is_over(how: str, any_stage: Stage) -> None:
    await cut(any_stage)
    process = await any_stage.process(Planned(WRITE), tools())
    if how == "it was ended":
        await process.say("/mode normal", who=ADA)
    else:
        any_stage.clock.advance(timedelta(hours=2))
    await process.answer_all()
    assert (called(process), await asked(any_stage)) == ([], ["write"])
    await process.click((await any_stage.pending())[0].id, room="r1")
    await process.answer_all()
    assert (called(process), await asked(any_stage)) == (["write"], [])


async def test_calls_of_one_answer_run_as_long_as_the_trust_lasts(any_stage: Stage) -> None:
    """The first of them takes until the end of it; the second asks, and the third, which asked anyway, beside it."""
    write = fake_tool("write", Effect.WRITE)

    async def takes(_: Mapping[str, Json]) -> str:
        any_stage.clock.advance(timedelta(hours=2))
        return "done"

    write.does = takes
    process = await any_stage.process(Planned((WRITE, replace(WRITE, id="c-2"), SHELL)), [write, tools()[2]])
    await tell(process, "/mode trusted 2h")
    await tell(process, "do it all")
    assert (called(process), await asked(any_stage)) == (["write"], ["write", "shell"])


async def test_a_conversation_that_begins_anew_trusts_nobody_and_stays_read_only(stage: Stage) -> None:
    process = await stage.process(Again(WRITE), tools())
    await tell(process, "hello")
    await tell(process, "/mode trusted 2h")
    await tell(process, "/new")
    await tell(process, "/mode")
    assert (await stage.answers())[-1].startswith("The mode here is normal:")
    await tell(process, "/mode read-only")
    await tell(process, "hello")
    await tell(process, "/new")
    await tell(process, "/mode")
    assert (await stage.answers())[-1].startswith("The mode here is read-only:")


# ----------------------------------------------------------------------------------------------------------------- plan


class Telling(Planned):
    """Says what it would do before it does it."""

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        reply = await super().reply(request, on_text)
        return replace(reply, text="First I *write*, then\nI look at the kernel.") if reply.calls else reply


async def test_a_plan_is_one_question_with_the_models_words_and_all_its_calls(any_stage: Stage) -> None:
    process = await any_stage.process(Telling((READ, WRITE, SHELL)), tools(), rules=[ALLOW_WRITE])
    await tell(process, "/mode plan")
    await tell(process, "do it all")
    assert called(process) == ["look"]
    [card] = [card for card in await any_stage.screen() if "[Approve]" in card]
    expires = "expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) (in 12\u00a0h)"
    assert card == (
        f"**May I go on like this?**\n\nAda asks · 2 calls · danger · {expires}\n\n“do it all”\n\n"
        "> First I \\*write\\*, then\n> I look at the kernel.\n\n"
        "1. `write` · write\n\n```\nb\n```\n\n2. `shell` · danger\n\n```\nuname -a\n```\n\n"
        "One answer applies to all of them.\n[Approve]\n[Deny]"
    )
    question = next(one for one in await any_stage.pending() if one.lead == one.id)
    await process.click(question.id)
    await process.answer_all()
    assert called(process) == ["look", "write", "shell"]


async def test_a_plan_that_is_denied_runs_nothing(any_stage: Stage) -> None:
    process = await any_stage.process(Telling((WRITE, SHELL)), tools())
    await tell(process, "/mode plan")
    await tell(process, "do it all")
    await process.click((await any_stage.pending())[1].lead or ApprovalId(""), Choice.DENY)
    await process.answer_all()
    assert (called(process), await asked(any_stage)) == ([], [])


async def test_a_call_that_was_not_in_the_plan_asks_again(stage: Stage) -> None:
    """One answer is for the listed calls exactly."""
    process = await stage.process(Telling(WRITE, replace(WRITE, id="c-later")), tools())
    await tell(process, "/mode plan")
    await tell(process, "do it all")
    for runs in (1, 2):
        [question] = await stage.pending()
        await process.click(question.id)
        await process.answer_all()
        assert len(called(process)) == runs


async def test_a_plan_denied_by_a_rule_is_asked_without_that_call(stage: Stage) -> None:
    process = await stage.process(Telling((WRITE, SHELL)), tools(), rules=[DENY_WRITE])
    await tell(process, "/mode plan")
    await tell(process, "do it all")
    assert await asked(stage) == ["shell"]


async def test_a_kill_before_the_question_keeps_the_plan(any_stage: Stage) -> None:
    process = await any_stage.process(Telling((WRITE, SHELL)), tools(), probe=crash_at("step-recorded"))
    await process.say("/mode plan")
    await process.say("do it all")
    await process.until_crash()
    process = await any_stage.process(Telling((WRITE, SHELL)), tools())
    await process.answer_all()
    [card] = [card for card in await any_stage.screen() if "[Approve]" in card]
    assert card.startswith("**May I go on like this?**")
    assert "> First I" in card


async def test_read_only_holds_for_the_calls_of_an_answer_that_were_not_begun(any_stage: Stage) -> None:
    """Somebody sees the first of them and wants no more."""
    calls = tuple(Call(f"c-{n}", "write", f'{{"text": "{n}"}}') for n in range(3))
    tool = fake_tool("write", Effect.WRITE)
    process = await any_stage.process(Planned(calls), [tool], rules=[Rule(Ruling.ALLOW, "write")])

    async def seen(_: Mapping[str, Json]) -> str:
        await process.say("/mode read-only", who=ADA)
        return "done"

    tool.does = seen
    await process.say("do it all", who=ADA)
    await process.answer_all()
    assert len(tool.calls) == 1
    refused = await any_stage.audit("call refused by a rule")
    assert ["the read-only mode of this conversation" in detail for _, _, detail in refused] == [True, True]
