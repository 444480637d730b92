"""Grants as rows: used once for each step that is recorded, however many nodes want them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from runtime.contract import Address, Choice
from runtime.domain.runs import StepState
from runtime.policy.grants import GrantId
from runtime.store.protocol import Claim, Recorded
from tests.contract.store.stage import ADA, ROOM, SHELL, Stage, address, reply, step


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


async def record(stage: Stage, claim: Claim, grant: GrantId) -> Recorded:
    return await stage.record(claim, replace(step(SHELL), grant=grant, caution="Without a sandbox."))


async def begun(stage: Stage, *rooms: Address) -> list[Claim]:
    return [await stage.begin(at=room) for room in rooms]


async def test_a_conversations_grant_is_kept_whole(stage: Stage) -> None:
    await a_grant(stage)
    [made] = await stage.store.approvals.grants()
    grant = made.grant
    assert (made.giver, grant.agent, grant.tool, grant.form) == ("Ada", "main", "shell", "f")
    assert (grant.session, grant.room, grant.person, grant.tainted) == (f"main|{ROOM}", "", "", False)
    assert grant.pattern.fits({"command": "uname -a"})
    assert not grant.pattern.fits({"command": "uname"})
    assert (grant.created_at, grant.until) == (stage.clock(), stage.clock() + timedelta(hours=24))
    assert (grant.uses_left, grant.revoked_at) == (None, None)


async def test_a_step_uses_it_in_its_own_transaction(stage: Stage) -> None:
    grant = await a_grant(stage, 2)
    [claim] = await begun(stage, ROOM)
    recorded = await record(stage, claim, grant)
    assert [(one.state, one.caution) for one in recorded.steps] == [(StepState.OPEN, "")]
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
