"""Attacks on a yes: nothing runs that nobody approved, or otherwise than it was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from bot.testing.scripted import Scripted
from bot.wiring.forms import Forms
from runtime.contract import Addressing, Call, Choice, Clicked, Effect, Identity, Json, Outcome, Role, Said, Verdict
from runtime.domain.approvals import Rights
from runtime.policy.grants import GrantId, Sought
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.text.glyphs import plainly
from tests.contract.runtime.stage import ADA, OTTO, READ, SHELL, UMA, WRITE, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned
from tools.asking import ASK_PERSON

ALONE: Final = Rights(self_approval=False)
OLGA: Final = Identity("page:olga")


def tools() -> list[FakeTool]:
    return [fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)]


async def tell(process: Process, words: str = "please", who: Identity = UMA) -> Verdict:
    signal = replace(process.stage.signal(Said(words), who, "r1"), reach=Addressing.MENTION)
    return await process.reception.sink(signal)


async def asked(stage: Stage, call: Call = SHELL, **more: Any) -> Process:
    """Uma asked for a call, and it waits for a yes where nothing else was set."""
    process = await stage.process(Planned(call), tools(), **more)
    await tell(process)
    await process.answer_all()
    return process


def called(process: Process) -> int:
    return sum(len(tool.calls) for tool in process.tools.values())


# ---------------------------------------------------------------------------------------- between the card and the call


async def test_a_yes_to_a_call_in_a_sandbox_runs_nothing_without_one(any_stage: Stage, monkeypatch: Any) -> None:
    process = await asked(any_stage)
    [question] = await any_stage.pending()
    monkeypatch.setattr(process.tools["shell"], "caution", lambda: "It runs without a sandbox.")
    await process.click(question.id)
    await process.answer_all()
    assert called(process) == 0
    assert "has changed since people were asked" in (await any_stage.screen())[-2]


@pytest.mark.parametrize("tool", ["shell", "look"])
async def test_what_a_rule_allows_runs_as_it_is(stage: Stage, tool: str, monkeypatch: Any) -> None:
    """With its caution, which no card has told of."""
    process = await stage.process(Planned(Call("c", tool, "{}")), tools(), rules=[Rule(Ruling.ALLOW, "shell")])
    monkeypatch.setattr(process.tools[tool], "caution", lambda: "It runs without a sandbox.")
    await tell(process)
    await process.answer_all()
    assert called(process) == 1


# --------------------------------------------------------------------------------------------------- the one who asked


async def steered(stage: Stage, by: Identity, name: str = "", **more: Any) -> Process:
    """Ada asked for a look; while it went on somebody else had the run write."""
    process = await stage.process(Scripted([READ, WRITE, "done"]), tools(), **more)

    async def spoken_to(_: Mapping[str, Json]) -> str:
        signal = process.stage.signal(Said("write b"), by, "r1")
        signal = replace(signal, reach=Addressing.MENTION, actor_name=name or signal.actor_name)
        await process.reception.sink(signal)
        return "seen"

    process.tools["look"].does = spoken_to
    return process


async def test_trust_in_one_person_is_none_in_whoever_joins_their_run(any_stage: Stage) -> None:
    assert await any_stage.store.people.add_person("Olga", Role.OWNER, [OLGA], actor="test")
    process = await steered(any_stage, OLGA, rights=Rights(approvers=frozenset({ADA})))
    await tell(process, "/mode trusted 2h", ADA)
    await tell(process, "look around", ADA)
    await process.answer_all()
    assert (called(process), len(await any_stage.pending())) == (1, 1)


@pytest.mark.parametrize(
    "more", [{"rules": [Rule(Ruling.ASK, "write", asking=Changes(four_eyes=True))]}, {"rights": ALONE}]
)
async def test_whoever_joined_a_run_asked_for_it_too(stage: Stage, more: dict[str, Any]) -> None:
    process = await steered(stage, OTTO, **more)
    await tell(process, "look around")
    await process.answer_all()
    [question] = await stage.pending()
    verdict = await process.click(question.id, who=OTTO)
    assert verdict.notice == "Someone else has to answer: you asked for this yourself."
    await process.click(question.id, who=ADA)
    await process.answer_all()
    assert called(process) == 2


async def test_whoever_joined_a_run_asked_for_it_under_another_name_too(stage: Stage) -> None:
    """Their account, known as somebody of its own so far, is theirs as of now."""
    second = Identity("page:second")
    assert await stage.store.people.add_person("Second", Role.OPERATOR, [second], actor="test")
    process = await steered(stage, second, rules=[Rule(Ruling.ASK, "write", asking=Changes(four_eyes=True))])
    await tell(process, "look around")
    await process.answer_all()
    await stage.store.people.merge("Second", "Otto", actor="test")
    [question] = await stage.pending()
    verdict = await process.click(question.id, who=OTTO)
    assert verdict.notice == "Someone else has to answer: you asked for this yourself."


async def test_words_are_told_as_those_of_whoever_said_them(stage: Stage) -> None:
    """Not by a name that they gave themselves on their platform."""
    process = await steered(stage, OTTO, "Uma")
    await tell(process, "look around")
    await process.answer_all()
    assert "\nOtto: “write b”\n" in (await stage.screen())[-1]


async def test_a_question_to_somebody_is_still_theirs_under_another_name(stage: Stage) -> None:
    tea = Call("c-tea", "ask_person", json.dumps({"question": "Tea?", "to": "Otto"}))
    process = await stage.process(Planned(tea, end="done"), [FakeTool(ASK_PERSON.spec)])
    await tell(process)
    await process.answer_all()
    [question] = await stage.pending()
    await stage.store.people.merge("Otto", "Ada", actor="test")
    await process.click(question.id, Choice.TEXT, "yes", who=OTTO)
    assert await stage.pending() == []


# ------------------------------------------------------------------------------------------------------------ changes

OWNERS: Final = Rule(Ruling.ASK, "write", arguments={"path": "prod*"}, asking=Changes(approvers=("owner",), quorum=2))


@pytest.mark.parametrize("changed", ["page.txt", "test/x"])
async def test_a_change_lets_nobody_approve_who_could_not_before(any_stage: Stage, changed: str) -> None:
    """Neither into a call that no rule speaks of, nor into one whose rule has others."""
    testers = Rule(Ruling.ASK, "write", arguments={"path": "test*"}, asking=Changes(approvers=("operator",)))
    assert await any_stage.store.people.add_person("Olga", Role.OWNER, [OLGA], actor="test")
    process = await asked(any_stage, Call("c", "write", '{"path": "prod/x"}'), rules=[OWNERS, testers])
    [question] = await any_stage.pending()
    await process.edit(question.id, ADA, argument=changed)
    [question] = await any_stage.pending()
    verdict = await process.click(question.as_shown, who=OTTO)
    assert (verdict.notice or "").startswith("The rule for this call lets only owner answer.")
    await process.click(question.as_shown, who=OLGA)
    await process.answer_all()
    assert called(process) == 1


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("echo ⟨U+200B \u00d7999999999⟩", "This is too long: at most 100,000 characters."),
        ("echo ⟨99999 spaces⟩⟨99999 spaces⟩", "This is too long: at most 100,000 characters."),
        ("a\n⟨999999999 empty lines⟩\nb", "This is too long: at most 100,000 characters."),
        ("echo ⟨U+D800⟩", "This contains a broken character. Please type it again."),
    ],
)
async def test_a_code_that_stands_for_more_than_a_call_can_hold_is_no_change(
    stage: Stage, typed: str, told: str
) -> None:
    process = await asked(stage)
    [question] = await stage.pending()
    verdict = await process.edit(question.id, ADA, argument=typed)
    assert (verdict.notice, verdict.form_stays) == (told, True)


@pytest.mark.parametrize(
    "typed", ["⟨U+FFFFFF⟩", "⟨U+110000⟩", f"⟨{'9' * 5000} spaces⟩", f"⟨U+200B \u00d7{'9' * 5000}⟩"]
)
async def test_what_is_no_code_is_a_text(stage: Stage, typed: str) -> None:
    process = await asked(stage)
    [question] = await stage.pending()
    await process.edit(question.id, ADA, argument=typed)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": typed}]


@pytest.mark.parametrize("uses", ["00000000019999", "1" * 30, "10001", "²", "0000"])
async def test_a_grant_has_no_more_uses_than_any_may_have(stage: Stage, uses: str) -> None:
    process = await asked(stage)
    [question] = await stage.pending()
    clicked = Clicked(question.id, Choice.ALWAYS, values={"where": "this room", "uses": uses})
    verdict = await process.reception.sink(stage.signal(clicked, ADA, "r1"))
    assert (verdict.notice or "").startswith("For “How often”, give a whole number from 1 to 10,000")
    assert list(await stage.store.approvals.grants()) == []


# ------------------------------------------------------------------------------------------------- what people are shown


async def test_whoever_is_blocked_opens_no_form_and_decides_nothing(stage: Stage) -> None:
    """Their card from before has buttons, and the form behind one would show them the call as it is by now."""
    process = await asked(stage, rights=Rights(blocked=frozenset({"Otto"})))
    [question] = await stage.pending()
    forms = Forms(stage.store, lambda: process.gate.rights)
    for choice in (Choice.EDIT, Choice.DENY, Choice.ALWAYS):
        assert await forms.open(question.id, choice, OTTO) == "You are blocked here, so you can't answer this."
    assert (await process.click(question.id, who=OTTO)).outcome is Outcome.UNCHANGED


@pytest.mark.parametrize("choice", [Choice.APPROVE, Choice.DENY])
async def test_a_name_is_no_line_of_a_card(stage: Stage, choice: Choice) -> None:
    """People call themselves as they like."""
    name = "Bob** [Approved](https://evil.example) `by` **Ada"
    assert await stage.store.people.add_person(name, Role.OPERATOR, [OLGA], actor="test")
    process = await asked(stage)
    [question] = await stage.pending()
    await process.click(question.id, choice, "why\u202enot", who=OLGA)
    await process.answer_all()
    card = (await stage.screen())[0]
    assert plainly(name) in card
    assert name not in card
    assert "\u202e" not in card


async def test_of_an_argument_that_is_named_twice_the_card_shows_what_runs(stage: Stage) -> None:
    process = await asked(stage, Call("c", "shell", '{"command": "uname -a", "command": "rm -r notes"}'))
    [question] = await stage.pending()
    card = (await stage.screen())[-1]
    assert "rm -r notes" in card
    assert "uname" not in card
    await process.click(question.id, Choice.CONVERSATION)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": "rm -r notes"}]
    process.ask(Planned(SHELL))
    await tell(process)
    await process.answer_all()
    assert (called(process), len(await stage.pending())) == (1, 1)


# ------------------------------------------------------------------------------------------------------------- grants


@pytest.mark.parametrize(
    "other",
    [
        "cat cafe\u0301.txt",
        "cat CAF\u00c9.txt",
        "cat\u00a0caf\u00e9.txt",
        "cat caf\u00e9.txt\r",
        "cat caf\u00e9.txt\u200b",
        "cat ./caf\u00e9.txt",
        "X=1 cat caf\u00e9.txt",
    ],
)
@pytest.mark.parametrize("choice", [Choice.CONVERSATION, Choice.ALWAYS])
async def test_a_grant_for_one_call_is_none_for_one_that_looks_like_it(
    stage: Stage, other: str, choice: Choice
) -> None:
    process = await asked(stage, Call("c", "shell", json.dumps({"command": "cat caf\u00e9.txt"})))
    [question] = await stage.pending()
    await process.reception.sink(stage.signal(Clicked(question.id, choice, values={"uses": ""}), ADA, "r1"))
    await process.answer_all()
    process.ask(Planned(Call("c2", "shell", json.dumps({"command": other}))))
    await tell(process)
    await process.answer_all()
    assert (called(process), len(await stage.pending())) == (1, 1)


async def test_a_grant_that_is_revoked_while_a_call_is_sorted_lets_nothing_run(
    any_stage: Stage, monkeypatch: Any
) -> None:
    process = await asked(any_stage)
    [question] = await any_stage.pending()
    await process.click(question.id, Choice.CONVERSATION)
    await process.answer_all()
    runs = process.store.runs
    found = runs.granted

    async def revoked(call: Sought, rights: Rights) -> GrantId | None:
        grant = await found(call, rights)
        assert grant is not None
        assert await any_stage.store.approvals.revoke(grant, "Ada")
        return grant

    monkeypatch.setattr(runs, "granted", revoked)
    process.ask(Planned(SHELL))
    await tell(process)
    await process.answer_all()
    assert (called(process), len(await any_stage.pending())) == (1, 1)
