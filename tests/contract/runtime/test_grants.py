"""Grants at work: one yes for later calls, and one click for all open calls of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import text

from runtime.contract import Addressing, Call, Choice, Clicked, Commanded, Effect, Identity, Outcome, Role, Said
from runtime.domain.approvals import Approval, Rights
from runtime.domain.runs import RunState
from runtime.policy.grants import Grant, GrantId, Sought
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.store.protocol import Runs
from runtime.store.sql.driver import Op
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    SHELL,
    UMA,
    WRITE,
    FakeTool,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned

SHELLS: Final = (SHELL, Call("c-2", "shell", '{"command": "uname -a"}'))


def shell() -> FakeTool:
    return fake_tool("shell", Effect.DANGER)


def write() -> FakeTool:
    return fake_tool("write", Effect.WRITE)


async def tell(process: Process, words: str = "do it", *, who: Identity = UMA, room: str = "r1") -> None:
    """Somebody says something in a room of several people, and all there is to do is done."""
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


async def grants(stage: Stage) -> Sequence[Grant]:
    return [one.grant for one in await stage.store.approvals.grants()]


async def granted(process: Process, *, who: Identity = ADA, room: str = "r1", by: Identity = UMA) -> None:
    """One call was asked about, and allowed for this conversation."""
    await tell(process, who=by, room=room)
    verdict = await process.click((await only(process.stage)).id, Choice.CONVERSATION, who=who, room=room)
    assert verdict.outcome is Outcome.DECIDED, verdict.notice
    await process.answer_all()


# ------------------------------------------------------------------------------------------------- this conversation


async def test_the_same_call_in_the_conversation_runs_at_once(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await tell(process)
    assert len(process.tools["shell"].calls) == 2
    assert not await any_stage.pending()
    assert await any_stage.states() == [RunState.DONE, RunState.DONE]


async def test_its_use_is_in_the_audit_and_in_the_trace(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await tell(process)
    [grant] = await grants(any_stage)
    runs = await any_stage.runs()
    assert await any_stage.audit("grant given") == [("Ada", grant.id, "shell: command = uname -a")]
    assert await any_stage.audit("grant used") == [("Ada", grant.id, f"{runs[1].id}/2 shell")]
    [(subject, detail)] = await any_stage.rows("SELECT subject, detail FROM moves WHERE what = 'allowed by a grant'")
    assert (subject, detail) == (runs[1].id, f"step 2, shell: the grant {grant.id} by Ada")


async def test_the_settled_card_says_that_it_holds_further(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()])
    await granted(process)
    card, _ = await stage.screen()
    assert card.startswith("✅ **Approved for this conversation** by Ada, ")


@pytest.mark.parametrize(
    "arguments", ['{"command": "uname"}', '{"command": "uname -a; ls"}', '{"command": "uname -a", "cwd": "/"}', "{}"]
)
async def test_other_arguments_ask(stage: Stage, arguments: str) -> None:
    process = await stage.process(Planned(SHELL), [shell()])
    await granted(process)
    process.ask(Planned(Call("c-2", "shell", arguments)))
    await tell(process)
    assert (await only(stage)).arguments == arguments
    assert len(process.tools["shell"].calls) == 1


async def test_the_order_of_arguments_makes_no_other_call(stage: Stage) -> None:
    first, second = Call("c-1", "write", '{"a": 1, "b": [2]}'), Call("c-2", "write", '{"b":[2],"a":1}')
    process = await stage.process(Planned(first), [write()])
    await granted(process, who=OTTO)
    process.ask(Planned(second))
    await tell(process)
    assert len(process.tools["write"].calls) == 2


async def test_another_conversation_asks(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await tell(process, room="r2")
    assert (await only(any_stage)).address == address("r2")


async def test_after_a_day_it_asks_again(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    any_stage.clock.advance(timedelta(hours=23, minutes=59))
    await tell(process)
    assert not await any_stage.pending()
    any_stage.clock.advance(timedelta(minutes=1))
    await tell(process)
    assert await only(any_stage)


async def test_a_conversation_begun_anew_asks_again(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await process.reception.sink(any_stage.signal(Commanded("new"), UMA, "r1"))
    [grant] = await grants(any_stage)
    assert await any_stage.audit("grant ended") == [("Uma", grant.id, "shell: its conversation was begun anew")]
    await tell(process)
    assert await only(any_stage)


async def test_what_was_revoked_asks_again(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    [grant] = await grants(any_stage)
    assert await any_stage.store.approvals.revoke(grant.id, "Otto")
    assert not await any_stage.store.approvals.revoke(grant.id, "Otto")
    assert await any_stage.audit("grant revoked") == [("Otto", grant.id, "shell")]
    await tell(process)
    assert await only(any_stage)


# ------------------------------------------------------------------------------------------------------------ “Always…”


async def test_what_was_always_allowed_in_a_room_asks_again_after_its_day(any_stage: Stage) -> None:
    """Scenario 46."""
    process = await any_stage.process(Planned(status("git status")), [shell()])
    await tell(process)
    fields = {"pattern": "command = git status *", "where": "this room", "until": "2026-03-06", "uses": ""}
    click = Clicked((await only(any_stage)).id, Choice.ALWAYS, values=fields)
    assert (await process.reception.sink(any_stage.signal(click, ADA, "r1"))).outcome is Outcome.DECIDED
    await process.answer_all()
    process.ask(Planned(status("git status --short")))
    await tell(process, who=UMA)
    assert len(process.tools["shell"].calls) == 2
    assert len(await any_stage.audit("grant used")) == 1
    process.ask(Planned(status("git push")))
    await tell(process)
    await process.click((await only(any_stage)).id, Choice.DENY)
    await process.answer_all()
    process.ask(Planned(status("git status")))
    any_stage.clock.advance(timedelta(days=6))
    await tell(process)
    assert (await only(any_stage)).arguments == status("git status").arguments
    assert len(process.tools["shell"].calls) == 2


def status(command: str) -> Call:
    return Call("c-1", "shell", json.dumps({"command": command}))


@pytest.mark.parametrize(
    ("who", "fields"), [(ADA, {"pattern": "command = *"}), (ADA, {"uses": "0"}), (OTTO, {"where": "everywhere"})]
)
async def test_a_grant_that_goes_too_far_is_audited_as_every_answer_that_does_not_count(
    any_stage: Stage, who: Identity, fields: dict[str, str]
) -> None:
    process = await any_stage.process(Planned(SHELL if who is ADA else WRITE), [shell(), write()])
    await tell(process)
    question = await only(any_stage)
    click = Clicked(question.id, Choice.ALWAYS, values=fields)
    verdict = await process.reception.sink(any_stage.signal(click, who, "r1"))
    assert (verdict.outcome, verdict.form_stays) == (Outcome.UNCHANGED, True)
    name = "Ada" if who is ADA else "Otto"
    assert await any_stage.audit("click refused") == [(name, question.id, verdict.notice)]
    assert await only(any_stage) == question
    assert not await grants(any_stage)


async def for_uma_alone(process: Process) -> None:
    """A call of hers was asked about, and always allowed to what she asks for."""
    await tell(process, who=UMA)
    click = Clicked((await only(process.stage)).id, Choice.ALWAYS, values={"whose": "only Uma"})
    assert (await process.reception.sink(process.stage.signal(click, ADA, "r1"))).outcome is Outcome.DECIDED
    await process.answer_all()


async def test_a_grant_for_one_person_asks_again_for_another(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await for_uma_alone(process)
    await tell(process, who=UMA)
    assert len(process.tools["shell"].calls) == 2
    await tell(process, who=OTTO)
    assert (await only(any_stage)).requester_name == "Otto"
    assert len(process.tools["shell"].calls) == 2
    [row] = await any_stage.store.approvals.grants()
    assert (row.giver, row.person) == ("Ada", "Uma")
    card = (await any_stage.screen())[0]
    assert "in this room for Uma alone until" in card


async def test_a_grant_for_one_person_asks_where_others_joined_in(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await for_uma_alone(process)
    process.ask(Planned((SHELL,)))
    for who in (UMA, OTTO):
        signal = replace(any_stage.signal(Said("do it"), who, "r1"), reach=Addressing.MENTION)
        await process.reception.sink(signal)
    await process.answer_all()
    runs = await any_stage.runs()
    asked = await any_stage.pending()
    ran = len(process.tools["shell"].calls)
    assert (len(runs), len(asked), ran) == (2, 1, 1)


# ------------------------------------------------------------------------------------------------------- who, and when


@pytest.mark.parametrize(
    ("tool", "offers"),
    [
        (shell(), ["approve", "deny", "edit", "why", "conversation", "always"]),
        (write(), ["approve", "deny", "edit", "why", "conversation", "always"]),
    ],
)
async def test_it_is_offered_on_the_card(stage: Stage, tool: FakeTool, offers: list[str]) -> None:
    process = await stage.process(Planned(Call("c", tool.spec.name, "{}")), [tool])
    await tell(process)
    assert await buttons(stage) == [offers]


async def buttons(stage: Stage, room: str = "r1") -> list[list[str]]:
    """Choices on each card of a room."""
    rows = await stage.rows(
        "SELECT content FROM deliveries WHERE kind = 'approval' AND address = :room ORDER BY number",
        room=str(address(room)),
    )
    return [[choice for _, choice, _ in json.loads(content)["buttons"]] for (content,) in rows]


async def test_a_dangerous_call_is_for_owners_to_allow_for_longer(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await tell(process)
    question = await only(any_stage)
    verdict = await process.click(question.id, Choice.CONVERSATION, who=OTTO)
    assert verdict.notice == "Only an owner can allow dangerous calls in advance. You can still approve this one."
    assert not await grants(any_stage)
    assert await only(any_stage) == question
    assert (await process.click(question.id, who=OTTO)).outcome is Outcome.DECIDED


async def test_where_no_owner_decides_a_dangerous_call_has_no_such_button(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()], rights=Rights(frozenset({OTTO})))
    await tell(process)
    assert await buttons(stage) == [["approve", "deny", "edit", "why"]]
    verdict = await process.click((await only(stage)).id, Choice.CONVERSATION, who=OTTO)
    assert verdict.notice == "That isn't one of the answers to this question."


@pytest.mark.parametrize("asking", [Changes(grants=False), Changes(quorum=2), Changes(four_eyes=True)])
async def test_a_rule_may_forbid_it(stage: Stage, asking: Changes) -> None:
    rules = [Rule(Ruling.ASK, "shell", asking=asking)]
    process = await stage.process(Planned(SHELL), [shell()], rules=rules)
    await tell(process)
    assert await buttons(stage) == [["approve", "deny", "edit", "why"]]
    verdict = await process.click((await only(stage)).id, Choice.CONVERSATION)
    assert verdict.notice == "That isn't one of the answers to this question."


@pytest.mark.parametrize("asking", [Changes(grants=False), Changes(quorum=2), Changes(four_eyes=True)])
async def test_a_rule_made_later_asks_in_spite_of_it(any_stage: Stage, asking: Changes) -> None:
    await granted(await any_stage.process(Planned(SHELL), [shell()]))
    process = await any_stage.process(Planned(SHELL), [shell()], rules=[Rule(Ruling.ASK, "shell", asking=asking)])
    await tell(process)
    assert await only(any_stage)
    assert not process.tools["shell"].calls


@pytest.mark.parametrize(
    "rules",
    [[Rule(Ruling.DENY, "shell")], [Rule(Ruling.ASK), Rule(Ruling.VETO, "shell")]],
    ids=["deny", "veto behind ask"],
)
async def test_a_denial_goes_before_it(rules: list[Rule], any_stage: Stage) -> None:
    await granted(await any_stage.process(Planned(SHELL), [shell()]))
    process = await any_stage.process(Planned(SHELL), [shell()], rules=rules)
    await tell(process)
    assert not process.tools["shell"].calls
    assert not await any_stage.audit("grant used")


async def test_it_ends_with_the_rights_of_who_gave_it(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await any_stage.store.people.set_role("Otto", Role.OWNER, actor="test")
    await any_stage.store.people.set_role("Ada", Role.OPERATOR, actor="test")
    await tell(process)
    assert await only(any_stage)


async def test_an_approver_of_the_settings_may_give_it_for_as_long_as_they_are_one(stage: Stage) -> None:
    rights = Rights(frozenset({OTTO}))
    process = await stage.process(Planned(WRITE), [write()], rights=rights)
    await granted(process, who=OTTO)
    await tell(process)
    assert len(process.tools["write"].calls) == 2
    again = await stage.process(Planned(WRITE), [write()], rights=Rights(frozenset({ADA})))
    await tell(again)
    assert await only(stage)


async def test_a_tool_that_changed_asks_again(any_stage: Stage) -> None:
    tool = write()
    tool.spec = replace(tool.spec, form='{"description": "a"}')
    process = await any_stage.process(Planned(WRITE), [tool])
    await granted(process)
    tool.spec = replace(tool.spec, form='{"description": "b"}')
    await tell(process)
    question = await only(any_stage)
    assert question.caution.startswith("This tool has changed since it was accepted")
    await process.click(question.id)
    await process.answer_all()
    await tell(process)
    assert await only(any_stage), "it was accepted as it is now; the grant was for what it was"
    assert len(await grants(any_stage)) == 1


async def test_a_tool_that_may_do_more_now_asks_again(stage: Stage) -> None:
    tool = write()
    process = await stage.process(Planned(WRITE), [tool])
    await granted(process)
    tool.spec = replace(tool.spec, effect=Effect.DANGER)
    await tell(process)
    assert await only(stage)


async def test_calls_that_are_allowed_look_for_no_grant(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()], rules=[Rule(Ruling.ALLOW, "shell")])
    watched = Watched(stage.store.runs)
    process.agent._calls._store = watched
    await tell(process)
    assert len(process.tools["shell"].calls) == 1
    assert watched.looked == 0


class Watched:
    """A store that counts how often grants are looked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.looked = 0

    async def granted(self, call: Sought, rights: Rights) -> GrantId | None:
        self.looked += 1
        return await self._runs.granted(call, rights)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)


# ---------------------------------------------------------------------------------------------------- uses, and kills


async def limit(stage: Stage, uses: int) -> None:
    def change() -> Op[None]:
        yield text("UPDATE grants SET uses_left = :n"), {"n": uses}

    await stage.store.driver.write(change)


async def test_after_its_last_use_it_asks_again(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await limit(any_stage, 2)
    for _ in range(3):
        await tell(process)
    assert len(process.tools["shell"].calls) == 3
    assert [one.uses_left for one in await grants(any_stage)] == [0]
    assert await only(any_stage)


async def test_two_calls_of_one_answer_use_it_twice(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()])
    await granted(process)
    await limit(any_stage, 1)
    process.ask(Planned(SHELLS))
    await tell(process)
    assert len(process.tools["shell"].calls) == 2
    assert (await only(any_stage)).step == 3
    assert len(await any_stage.audit("grant used")) == 1


@pytest.mark.parametrize("point", ["model-answered", "step-recorded"])
async def test_a_kill_neither_loses_a_use_nor_takes_two(any_stage: Stage, point: str) -> None:
    await granted(await any_stage.process(Planned(SHELL), [shell()]))
    await limit(any_stage, 1)
    dying = await any_stage.process(Planned(SHELL), [shell()], probe=crash_at(point))
    await dying.reception.sink(any_stage.signal(Said("do it"), UMA, "r1"))
    await dying.until_crash()
    process = await any_stage.process(Planned(SHELL, end="done"), [shell()])
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1
    assert [one.uses_left for one in await grants(any_stage)] == [0]
    assert len(await any_stage.audit("grant used")) == 1
    assert not await any_stage.pending()


async def test_a_kill_after_the_click_keeps_the_grant(any_stage: Stage) -> None:
    await tell(await any_stage.process(Planned(SHELL), [shell()]))
    dying = await any_stage.process(Planned(SHELL), [shell()], probe=crash_at("tool-marked"))
    await dying.click((await only(any_stage)).id, Choice.CONVERSATION)
    await dying.until_crash()
    assert len(await grants(any_stage)) == 1


# ------------------------------------------------------------------------------------------------- all open calls at once

BOTH: Final = (WRITE, SHELL)


async def test_one_click_approves_all_open_calls_each_for_itself(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(BOTH), [write(), shell()])
    await tell(process)
    assert await buttons(any_stage) == [
        ["approve", "deny", "edit", "why", "conversation", "always"],
        ["approve", "deny", "edit", "why", "conversation", "always", "all"],
    ]
    first, last = await any_stage.pending()
    verdict = await process.click(last.id, Choice.ALL)
    assert (verdict.outcome, verdict.notice) == (Outcome.DECIDED, None)
    await process.answer_all()
    assert [len(process.tools[name].calls) for name in ("write", "shell")] == [1, 1]
    made = await any_stage.audit("approval approved")
    assert [(actor, subject) for actor, subject, _ in made] == [("Ada", first.id), ("Ada", last.id)]
    votes = await any_stage.rows("SELECT approval_id, choice FROM votes")
    assert sorted(votes) == sorted([(first.id, "approve"), (last.id, "approve")])


async def test_the_last_card_names_the_calls_before_it(stage: Stage) -> None:
    process = await stage.process(Planned((WRITE, WRITE, SHELL)), [write(), shell()])
    await tell(process, who=ADA)
    *_, last = await stage.screen()
    assert last.endswith(
        "“Approve all” also approves 2 earlier calls: `write`, `write`.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]\n[This conversation]\n[Always…]\n[Approve all]"
    )


async def test_what_somebody_may_not_decide_stays_open_and_they_are_told(any_stage: Stage) -> None:
    rules = [Rule(Ruling.ASK, "shell", asking=Changes(approvers=("owner",)))]
    process = await any_stage.process(Planned((SHELL, WRITE)), [write(), shell()], rules=rules)
    await tell(process)
    left, last = await any_stage.pending()
    verdict = await process.click(last.id, Choice.ALL, who=OTTO)
    assert verdict.outcome is Outcome.DECIDED
    assert verdict.notice == (
        "You approved 1 call. 1 question stays open. The rule for this call lets only owner answer."
    )
    assert (await only(any_stage)).id == left.id
    assert await any_stage.states() == [RunState.PARKED]


async def test_who_may_decide_none_is_told_so(stage: Stage) -> None:
    process = await stage.process(Planned(BOTH), [write(), shell()])
    await tell(process)
    *_, last = await stage.pending()
    verdict = await process.click(last.id, Choice.ALL, who=UMA)
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, "Only approvers can answer this.")
    assert len(await stage.pending()) == 2


async def test_a_call_that_takes_several_people_counts_one_vote_of_them(stage: Stage) -> None:
    rules = [Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))]
    process = await stage.process(Planned((SHELL, WRITE)), [write(), shell()], rules=rules)
    await tell(process)
    *_, last = await stage.pending()
    verdict = await process.click(last.id, Choice.ALL)
    assert verdict.notice == "You approved 1 call. 1 question stays open. Your approval is counted: 1 of 2 so far."


async def test_only_the_last_card_approves_all(stage: Stage) -> None:
    process = await stage.process(Planned(BOTH), [write(), shell()])
    await tell(process)
    first, _ = await stage.pending()
    verdict = await process.click(first.id, Choice.ALL)
    assert verdict.notice == "That isn't one of the answers to this question."
    assert len(await stage.pending()) == 2


async def test_a_single_call_has_no_such_button(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()])
    await tell(process)
    assert (
        await process.click((await only(stage)).id, Choice.ALL)
    ).notice == "That isn't one of the answers to this question."


async def test_two_clicks_on_all_at_once_decide_each_call_once(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(BOTH), [write(), shell()])
    await tell(process)
    *_, last = await any_stage.pending()
    verdicts = await asyncio.gather(process.click(last.id, Choice.ALL), process.click(last.id, Choice.ALL, who=OTTO))
    assert sorted(one.outcome for one in verdicts) == [Outcome.DECIDED, Outcome.UNCHANGED]
    await process.answer_all()
    assert [len(process.tools[name].calls) for name in ("write", "shell")] == [1, 1]
    assert len(await any_stage.audit("approval approved")) == 2
