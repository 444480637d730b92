"""The roster: people are renamed, merged, signed out and removed, and nobody keeps a right by it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from runtime.contract import Busy, Choice, Outcome, Person, Role, Said, ScheduleState
from runtime.domain.approvals import Rights
from runtime.store.protocol import Unmoved
from tests.contract.store.stage import ADA, GATE, OTHER_ROOM, OTTO, SHELL, UMA, WRITE, Stage
from tests.contract.store.test_counted_schedules import planned


async def person_ids(stage: Stage, name: str) -> str:
    found = await stage.store.people.person_named(name)
    assert found
    return found.person.id


async def mentions(stage: Stage, person_id: str) -> list[str]:
    """The tables in which a person's id still stands."""
    return [table for table, rows in (await stage.everything()).items() if person_id in str(rows) and table != "audit"]


async def test_a_renamed_person_keeps_all_that_is_theirs(stage: Stage) -> None:
    made = await stage.store.people.rename("Uma", "Uma Thorn", actor="Ada")
    assert isinstance(made, Person)
    assert await stage.store.people.identified(UMA) == made
    assert await stage.store.people.person_named("Uma") is None
    assert await stage.store.people.rename("nobody", "x", actor="Ada") is Unmoved.NOBODY
    assert await stage.store.people.rename("Otto", "Ada", actor="Ada") is Unmoved.TAKEN
    assert await stage.audit("person renamed") == [("Ada", "Uma Thorn", "was Uma")]


async def test_a_person_who_is_signed_out_has_no_link(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "token-of-uma", actor="Ada")
    assert await stage.store.people.person_of("token-of-uma")
    assert isinstance(await stage.store.people.sign_out("Uma", actor="Ada"), Person)
    assert await stage.store.people.person_of("token-of-uma") is None
    assert await stage.store.people.identified(UMA)
    assert await stage.audit("signed out") == [("Ada", "Uma", "")]


async def test_a_removed_person_is_a_stranger_and_their_words_stay(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "token-of-uma", actor="Ada")
    await stage.say("remember this", actor=UMA)
    who = await person_ids(stage, "Uma")
    assert isinstance(await stage.store.people.remove("Uma", actor="Ada"), Person)
    assert await stage.store.people.identified(UMA) is None
    assert await stage.store.people.person_of("token-of-uma") is None
    refused = await stage.take_in(stage.signal(Said("and this"), actor=UMA))
    assert refused.verdict.outcome is Outcome.REFUSED
    assert "remember this" in str(await stage.everything())
    assert not {"people", "identities"} & set(await mentions(stage, who))
    assert await stage.audit("person removed") == [("Ada", "Uma", "user")]


async def test_what_a_removed_person_asked_for_is_decided_by_others(stage: Stage) -> None:
    (question,) = (await stage.park(WRITE, actor=UMA)).approvals
    await stage.store.people.remove("Uma", actor="Ada")
    clicked = await stage.click(question, actor=OTTO)
    assert clicked.verdict.outcome is Outcome.DECIDED
    claim = await stage.claim()
    assert claim.requester is None
    assert claim.names == frozenset()


async def test_what_a_removed_person_still_waits_for_is_not_answered(stage: Stage) -> None:
    """It would be worked on for nobody, past each rule that names them."""
    claim = await stage.begin("first", actor=ADA)
    await stage.say("and mine", actor=UMA)
    await stage.say("alone", actor=UMA, at=OTHER_ROOM)
    await stage.say("otto's", actor=OTTO)
    await stage.store.people.remove("Uma", actor="Ada")
    await stage.finish(claim)
    second = await stage.claim()
    assert second.requester
    assert second.requester.name == "Otto"
    await stage.finish(second)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    assert await stage.column("SELECT SUM(waiting) FROM sessions") == [0]
    assert "and mine" in str(await stage.everything())
    assert len(await stage.audit("not answered")) == 2


async def test_a_removed_person_answers_nothing_any_more(stage: Stage) -> None:
    (question,) = (await stage.park(SHELL, actor=UMA)).approvals
    await stage.store.people.remove("Otto", actor="Ada")
    clicked = await stage.click(question, actor=OTTO)
    assert clicked.verdict.outcome is Outcome.REFUSED


async def test_the_last_owner_stays(stage: Stage) -> None:
    assert await stage.store.people.remove("Ada", actor="Ada") is Unmoved.LAST_OWNER
    assert await stage.store.people.merge("Ada", "Otto", actor="Ada") is Unmoved.LAST_OWNER
    await stage.store.people.set_role("Otto", Role.OWNER, actor="Ada")
    assert isinstance(await stage.store.people.merge("Ada", "Otto", actor="Otto"), Person)
    assert await stage.store.people.remove("Otto", actor="Otto") is Unmoved.LAST_OWNER


async def test_two_owners_removed_at_once_leave_one(stage: Stage) -> None:
    await stage.store.people.set_role("Otto", Role.OWNER, actor="Ada")
    await stage.many()
    made = await asyncio.gather(
        stage.store.people.remove("Ada", actor="Otto"), stage.store.people.remove("Otto", actor="Ada")
    )
    assert [one is Unmoved.LAST_OWNER for one in made].count(True) == 1


async def test_two_owners_who_get_less_at_once_leave_one(stage: Stage) -> None:
    await stage.store.people.set_role("Otto", Role.OWNER, actor="Ada")
    await stage.many()
    made = await asyncio.gather(*(stage.store.people.set_role(name, Role.USER, actor="") for name in ("Ada", "Otto")))
    assert [one is Unmoved.LAST_OWNER for one in made].count(True) == 1
    assert Role.OWNER in [known.person.role for known in await stage.store.people.people()]


async def test_two_people_who_are_one_share_everything(stage: Stage) -> None:
    """No row says any more that there were two."""
    (question,) = (await stage.park(WRITE, actor=UMA)).approvals
    await stage.click(question, Choice.DENY, actor=OTTO)
    for one in ("Uma", "Otto"):
        old = await person_ids(stage, one)
        assert isinstance(await stage.store.people.merge(one, "Vera", actor="Ada"), Person)
        assert await mentions(stage, old) in ([], ["identities"])  # the name under which they spoke on the page
    merged = await stage.store.people.identified(UMA)
    assert merged
    assert (merged.name, merged.role) == ("Vera", Role.VIEWER)
    assert await stage.store.people.identified(OTTO) == merged
    assert ("Ada", "Vera", "Uma, user") in await stage.audit("person merged")


async def test_nobody_approves_by_another_name_what_they_asked_for(stage: Stage) -> None:
    (question,) = (await stage.park(WRITE, actor=UMA)).approvals
    await stage.store.people.set_role("Vera", Role.OPERATOR, actor="Ada")
    await stage.store.people.merge("Uma", "Vera", actor="Ada")
    strict = replace(GATE, rights=Rights(self_approval=False))
    clicked = await stage.click(question, actor=UMA, gate=strict)
    assert clicked.verdict.notice == "Someone else has to answer: you asked for this yourself."


async def test_nothing_that_a_removed_person_planned_fires(stage: Stage) -> None:
    """Without its owner it would work for nobody, with the rights of what the settings plan."""
    uma = await stage.store.people.identified(UMA)
    schedule = await planned(stage)
    assert uma
    await stage.write("UPDATE schedules SET owner = :who", who=uma.id)
    await stage.store.people.remove("Uma", actor="Ada")
    stage.clock.advance(hours=2)
    assert await stage.store.schedules.due_schedules(stage.clock()) == []
    found = await stage.store.schedules.schedule(schedule.id)
    assert found
    assert (found.state, found.reason) == (ScheduleState.REMOVED, "Uma was removed")
