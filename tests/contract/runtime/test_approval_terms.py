"""The terms of a question: who decides it, how many it takes, and how long it waits."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest

from runtime.contract import Choice, Identity, Outcome, Role
from tests.contract.runtime.approvers import GENERAL, answered, asked_for, asked_in_general, cards, only, ruled
from tests.contract.runtime.stage import ADA, OTTO, STRANGER, UMA, VERA, Stage


@pytest.mark.parametrize(
    ("approvers", "may"),
    [
        (("Otto",), (OTTO,)),
        ((OTTO,), (OTTO,)),
        (("owner",), (ADA,)),
        (("operator",), (ADA, OTTO)),
        (("Uma", "user"), (ADA, OTTO)),
        (("Uma",), ()),
    ],
)
async def test_a_rule_says_who_of_those_who_may_decide_does(
    approvers: tuple[str, ...], may: tuple[Identity, ...], stage: Stage
) -> None:
    """It narrows, and adds nobody."""
    process = await asked_for(stage, approvers=approvers)
    for who in {ADA, OTTO, UMA} - set(may):
        outcome, notice = await answered(process, who=who)
        assert outcome is Outcome.UNCHANGED
        assert notice in (
            "Only approvers can answer this.",
            f"The rule for this call lets only {' or '.join(approvers)} answer.",
        )
    for who in may[:1]:
        assert await answered(process, who=who) == (Outcome.DECIDED, None)


async def test_nobody_has_a_role_by_being_called_like_it(stage: Stage) -> None:
    assert await stage.store.people.add_person("owner", Role.OPERATOR, [Identity("page:sly")], actor="test")
    process = await asked_for(stage, approvers=("owner",))
    _, notice = await answered(process, who=Identity("page:sly"))
    assert notice == "The rule for this call lets only owner answer."


async def test_four_eyes_never_counts_the_person_who_asked(stage: Stage) -> None:
    process = await asked_for(stage, who=ADA, four_eyes=True)
    assert await answered(process, who=ADA) == (
        Outcome.UNCHANGED,
        "Someone else has to answer: you asked for this yourself.",
    )
    assert await answered(process, who=OTTO) == (Outcome.DECIDED, None)


async def test_a_denial_without_a_reason_is_asked_for_one(stage: Stage) -> None:
    process = await asked_for(stage, reason_required=True)
    _, notice = await answered(process, Choice.DENY)
    assert notice == "Please give a reason when you deny this."
    assert await answered(process, Choice.DENY, "not today") == (Outcome.DECIDED, None)


async def test_an_approval_needs_no_reason(stage: Stage) -> None:
    process = await asked_for(stage, reason_required=True)
    assert await answered(process) == (Outcome.DECIDED, None)


async def test_a_rule_says_how_long_its_question_waits(stage: Stage) -> None:
    process = await asked_for(stage, expires=timedelta(minutes=30))
    [card] = await cards(stage, GENERAL)
    assert "expires [2026-03-01 12:30 UTC](time:2026-03-01T12:30:00Z) (in 30\u00a0min)" in card
    stage.clock.advance(timedelta(minutes=30))
    assert (await answered(process))[1] == "This question expired just now."


async def test_a_quorum_is_of_people_and_the_votes_so_far_stand_on_every_card(any_stage: Stage) -> None:
    """Scenario 23."""
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO], rules=ruled(quorum=2))
    assert all("2 people must approve this." in card for card in await cards(any_stage, GENERAL, "otto"))
    assert await answered(process) == (Outcome.UNCHANGED, "Your approval is counted: 1 of 2 so far.")
    for card in await cards(any_stage, GENERAL, "otto"):
        assert "Ada approved: 1 of 2.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]" in card
    assert await answered(process) == (Outcome.UNCHANGED, "You've approved this already: 1 of 2 so far.")
    assert process.tools["shell"].calls == []
    assert await answered(process, who=OTTO) == (Outcome.DECIDED, None)
    assert len(process.tools["shell"].calls) == 1
    assert (await any_stage.screen("otto"))[-1].startswith("✅ **Approved** by Ada and Otto, [")
    assert await any_stage.audit("approval vote") == [
        ("Ada", (await any_stage.rows("SELECT id FROM approvals"))[0][0], "1 of 2")
    ]


async def test_one_person_with_two_accounts_counts_once(stage: Stage) -> None:
    other = Identity("page:ada2")
    assert await stage.store.people.add_person("Ada 2", Role.OWNER, [other], actor="test")
    process = await asked_for(stage, quorum=2)
    await answered(process)
    await stage.store.people.merge("Ada 2", "Ada", actor="test")
    assert (await answered(process, who=other))[1] == "You've approved this already: 1 of 2 so far."
    assert process.tools["shell"].calls == []


async def test_two_votes_of_people_who_become_one_count_once(stage: Stage) -> None:
    other = Identity("page:ada2")
    assert await stage.store.people.add_person("Ada 2", Role.OWNER, [other], actor="test")
    process = await asked_for(stage, quorum=3)
    await answered(process)
    await answered(process, who=other)
    await stage.store.people.merge("Ada 2", "Ada", actor="test")
    assert (await answered(process, who=OTTO))[1] == "Your approval is counted: 2 of 3 so far."


async def test_the_vote_of_one_who_may_not_decide_any_more_does_not_count(stage: Stage) -> None:
    process = await asked_for(stage, quorum=2)
    await answered(process, who=OTTO)
    await stage.store.people.set_role("Otto", Role.USER, actor="test")
    assert (await answered(process))[1] == "Your approval is counted: 1 of 2 so far."


async def test_one_denial_settles_a_quorum_at_once_also_of_one_who_approved(stage: Stage) -> None:
    process = await asked_for(stage, quorum=2)
    await answered(process)
    assert await answered(process, Choice.DENY) == (Outcome.DECIDED, None)
    assert process.tools["shell"].calls == []


async def test_of_last_votes_at_once_one_decides(any_stage: Stage) -> None:
    """Scenario 23."""
    more = [Identity(f"page:op{n}") for n in range(4)]
    for who in more:
        assert await any_stage.store.people.add_person(who, Role.OPERATOR, [who], actor="test")
    process = await asked_for(any_stage, quorum=3)
    question = (await only(any_stage)).id
    voters = [ADA, OTTO, *more]
    verdicts = await asyncio.gather(*(process.click(question, who=who, room=GENERAL) for who in voters))
    await process.answer_all()
    assert [verdict.outcome for verdict in verdicts].count(Outcome.DECIDED) == 1
    assert len([verdict for verdict in verdicts if "is counted" in (verdict.notice or "")]) == 2
    assert len(process.tools["shell"].calls) == 1
    assert len(await any_stage.audit("approval approved")) == 1


@pytest.mark.parametrize("seed", range(4))
async def test_whoever_presses_wherever_and_however_often_only_distinct_approvers_count(
    seed: int, any_stage: Stage
) -> None:
    """Scenario 22: strangers, plain users, other rooms, the requester, repeats, and twenty at once."""
    chance, operators = Random(seed), [Identity(f"page:op{n}") for n in range(3)]
    for who in operators:
        assert await any_stage.store.people.add_person(who, Role.OPERATOR, [who], actor="test")
    rules = ruled(quorum=3, four_eyes=True)
    process = await asked_in_general(any_stage, private=[ADA], who=operators[0], rules=rules)
    question = (await only(any_stage)).id
    everybody, places = [ADA, OTTO, UMA, VERA, STRANGER, *operators], [GENERAL, "ada", "elsewhere", "uma"]
    counted: set[Identity] = set()
    decided = 0
    for _ in range(4):
        presses = [(chance.choice(everybody), chance.choice(places)) for _ in range(20)]
        verdicts = await asyncio.gather(*(process.click(question, who=who, room=room) for who, room in presses))
        decided += [verdict.outcome for verdict in verdicts].count(Outcome.DECIDED)
        may = {ADA, OTTO, *operators[1:]}
        counted |= {who for who, room in presses if who in may and room in (GENERAL, "ada")}
        await process.answer_all()
        enough = len(counted) >= 3
        assert (decided, len(process.tools["shell"].calls)) == (int(enough), int(enough))
    votes = await any_stage.rows("SELECT count(*), count(DISTINCT person_id) FROM votes")
    assert votes == [(min(len(counted), 3),) * 2]
