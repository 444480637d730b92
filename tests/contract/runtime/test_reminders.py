"""A question that waits is put once more, and then to others."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import Outcome
from runtime.policy.terms import Terms
from tests.contract.runtime.approvers import (
    ASKS,
    CALL,
    GENERAL,
    HOUR,
    NAMED,
    about,
    answered,
    asked_in_general,
    cards,
    only,
    ruled,
    shell,
    waited,
)
from tests.contract.runtime.stage import ADA, OTTO, Stage, address
from tests.contract.runtime.strict import Planned


async def test_a_question_is_put_once_more_at_half_its_time_wherever_it_can_be_answered(any_stage: Stage) -> None:
    """Scenario 24."""
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO])
    assert await waited(process, 5 * HOUR) == []
    assert len(await waited(process, 2 * HOUR, looks=3)) == 2
    for room in (GENERAL, "otto"):
        assert about(await any_stage.screen(room)) == ["**May I run `shell`?**", "**Reminder: May I run `shell`?**"]
    [reminder] = [card for card in await any_stage.screen("otto") if "Reminder" in card]
    assert "(in 5\u00a0h)" in reminder
    assert reminder.endswith(f"{CALL}\n{ASKS}")
    assert await waited(process, 4 * HOUR) == []
    await process.click((await only(any_stage)).id, who=OTTO, room="otto")
    await process.answer_all()
    for room in (GENERAL, "otto"):
        for line in about(await any_stage.screen(room)):
            assert line.startswith("✅ **Approved** by Otto, [")


async def test_those_who_may_decide_are_called_when_it_is_asked_and_reminded_and_by_no_edit(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO], rules=ruled(quorum=2))
    await process.click((await only(any_stage)).id, who=ADA, room=GENERAL)
    await waited(process, 7 * HOUR)
    await process.click((await only(any_stage)).id, who=OTTO, room="otto")
    await process.answer_all()
    rows = await any_stage.store.operations.deliveries()
    called = [(row.address.room, [one.name for one in row.content.mentions]) for row in rows if row.content.mentions]
    assert called == [(GENERAL, ["Ada"])] * 2


async def test_what_is_decided_is_not_asked_about_any_more(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA])
    await answered(process)
    assert await waited(process, 7 * HOUR) == []


async def test_nobody_is_reminded_in_a_room_without_buttons(stage: Stage) -> None:
    process = await asked_in_general(stage, private=[ADA])
    assert await waited(process, 7 * HOUR) == [address("ada")]


async def test_several_reminders_that_were_missed_are_one(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA], rules=ruled(remind=(HOUR, 2 * HOUR, 5 * HOUR)))
    assert await waited(process, 3 * HOUR) == [address(GENERAL)]
    assert await waited(process, HOUR) == []
    assert await waited(process, 2 * HOUR) == [address(GENERAL)]
    assert (await only(stage)).calls == 3


async def test_what_nobody_answers_goes_further(any_stage: Stage) -> None:
    terms = Terms(to=("room",), escalate=8 * HOUR, escalate_to=("dm", "page:main/ops", "page:main/gone"))
    places = replace(NAMED, serves=lambda address: address.room != "gone")
    process = await asked_in_general(any_stage, there=[ADA], private=[ADA, OTTO], terms=terms, places=places)
    await waited(process, 7 * HOUR)
    told = await waited(process, 2 * HOUR, looks=2)
    assert sorted(told, key=str) == [address("ada"), address(GENERAL), address("ops"), address("otto")]
    first = next(card for card in await any_stage.screen(GENERAL) if "`shell`" in card)
    assert "I've asked Ada, Otto and another room." in first
    for card in await cards(any_stage, "ada", "ops", "otto"):
        assert card.startswith("**May I run `shell`?**\n\nUma asks in #general · shell · danger · expires [")
        assert "(in 3\u00a0h)" in card
    assert await waited(process, HOUR) == []
    assert (await process.click((await only(any_stage)).id, room="ops")).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(about(await any_stage.screen("ops"))) == 1
    assert about(await any_stage.screen("otto"))[0].startswith("✅ **Approved** by Ada, [")


async def test_a_reminder_shows_the_votes_so_far(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA], rules=ruled(quorum=2))
    await answered(process)
    await waited(process, 7 * HOUR)
    assert (await stage.screen(GENERAL))[-1].endswith("Ada approved: 1 of 2.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]")


async def test_a_kill_repeats_no_reminder(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO])
    any_stage.clock.advance(7 * HOUR)
    await process.reminders.look()  # and the process dies before a courier heard of it
    process = await any_stage.process(Planned(), [shell()], places=NAMED)
    await process.answer_all()
    assert await waited(process, HOUR) == []
    for room in (GENERAL, "otto"):
        assert len(about(await any_stage.screen(room))) == 2
