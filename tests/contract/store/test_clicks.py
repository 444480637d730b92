"""Clicks that change nothing, each told why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from runtime.contract import (
    ApprovalId,
    Choice,
    Clicked,
    Outcome,
    Signal,
)
from runtime.domain.approvals import ApprovalState
from runtime.store.protocol import KeptRoom, OpenDelivery, Taken
from tests.contract.store.asking import CHOSEN, NO_SELF
from tests.contract.store.stage import (
    ADA,
    GATE,
    OTHER_ROOM,
    OTTO,
    ROOM,
    SHELL,
    STRANGER,
    UMA,
    VERA,
    WRITE,
    Parked,
    Stage,
)


async def _late(stage: Stage, parked: Parked) -> Taken:
    stage.clock.advance(hours=12)
    return await stage.click(parked.approvals[0])


async def _again(stage: Stage, parked: Parked) -> Taken:
    await stage.click(parked.approvals[0], Choice.DENY)
    return await stage.click(parked.approvals[0])


Click = Callable[[Stage, Parked], Awaitable[Taken]]
REFUSED: dict[str, Click] = {
    "a stranger": lambda s, p: s.click(p.approvals[0], actor=STRANGER),
    "a viewer": lambda s, p: s.click(p.approvals[0], actor=VERA),
    "a user, for a dangerous call": lambda s, p: s.click(p.approvals[0], actor=UMA, gate=CHOSEN),
    "someone not among the approvers": lambda s, p: s.click(p.approvals[0], actor=ADA, gate=CHOSEN),
    "the requester, where that is off": lambda s, p: s.click(p.approvals[0], actor=ADA, gate=NO_SELF),
    "another room": lambda s, p: s.click(p.approvals[0], at=OTHER_ROOM),
    "another account": lambda s, p: s.click(p.approvals[0], at=replace(ROOM, account="two")),
    "a user at the console": lambda s, p: s.click(p.approvals[0], actor=UMA, gate=CHOSEN, console=True),
    "a forged id": lambda s, p: s.click(ApprovalId("0" * 22)),
    "an id with a nul": lambda s, p: s.click(ApprovalId("\0")),
    "an answer of another question": lambda s, p: s.click(p.approvals[0], Choice.DONE),
    "after its time": _late,
}


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_changes_nothing(stage: Stage, who: str) -> None:
    parked = await stage.park(SHELL)
    before = await stage.everything()
    taken = await REFUSED[who](stage, parked)
    after = await stage.everything()
    assert taken.verdict.outcome in (Outcome.UNCHANGED, Outcome.REFUSED)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"moves"} == {"signals", "audit"}  # moves keep for `trace` that somebody tried


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_is_explained_to_the_one_who_clicked(stage: Stage, who: str) -> None:
    taken = await REFUSED[who](stage, await stage.park(SHELL))
    assert taken.verdict.notice
    assert len(taken.verdict.notice) <= 200


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_is_audited(stage: Stage, who: str) -> None:
    before = len(await stage.audit("click refused")) + len(await stage.audit("refused"))
    await REFUSED[who](stage, await stage.park(SHELL))
    assert len(await stage.audit("click refused")) + len(await stage.audit("refused")) == before + 1


async def test_a_second_click_keeps_the_first_decision(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await _again(stage, parked)
    approval = await stage.store.approvals.approval(parked.approvals[0])
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert approval is not None
    assert approval.state is ApprovalState.DENIED


async def test_a_reason_with_a_long_text_still_gives_a_short_notice(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], Choice.DENY, "because " * 100)
    notice = (await stage.click(parked.approvals[0])).verdict.notice
    assert notice is not None
    assert len(notice) <= 200


async def test_a_changed_call_cannot_be_approved(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.write("UPDATE approvals SET arguments = '{}'")
    assert (await stage.click(parked.approvals[0])).verdict.outcome is Outcome.UNCHANGED


async def test_a_user_may_answer_for_a_plain_write_when_named(stage: Stage) -> None:
    parked = await stage.park(WRITE)
    assert (await stage.click(parked.approvals[0], actor=UMA, gate=CHOSEN)).verdict.outcome is Outcome.DECIDED


async def test_an_operator_may_answer_from_the_console(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await stage.click(parked.approvals[0], actor=OTTO, at=OTHER_ROOM, console=True)
    assert taken.verdict.outcome is Outcome.DECIDED


async def test_a_click_in_another_thread_of_the_room_counts(stage: Stage) -> None:
    parked = await stage.park(SHELL, at=replace(ROOM, thread="1"))
    assert (await stage.click(parked.approvals[0], at=ROOM)).verdict.outcome is Outcome.DECIDED


@pytest.mark.parametrize("second", [Choice.APPROVE, Choice.DENY])
async def test_of_fifteen_clicks_at_once_one_decides(stage: Stage, second: Choice) -> None:
    parked = await stage.park(SHELL)
    await stage.many()
    clicks = [
        stage.click(parked.approvals[0], second if n % 2 else Choice.APPROVE, actor=OTTO if n % 2 else ADA)
        for n in range(15)
    ]
    outcomes = sorted(t.verdict.outcome for t in await asyncio.gather(*clicks))
    assert outcomes == [Outcome.DECIDED, *[Outcome.UNCHANGED] * 14]
    assert await stage.column("SELECT count(*) FROM votes") == [1]
    assert await stage.column("SELECT resumable FROM sessions") == [1]


async def test_the_last_two_questions_clicked_at_once_make_the_run_ready_once(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await stage.many()
    taken = await asyncio.gather(*(stage.click(a, actor=OTTO) for a in parked.approvals))
    assert sorted(t.lane_ready for t in taken) == [False, True]
    assert await stage.column("SELECT resumable FROM sessions") == [1]


# ------------------------------------------------------------------------------------ the change in a kept room


async def _pressed(stage: Stage, signal: Signal) -> tuple[Taken, list[OpenDelivery]]:
    """Press in a room that is kept: what was taken, and what was told before the commit."""
    told: list[OpenDelivery] = []
    kept = KeptRoom(signal.address, told.append)
    return await stage.store.intake.accept(signal, GATE, kept=kept), told


async def _on_screen(stage: Stage) -> Parked:
    parked, duty = await stage.park(WRITE), await stage.duty()
    for open_ in await stage.waiting():
        await stage.show(open_.delivery.id, duty)
    return parked


async def test_a_click_tells_the_change_of_its_card_in_a_kept_room(stage: Stage) -> None:
    parked = await _on_screen(stage)
    taken, told = await _pressed(stage, stage.signal(Clicked(parked.approvals[0], Choice.DENY)))
    assert taken.change is not None
    assert (told, [taken.change], taken.deliveries) == ([taken.change], await stage.waiting(), ())
    assert taken.change.edit_of is not None
    assert "Denied" in taken.change.delivery.content.text


async def test_what_waits_in_the_room_besides_goes_in_its_turn(stage: Stage) -> None:
    parked = await _on_screen(stage)
    await stage.enqueue("a report")
    taken, told = await _pressed(stage, stage.signal(Clicked(parked.approvals[0], Choice.DENY)))
    assert (taken.change, told, taken.deliveries) == (None, [], (ROOM,))


async def test_a_card_that_is_not_on_screen_yet_is_changed_in_its_turn(stage: Stage) -> None:
    parked = await stage.park(WRITE)
    taken, told = await _pressed(stage, stage.signal(Clicked(parked.approvals[0], Choice.DENY)))
    assert (taken.change, told, taken.deliveries) == (None, [], (ROOM,))


async def test_a_click_that_changes_nothing_tells_no_change(stage: Stage) -> None:
    parked = await _on_screen(stage)
    for actor in (STRANGER, VERA):
        taken, told = await _pressed(stage, stage.signal(Clicked(parked.approvals[0], Choice.DENY), actor=actor))
        assert (taken.verdict.outcome is not Outcome.DECIDED, taken.change, told) == (True, None, [])


async def test_two_clicks_at_once_change_the_card_once(stage: Stage) -> None:
    parked = await _on_screen(stage)
    presses = [stage.signal(Clicked(parked.approvals[0], Choice.DENY)) for _ in range(4)]
    made = await asyncio.gather(*(_pressed(stage, signal) for signal in presses))
    assert sum(taken.change is not None for taken, _ in made) == 1
    assert len(await stage.waiting()) == 1
