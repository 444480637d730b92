"""Grants as rows: used once for each step that is recorded, however many nodes want them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from runtime.contract import Address, Addressing, ApprovalId, Choice, Clicked, Identity, Outcome, Said, Verdict
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import StepState
from runtime.policy.grants import GrantId
from runtime.store.protocol import Claim, Recorded
from tests.contract.store.stage import ADA, OTTO, ROOM, SHELL, UMA, VERA, WRITE, Stage, address, reply, step


async def a_grant(stage: Stage, uses: int | None = None) -> GrantId:
    """One that is there, from a question that was answered so."""
    parked = await stage.park(SHELL)
    [question] = parked.approvals
    await stage.write(
        """UPDATE approvals SET card = '{"offers": ["conversation"], "form": "f"}' WHERE id = :id""", id=question
    )
    assert (await stage.click(question, Choice.CONVERSATION)).verdict.notice is None
    await stage.write("UPDATE grants SET uses_left = :n", n=uses)
    [granted] = await stage.store.approvals.grants()
    await stage.finish(await stage.claim())
    return granted.grant.id


async def id_of(stage: Stage, name: str) -> str:
    known = await stage.store.people.person_named(name)
    assert known
    return known.person.id


async def record(stage: Stage, claim: Claim, grant: GrantId) -> Recorded:
    return await stage.record(claim, replace(step(SHELL), grant=grant, caution="Without a sandbox."))


async def begun(stage: Stage, *rooms: Address) -> list[Claim]:
    return [await stage.begin(at=room) for room in rooms]


async def test_a_conversations_grant_is_kept_whole(stage: Stage) -> None:
    await a_grant(stage)
    [made] = await stage.store.approvals.grants()
    grant = made.grant
    assert (made.giver, grant.agent, grant.tool, grant.form) == ("Ada", "main", "shell", "f")
    assert (grant.session, grant.room) == (f"main|{ROOM}", "")
    assert grant.pattern.fits({"command": "uname -a"})
    assert not grant.pattern.fits({"command": "uname"})
    assert (grant.created_at, grant.until) == (stage.clock(), stage.clock() + timedelta(hours=24))
    assert (grant.uses_left, grant.revoked_at) == (None, None)


async def test_a_step_uses_it_in_its_own_transaction(stage: Stage) -> None:
    grant = await a_grant(stage, 2)
    [claim] = await begun(stage, ROOM)
    recorded = await record(stage, claim, grant)
    assert [(one.state, one.caution) for one in recorded.steps] == [(StepState.OPEN, "Without a sandbox.")]
    assert [one.grant.uses_left for one in await stage.store.approvals.grants()] == [1]
    assert [subject for _, subject, _ in await stage.audit("grant used")] == [grant]


async def test_a_step_without_a_use_left_is_asked_about(stage: Stage) -> None:
    grant = await a_grant(stage, 0)
    [claim] = await begun(stage, ROOM)
    recorded = await record(stage, claim, grant)
    assert [(one.state, one.caution) for one in recorded.steps] == [(StepState.ASKED, "Without a sandbox.")]
    assert not await stage.audit("grant used")


async def test_of_many_that_want_the_last_use_one_gets_it(stage: Stage) -> None:
    grant = await a_grant(stage, 1)
    claims = await begun(stage, *(address(f"r{n}") for n in range(2, 8)))
    await stage.many()
    recorded = await asyncio.gather(*(record(stage, claim, grant) for claim in claims))
    states = sorted(one.state for made in recorded for one in made.steps)
    assert states == [StepState.ASKED] * 5 + [StepState.OPEN]
    assert [one.grant.uses_left for one in await stage.store.approvals.grants()] == [0]
    assert len(await stage.audit("grant used")) == 1


async def test_a_use_and_a_revocation_at_once_end_in_some_order(stage: Stage) -> None:
    grant = await a_grant(stage)
    claims = await begun(stage, *(address(f"r{n}") for n in range(2, 8)))
    await stage.many()
    using = asyncio.gather(*(record(stage, claim, grant) for claim in claims))
    recorded, revoked = await asyncio.gather(using, stage.store.approvals.revoke(grant, "Ada"))
    assert revoked
    used = sum(one.state is StepState.OPEN for made in recorded for one in made.steps)
    assert len(await stage.audit("grant used")) == used
    [claim] = await begun(stage, address("r9"))
    assert [one.state for one in (await record(stage, claim, grant)).steps] == [StepState.ASKED]


async def test_a_fenced_owner_uses_nothing(stage: Stage) -> None:
    grant = await a_grant(stage, 1)
    [claim] = await begun(stage, ROOM)
    gone = replace(claim.lane, fence=claim.lane.fence - 1)
    given = replace(step(SHELL), grant=grant)
    assert await stage.store.runs.record_model(gone, claim.run_id, 1, reply(), [given]) is None
    assert [one.grant.uses_left for one in await stage.store.approvals.grants()] == [1]


async def test_grants_are_listed_newest_first_also_those_that_ended(stage: Stage) -> None:
    first = await a_grant(stage)
    await stage.store.approvals.revoke(first, "Ada")
    stage.clock.advance(seconds=1)
    await asyncio.sleep(0.002)  # ids sort by the millisecond in which they were made
    parked = await stage.park(SHELL, actor=ADA, at=address("r2"))
    await stage.write(
        """UPDATE approvals SET card = '{"offers": ["conversation"]}' WHERE id = :id""", id=parked.approvals[0]
    )
    await stage.click(parked.approvals[0], Choice.CONVERSATION, at=address("r2"))
    listed = await stage.store.approvals.grants()
    assert [one.grant.revoked_at is None for one in listed] == [True, False]
    assert listed[1].grant.id == first


# --------------------------------------------------------------------------------------------------------- in the chat


async def told(stage: Stage, words: str, *, actor: Identity = ADA, **more: Any) -> str:
    signal = replace(stage.signal(Said(words), actor=actor), private=3000, **more)
    return (await stage.take_in(signal)).verdict.notice or ""


async def test_operators_list_what_holds_and_end_it(stage: Stage) -> None:
    grant = await a_grant(stage, 3)
    assert await told(stage, "/grants") == (
        "1 grant. I make these calls without asking; `/grants revoke ID` ends one.\n\n"
        f"- `{grant[:10]}` `shell` `command = uname -a` in one conversation until "
        "[2026-03-02 12:00 UTC](time:2026-03-02T12:00:00Z), 3 uses left, by Ada"
    )
    assert await told(stage, f"!grants revoke {grant[:8]}", actor=OTTO) == (
        "Ended. I'll ask about `shell` `command = uname -a` again."
    )
    assert await stage.audit("grant revoked") == [("Otto", grant, "shell")]
    assert await told(stage, "/grants") == "There are no grants, so I ask whenever the rules say so."


@pytest.mark.parametrize("words", ["nothing", "x", "0000000"])
async def test_a_grant_nobody_knows_is_not_ended(stage: Stage, words: str) -> None:
    await a_grant(stage)
    assert await told(stage, f"/grants revoke {words}") == "No grant has that id. `/grants` lists them."
    assert not await stage.audit("grant revoked")


@pytest.mark.parametrize("actor", [UMA, VERA])
async def test_who_is_no_operator_neither_lists_nor_ends_any(stage: Stage, actor: Identity) -> None:
    grant = await a_grant(stage)
    for words in ("/grants", f"/grants revoke {grant}"):
        assert await told(stage, words, actor=actor) == "Only operators and owners can see grants."
    assert not await stage.audit("grant revoked")


async def test_a_room_of_several_people_reads_no_list(stage: Stage) -> None:
    await a_grant(stage)
    signal = replace(stage.signal(Said("!grants")), message_id="m1", reach=Addressing.MENTION)
    await stage.take_in(signal)
    *_, waiting = await stage.waiting()
    assert waiting.delivery.content.text == (
        "I only list grants in private. Ask me in a direct chat, or see *Grants* on the console."
    )


# ------------------------------------------------------------------------------------------------------------ “Always…”

FIELDS = {"pattern": "command = uname *", "where": "this room", "until": "2026-03-06", "uses": "2"}


async def asked(stage: Stage, at: Address = ROOM) -> ApprovalId:
    """A question whose card offers all there is."""
    [question] = (await stage.park(SHELL, at=at)).approvals
    await stage.write(
        """UPDATE approvals SET card = '{"offers": ["always"], "form": "f"}' WHERE id = :id""", id=question
    )
    return question


async def send(stage: Stage, question: ApprovalId, values: dict[str, str], *, actor: Identity = ADA) -> Verdict:
    click = Clicked(question, Choice.ALWAYS, values=values)
    return (await stage.take_in(stage.signal(click, actor=actor))).verdict


async def test_a_form_that_was_filled_in_becomes_a_grant(stage: Stage) -> None:
    question = await asked(stage, replace(ROOM, thread="t1"))
    assert (await send(stage, question, FIELDS)).outcome is Outcome.DECIDED
    [made] = await stage.store.approvals.grants()
    grant = made.grant
    assert (grant.session, grant.room, grant.uses_left, grant.by) == ("", str(ROOM), 2, await id_of(stage, "Ada"))
    assert grant.until == datetime(2026, 3, 7, tzinfo=UTC)
    assert grant.pattern.fits({"command": "uname -r"})
    approval = await stage.store.approvals.approval(question)
    assert approval
    assert (approval.choice, approval.reason) == (
        Choice.ALWAYS,
        "`uname *` in this room until [2026-03-07 00:00 UTC](time:2026-03-07T00:00:00Z), 2 uses",
    )


async def test_a_day_ends_by_the_clocks_of_whoever_names_it(stage: Stage) -> None:
    await stage.say("/timezone Europe/Berlin")
    question = await asked(stage)
    await send(stage, question, FIELDS)
    [made] = await stage.store.approvals.grants()
    assert made.grant.until == datetime(2026, 3, 6, 23, tzinfo=UTC)


async def test_an_owner_may_allow_it_everywhere(stage: Stage) -> None:
    await send(stage, await asked(stage), FIELDS | {"where": "everywhere"})
    [made] = await stage.store.approvals.grants()
    assert made.grant.everywhere


async def test_a_wrong_form_leaves_the_question_open_and_tells_all_that_is_wrong(stage: Stage) -> None:
    question = await asked(stage)
    wrong = {"pattern": "command = *", "where": "this room", "until": "someday", "uses": "0"}
    verdict = await send(stage, question, wrong)
    assert (verdict.outcome, verdict.form_stays) == (Outcome.UNCHANGED, True)
    assert verdict.notice == (
        "command: a dangerous call can't be allowed with * alone. “someday” isn't a date. Write one like 2026-03-31. "
        "For “How often”, give a whole number from 1 to 10,000, or leave it empty."
    )
    approval = await stage.store.approvals.approval(question)
    assert approval
    assert approval.state is ApprovalState.PENDING
    assert not await stage.store.approvals.grants()


async def test_only_an_owner_always_allows_a_dangerous_call(stage: Stage) -> None:
    question = await asked(stage)
    verdict = await send(stage, question, FIELDS, actor=OTTO)
    assert verdict.notice == "Only an owner can allow dangerous calls in advance. You can still approve this one."
    assert not await stage.store.approvals.grants()


@pytest.mark.parametrize("actor", [UMA, VERA])
async def test_who_may_not_decide_sends_no_form(stage: Stage, actor: Identity) -> None:
    verdict = await send(stage, await asked(stage), FIELDS, actor=actor)
    assert verdict.notice == "Only approvers can answer this."
    assert not await stage.store.approvals.grants()


async def test_a_form_for_nothing_is_refused(stage: Stage) -> None:
    verdict = await send(stage, ApprovalId("forged"), FIELDS)
    assert verdict.notice == "I can't find this question."


async def test_a_form_sent_twice_grants_once(stage: Stage) -> None:
    question = await asked(stage)
    verdicts = await asyncio.gather(send(stage, question, FIELDS), send(stage, question, FIELDS))
    assert sorted(one.outcome for one in verdicts) == [Outcome.DECIDED, Outcome.UNCHANGED]
    assert len(await stage.store.approvals.grants()) == 1


async def test_a_click_for_all_calls_tells_of_each_that_it_settled(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    first, last = parked.approvals
    await stage.write("""UPDATE approvals SET card = '{"offers": ["all"]}' WHERE id = :id""", id=last)
    assert (await stage.click(last, Choice.ALL)).settled == (first, last)


async def test_a_click_for_one_call_tells_of_none_beside_it(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    assert (await stage.click(parked.approvals[0])).settled == ()
