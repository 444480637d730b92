"""What a restore does to rows: everything that may have happened since the backup is in doubt, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Choice, DeliveryId, Kind, NodeId, Outcome, Receipt, Wire
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState, StepState
from runtime.policy.modes import Mode
from runtime.store.operations.after_restore import LIVES, Aftermath, Origin, after_restore
from runtime.store.sql.driver import micros
from tests.contract.store.stage import (
    LIFE,
    LIST,
    OTHER_ROOM,
    OTTO,
    ROOM,
    SHELL,
    START,
    TTL,
    WRITE,
    Parked,
    Stage,
    step,
)
from tests.contract.store.test_grants import a_grant

BACKUP = Origin("b1", START, "1.0")
LATER = timedelta(hours=5)


async def restore(stage: Stage) -> Aftermath:
    """As if what is in the store now had come out of a backup of START."""
    stage.clock.advance(seconds=LATER.total_seconds())
    now = stage.clock()
    return await stage.store.driver.write(lambda: after_restore(BACKUP, "command line of kim", now, new_id))


async def revive(stage: Stage) -> None:
    """A node of the new life."""
    stage.lease = await stage.store.cluster.join(NodeId(new_id()), "new", timedelta(days=365), alone=True)


async def test_a_store_at_rest_keeps_all_it_has(stage: Stage) -> None:
    await stage.finish(await stage.begin())
    await stage.drain()
    before = await stage.everything()
    assert await restore(stage) == Aftermath(0, 0, 0)
    after = await stage.everything()
    changed = {table for table in before if before[table] != after[table]}
    assert changed == {"nodes", "roles", "sessions", "audit"}
    ((_, subject, detail),) = await stage.audit("restored")
    assert (subject, detail) == ("b1", "from a backup of 2026-03-01 12:00:00 UTC, made by signalbox 1.0")


# ----------------------------------------------------------------------------------------------------- the old life


async def test_the_old_life_is_dead_and_its_fences_are_used_up(stage: Stage) -> None:
    duty = await stage.duty()
    claim = await stage.begin()
    await restore(stage)
    assert await stage.store.cluster.beat(stage.lease, TTL) is None
    assert await stage.store.outbox.render(duty, DeliveryId("d"), [Wire("x")], mark=True) is False
    assert await stage.store.runs.steer(claim.lane, claim.run_id) is None
    assert min(await stage.column("SELECT fence FROM nodes")) > LIVES
    assert min(await stage.column("SELECT fence FROM roles")) > LIVES
    assert min(await stage.column("SELECT fence FROM sessions")) > LIVES


async def test_a_run_in_flight_goes_on_as_after_a_kill(stage: Stage) -> None:
    claim = await stage.begin()
    assert (await restore(stage)).runs == 1
    await revive(stage)
    again = await stage.claim()
    assert (again.run_id, again.resumed) == (claim.run_id, True)
    assert await stage.column("SELECT detail FROM moves WHERE subject = :r AND what = 'restore'", r=claim.run_id) == [
        "from a backup of 2026-03-01 12:00:00 UTC"
    ]


async def test_a_message_that_waited_is_taken_up(stage: Stage) -> None:
    await stage.say("hello")
    await restore(stage)
    await revive(stage)
    assert not (await stage.claim()).resumed


async def test_a_call_that_was_allowed_may_have_run_since(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST), step(WRITE))
    await restore(stage)
    await revive(stage)
    again = await stage.claim()
    assert [one.state for one in again.steps] == [StepState.MARKED, StepState.MARKED]


async def test_an_approved_call_may_have_run_since(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    assert (await restore(stage)).questions == 0
    await revive(stage)
    (cut,) = (await stage.claim()).steps
    assert (cut.call, cut.state) == (SHELL, StepState.MARKED)


# -------------------------------------------------------------------------------------------------------- deliveries


async def test_what_is_queued_is_in_doubt_from_its_first_part_on(stage: Stage) -> None:
    card = await stage.enqueue("hello")
    assert (await restore(stage)).deliveries == 1
    await revive(stage)
    (waiting,) = await stage.waiting()
    assert (waiting.in_doubt, waiting.rank, waiting.not_before) == (True, 0, stage.clock())
    assert await stage.store.outbox.render(await stage.duty(), card, [Wire("a"), Wire("b")], mark=False)
    (waiting,) = await stage.waiting()
    assert [(p.state, p.marked_at) for p in waiting.parts] == [(PartState.UNSETTLED, START)] * 2


@pytest.mark.parametrize("state", ["pending", "marked", "unsettled"])
async def test_a_part_that_was_not_shown_is_uncertain(stage: Stage, state: str) -> None:
    card = await stage.enqueue("hello")
    await stage.store.outbox.render(await stage.duty(), card, [Wire("a")], mark=True)
    early = START - timedelta(hours=1)
    await stage.write("UPDATE parts SET state = :s, looks = 1, marked_at = :at", s=state, at=micros(early))
    await restore(stage)
    ((found, looks, marked_at),) = await stage.rows("SELECT state, looks, marked_at FROM parts")
    assert (found, looks) == ("unsettled", 0)
    # A look covers the time since the backup; an attempt from before that was not settled is covered too.
    assert marked_at == micros(START if state == "pending" else early)


async def test_parts_on_screen_stay_there(stage: Stage) -> None:
    card, duty = await stage.enqueue("hello"), await stage.duty()
    await stage.store.outbox.render(duty, card, [Wire("a"), Wire("b")], mark=True)
    await stage.store.outbox.checkpoint(duty, card, 1, Receipt("m1"))
    await restore(stage)
    assert await stage.column("SELECT state FROM parts ORDER BY ordinal") == ["shown", "unsettled"]


@pytest.mark.parametrize("state", ["held", "dead", "shown", "discarded"])
async def test_what_does_not_leave_by_itself_stays_as_it_is(stage: Stage, state: str) -> None:
    await stage.enqueue("hello")
    await stage.write("UPDATE deliveries SET state = :s", s=state)
    before = (await stage.everything())["deliveries"]
    assert (await restore(stage)).deliveries == 0
    assert (await stage.everything())["deliveries"] == before


# --------------------------------------------------------------------------------------------------------- questions


async def asked(stage: Stage, *, shown: bool = True) -> Parked:
    parked = await stage.park(SHELL)
    if shown:
        await stage.drain()
    return parked


async def test_an_open_question_is_void_and_asked_again(stage: Stage) -> None:
    parked = await asked(stage)
    assert (await restore(stage)).questions == 1
    fresh, old = await stage.store.approvals.approvals()
    assert (old.id, old.state, old.reason) == (parked.approvals[0], "void", "It was asked again after a restore.")
    assert (fresh.run_id, fresh.step, fresh.arguments_hash) == (old.run_id, old.step, old.arguments_hash)
    assert fresh.state == "pending"
    assert fresh.expires_at == stage.clock() + LIFE
    assert "It may already have been answered" in fresh.caution
    assert await stage.column("SELECT state FROM runs") == ["parked"]


async def test_the_old_card_is_edited_and_a_new_one_goes_up(stage: Stage) -> None:
    parked = await asked(stage)
    await restore(stage)
    await revive(stage)
    edit, card = sorted(await stage.waiting(), key=lambda one: one.delivery.ordinal, reverse=True)
    assert "Withdrawn" in edit.delivery.content.text
    assert "asked again after a restore" in edit.delivery.content.text
    assert edit.edit_of == Receipt(f"m-{edit.delivery.edits}")
    fresh = {button.approval_id for button in card.delivery.content.buttons}
    assert parked.approvals[0] not in fresh
    assert "It may already have been answered" in card.delivery.content.text
    assert not card.in_doubt
    assert card.delivery.kind is Kind.APPROVAL


async def test_a_card_that_never_left_does_not_leave_any_more(stage: Stage) -> None:
    parked = await asked(stage, shown=False)
    await restore(stage)
    states = await stage.rows("SELECT origin, ordinal, state FROM deliveries ORDER BY number")
    fresh = (await stage.store.approvals.approvals())[0].id
    assert states == [
        (f"approval:{parked.approvals[0]}", 0, "discarded"),
        (f"approval:{fresh}", 0, "queued"),
    ]


async def test_a_card_that_was_being_sent_is_looked_for_and_edited(stage: Stage) -> None:
    await asked(stage, shown=False)
    (card,) = await stage.waiting()
    await stage.store.outbox.render(await stage.duty(), card.delivery.id, [Wire("card")], mark=True)
    await restore(stage)
    rows = await stage.rows("SELECT ordinal, state, doubted_at IS NOT NULL FROM deliveries ORDER BY number")
    assert [(n, state, bool(doubted)) for n, state, doubted in rows] == [
        (0, "open", True),
        (1, "queued", False),
        (0, "queued", False),
    ]


async def test_old_buttons_decide_nothing_and_say_why(stage: Stage) -> None:
    parked = await asked(stage)
    await restore(stage)
    taken = await stage.click(parked.approvals[0], actor=OTTO)
    assert (taken.verdict.outcome, taken.verdict.notice) == (
        Outcome.UNCHANGED,
        "This question was withdrawn. It was asked again after a restore.",
    )


async def test_the_new_question_lets_the_frozen_call_run_once(stage: Stage) -> None:
    await asked(stage)
    await restore(stage)
    fresh = (await stage.store.approvals.approvals())[0].id
    assert (await stage.click(fresh)).verdict.outcome is Outcome.DECIDED
    assert (await stage.click(fresh)).verdict.outcome is Outcome.UNCHANGED
    await revive(stage)
    claim = await stage.claim()
    assert [(one.call, one.state) for one in claim.steps] == [(SHELL, StepState.OPEN)]


async def test_a_denied_new_question_tells_the_model(stage: Stage) -> None:
    await asked(stage)
    await restore(stage)
    await stage.click((await stage.store.approvals.approvals())[0].id, Choice.DENY)
    await revive(stage)
    claim = await stage.claim()
    assert claim.steps == ()
    assert await stage.finish(claim, state=RunState.DONE)


async def test_every_question_of_a_run_is_asked_again(stage: Stage) -> None:
    await stage.park(SHELL, WRITE)
    await stage.park(SHELL, at=OTHER_ROOM)
    assert (await restore(stage)).questions == 3
    pending = [one for one in await stage.store.approvals.approvals() if one.state == "pending"]
    assert sorted(one.tool for one in pending) == ["shell", "shell", "write_file"]


async def test_restored_twice_it_is_asked_a_third_time(stage: Stage) -> None:
    await asked(stage)
    await restore(stage)
    await restore(stage)
    states = [one.state for one in await stage.store.approvals.approvals()]
    assert sorted(states) == ["pending", "void", "void"]
    warning = (await stage.store.approvals.approvals())[0].caution
    assert warning.count("Asked again after a restore") == 2


async def test_a_discarded_delivery_is_none_that_waits(stage: Stage) -> None:
    await asked(stage, shown=False)
    await restore(stage)
    rows = await stage.store.operations.deliveries(state=DeliveryState.DISCARDED)
    assert [row.settled_at for row in rows] == [stage.clock()]


# ------------------------------------------------------------------------------------------------------------ grants


async def test_a_grant_ends_since_it_may_have_been_revoked_meanwhile(stage: Stage) -> None:
    grant = await a_grant(stage)
    assert (await restore(stage)).grants == 1
    [listed] = await stage.store.approvals.grants()
    assert listed.grant.revoked_at == stage.clock()
    await revive(stage)
    recorded = await stage.record(await stage.begin(), replace(step(SHELL), grant=grant, caution="Asked."))
    assert [one.state for one in recorded.steps] == [StepState.ASKED]
    told = [("command line of kim", grant, "shell: a backup was restored, and it may have been revoked since")]
    assert await stage.audit("grant ended") == told


async def test_a_grant_that_was_over_before_is_not_counted(stage: Stage) -> None:
    grant = await a_grant(stage)
    assert await stage.store.approvals.revoke(grant, "Ada")
    assert (await restore(stage)).grants == 0


async def test_nobody_is_trusted_any_more_and_other_modes_stay(stage: Stage) -> None:
    who = (await stage.store.people.person_named("Ada")).person  # type: ignore[union-attr]
    for room, mode in ((ROOM, Mode.TRUSTED), (OTHER_ROOM, Mode.READ_ONLY)):
        await stage.store.approvals.set_mode("main", room, mode, who, "Ada")
    await restore(stage)
    assert [(room, one.mode) for room, one in await stage.store.approvals.modes()] == [(OTHER_ROOM, Mode.READ_ONLY)]
