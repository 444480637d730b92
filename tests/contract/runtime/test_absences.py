"""Absences: a question goes to the next who may decide, and to all where that would be nobody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from runtime.contract import Identity, Outcome
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes, Terms
from tests.contract.runtime.approvers import GENERAL, HOUR, NAMED, alone, cards, only, shell, tell, waited
from tests.contract.runtime.stage import ADA, OTTO, SHELL, UMA, Process, Stage
from tests.contract.runtime.strict import Planned

MONDAY = "[2026-03-01 23:00 UTC](time:2026-03-01T23:00:00Z)"


async def asked_while_away(
    stage: Stage,
    *away: Identity,
    there: Sequence[Identity] = (),
    private: Sequence[Identity] = (ADA, OTTO),
    **more: Any,
) -> Process:
    """Uma asked for a dangerous call in a room where `there` spoke before, while some were away."""
    process = await stage.process(Planned(end="hello"), [shell()], places=NAMED, **more)
    await alone(process, *private)
    for one in there:
        await tell(process, "hi", who=one)
    for one in away:
        await process.say("/timezone Europe/Berlin", who=one, room="desk")
        await process.say("/away until Monday", who=one, room="desk")
    process.ask(Planned(SHELL, end="Linux"))
    await tell(process, "look", who=UMA)
    return process


async def test_who_is_away_is_not_asked_and_the_card_says_until_when(any_stage: Stage) -> None:
    process = await asked_while_away(any_stage, ADA)
    here, ada, otto = await cards(any_stage, GENERAL, "ada", "otto")
    assert here.endswith(f"I've asked Otto. Ada is away until {MONDAY}.")
    assert ada == "hello"
    assert "[Approve]\n[Deny]\n[Edit…]\n[Why?]" in otto
    assert "away" not in otto
    assert (await process.click((await only(any_stage)).id, who=OTTO, room="otto")).outcome is Outcome.DECIDED


async def test_when_everybody_is_away_all_are_asked_nonetheless(any_stage: Stage) -> None:
    await asked_while_away(any_stage, ADA, OTTO)
    here, ada, otto = await cards(any_stage, GENERAL, "ada", "otto")
    assert here.endswith(f"I've asked Ada and Otto. Ada is away until {MONDAY}. Otto is away until {MONDAY}.")
    assert "[Approve]\n[Deny]\n[Edit…]\n[Why?]" in ada
    assert "[Approve]\n[Deny]\n[Edit…]\n[Why?]" in otto


async def test_when_the_next_cannot_be_reached_who_is_away_is_asked(stage: Stage) -> None:
    await asked_while_away(stage, ADA, private=[ADA])
    here, ada = await cards(stage, GENERAL, "ada")
    assert here.endswith(f"I've asked Ada. Ada is away until {MONDAY}.")
    assert "[Approve]\n[Deny]\n[Edit…]\n[Why?]" in ada


async def test_when_too_few_are_left_for_a_quorum_all_are_asked(stage: Stage) -> None:
    await asked_while_away(stage, ADA, rules=[Rule(Ruling.ASK, "shell", asking=Changes(quorum=2))])
    [here] = await cards(stage, GENERAL)
    assert f"I've asked Ada and Otto. Ada is away until {MONDAY}. 2 people must approve this." in here


async def test_a_room_keeps_its_buttons_while_who_is_there_is_away(stage: Stage) -> None:
    """They may come by, and others may be there who never said anything."""
    await asked_while_away(stage, ADA, there=[ADA])
    [here] = await cards(stage, GENERAL)
    assert f"I've asked Otto. Ada is away until {MONDAY}.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]" in here


async def test_who_is_away_may_still_decide(stage: Stage) -> None:
    process = await asked_while_away(stage, ADA, there=[ADA])
    assert (await process.click((await only(stage)).id, who=ADA, room=GENERAL)).outcome is Outcome.DECIDED


async def test_who_is_back_is_asked_again(stage: Stage) -> None:
    process = await asked_while_away(stage, ADA, OTTO)
    await process.say("/back", who=ADA, room="desk")
    await tell(process, "/stop", who=UMA)
    stage.clock.advance(timedelta(hours=1))
    await tell(process, "look", who=UMA)
    assert f"I've asked Ada. Otto is away until {MONDAY}." in "\n".join(await stage.screen(GENERAL))


async def test_an_absence_that_is_over_is_none(stage: Stage) -> None:
    process = await asked_while_away(stage, ADA)
    stage.clock.advance(timedelta(hours=11))
    await tell(process, "look", who=OTTO)
    assert "I've asked Ada.\n" in (await stage.screen(GENERAL))[-1] + "\n"


async def test_an_escalation_passes_over_who_is_away(stage: Stage) -> None:
    terms = Terms(to=("room",), escalate=8 * HOUR, escalate_to=("dm",))
    process = await asked_while_away(stage, OTTO, there=[ADA], terms=terms)
    await waited(process, 7 * HOUR)
    await waited(process, 2 * HOUR)
    assert (await cards(stage, "otto")) == ["hello"]
    assert "[Approve]\n[Deny]\n[Edit…]\n[Why?]" in (await cards(stage, "ada"))[0]
