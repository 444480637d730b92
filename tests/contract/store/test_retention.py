"""What is old goes, slice by slice; what is open, or what somebody still needs, stays however old it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import (
    ApprovalId,
    Choice,
    NodeId,
    Outcome,
    Said,
    UserTurn,
)
from runtime.domain.audit_chain import Verifier
from runtime.store.protocol import AuditCheckpoint, Duty, Stock
from tests.contract.store.stage import ADA, LIST, OTHER_ROOM, OTTO, ROOM, SHELL, STRANGER, TTL, UMA, Stage, step
from tests.contract.store.test_commands import plan_for

DAY = timedelta(days=1)


async def duty_of(stage: Stage) -> Duty:
    return await stage.duty("retention")


async def sweep(stage: Stage, stock: Stock, *, age: timedelta = DAY, limit: int = 200) -> int:
    """Walk a stock from its first row to the end; how many rows went."""
    duty, after, removed = await duty_of(stage), None, 0
    for _ in range(1000):
        swept = await stage.store.retention.sweep(duty, stock, after, stage.clock() - age, limit=limit)
        assert swept is not None
        after, removed = swept.last, removed + swept.removed
        if not swept.more:
            return removed
    raise AssertionError("the walk has no end")


async def talk(stage: Stage, text: str = "hello") -> None:
    """One message, answered and shown."""
    await stage.finish(await stage.begin(text))
    await stage.drain()


async def work(stage: Stage) -> None:
    """One message with a tool call."""
    claim = await stage.begin("look")
    await stage.record(claim, step(LIST))
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a, b")
    await stage.finish(replace(claim, next_step=3))
    await stage.drain()


async def everything_swept(stage: Stage) -> None:
    for stock in Stock:
        await sweep(stage, stock)


# ------------------------------------------------------------------------------------------------------------ messages


async def test_an_old_message_leaves_a_tombstone_and_is_still_a_duplicate(stage: Stage) -> None:
    signal = stage.signal(Said("my secret plan"))
    await stage.take_in(signal)
    await stage.finish(await stage.claim())
    await stage.drain()
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.MESSAGES) == 1
    assert await stage.rows("SELECT text, files, words_hash, actor_name, state FROM signals") == [
        ("", "[]", "", "", "forgotten")
    ]
    assert (await stage.take_in(signal)).verdict.outcome is Outcome.DUPLICATE


async def test_a_young_message_keeps_its_words(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=23)
    assert await sweep(stage, Stock.MESSAGES) == 0
    assert await stage.column("SELECT text FROM signals") == ["hello"]


async def test_a_tombstone_goes_later_except_of_whoever_spoke_first(stage: Stage) -> None:
    for n in range(3):
        await talk(stage, f"m{n}")
        stage.clock.advance(seconds=1)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.TOMBSTONES) == 0, "they have not lost their words yet"
    assert await sweep(stage, Stock.MESSAGES) == 3
    assert await sweep(stage, Stock.TOMBSTONES, age=2 * DAY) == 0
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.TOMBSTONES, age=2 * DAY) == 2
    assert await stage.store.history.room_owner(ROOM) == ADA


async def test_a_room_belongs_to_whoever_spoke_first_also_when_the_words_are_gone(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=25)
    await everything_swept(stage)
    await stage.say("now me", actor=OTTO)
    assert await stage.store.history.room_owner(ROOM) == ADA
    assert [room.title for room in await stage.store.history.rooms("web", "main", ADA)] == []
    assert [room.title for room in await stage.store.history.rooms("web", "main", OTTO)] == ["now me"]
    assert [entry.body for entry in (await stage.store.history.view(ROOM)).entries] == ["now me"]


async def test_a_message_nobody_took_up_keeps_its_words(stage: Stage) -> None:
    await stage.say("hello")
    stage.clock.advance(hours=9999)
    assert await sweep(stage, Stock.MESSAGES) == 0


async def test_a_message_keeps_its_words_until_its_answer_is_shown(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    stage.clock.advance(hours=9999)
    assert await sweep(stage, Stock.MESSAGES) == 0
    await stage.drain()
    assert await sweep(stage, Stock.MESSAGES) == 1


async def test_a_message_whose_answer_was_thrown_away_is_old_too(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    (waiting,) = await stage.waiting()
    assert await stage.store.operations.discard(waiting.delivery.id, "ada")
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.RUNS) == 1
    assert await sweep(stage, Stock.MESSAGES) == 1


async def test_a_merged_message_goes_with_its_twin(stage: Stage) -> None:
    await stage.say("hello")
    assert (await stage.say("hello")).verdict.outcome is Outcome.MERGED
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.MESSAGES) == 0
    await stage.finish(await stage.claim())
    await stage.drain()
    assert await sweep(stage, Stock.MESSAGES) == 2


async def test_clicks_and_refusals_go_by_themselves(stage: Stage) -> None:
    await stage.say("let me in", actor=STRANGER)
    await stage.click(ApprovalId("nothing"))
    await stage.say("hello")
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.EVENTS) == 2
    assert await stage.column("SELECT text FROM signals") == ["hello"]


# ---------------------------------------------------------------------------------------------------------- deliveries


async def test_what_was_shown_goes_with_its_parts(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.DELIVERIES) == 1
    assert await stage.column("SELECT count(*) FROM parts") == [0]


@pytest.mark.parametrize("state", ["queued", "open", "held", "dead"])
async def test_what_was_not_shown_stays_with_its_payload(stage: Stage, state: str) -> None:
    card = await stage.enqueue("hello")
    await stage.write("UPDATE deliveries SET state = :s, settled_at = 1", s=state)
    stage.clock.advance(hours=9999)
    assert await sweep(stage, Stock.DELIVERIES) == 0
    assert (await stage.store.operations.delivery(card)) is not None


async def test_a_card_stays_while_its_question_is_open(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.drain()
    stage.clock.advance(hours=11)
    assert await sweep(stage, Stock.DELIVERIES, age=timedelta(hours=1)) == 0
    await stage.click(parked.approvals[0])
    assert await sweep(stage, Stock.DELIVERIES, age=timedelta(hours=1)) == 0, "its edit is still to be shown"
    await stage.drain()
    stage.clock.advance(hours=2)
    assert await sweep(stage, Stock.DELIVERIES, age=timedelta(hours=1)) == 2


async def test_a_message_stays_while_an_edit_of_it_waits(stage: Stage) -> None:
    first = await stage.enqueue("first")
    await stage.drain()
    await stage.enqueue("second", edits=first)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.DELIVERIES) == 0


# ------------------------------------------------------------------------------------------------------ runs and more


async def test_a_run_goes_with_its_steps_and_its_usage_by_itself(stage: Stage) -> None:
    await work(stage)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.RUNS) == 1
    assert await stage.column("SELECT count(*) FROM steps") == [0]
    assert await stage.column("SELECT count(*) FROM usage") == [2]
    assert await sweep(stage, Stock.USAGE) == 2


async def test_a_run_that_waits_for_people_stays_with_all_it_needs(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.drain()
    await duty_of(stage)
    before = await stage.everything()
    stage.clock.advance(hours=9999)
    for stock in set(Stock) - {Stock.USAGE}:
        assert await sweep(stage, stock) == 0, stock
    assert await stage.everything() == before
    stage.clock.advance(hours=-9999)
    assert (await stage.click(parked.approvals[0])).verdict.outcome is Outcome.DECIDED


async def test_a_run_stays_until_its_answer_is_shown(stage: Stage) -> None:
    await stage.finish(await stage.begin())
    stage.clock.advance(hours=9999)
    assert await sweep(stage, Stock.RUNS) == 0


async def test_a_run_that_ended_lately_stays_however_long_ago_it_began(stage: Stage) -> None:
    claim = await stage.begin()
    stage.clock.advance(hours=48)
    await stage.finish(claim)
    await stage.drain()
    assert await sweep(stage, Stock.RUNS) == 0


async def test_a_settled_question_goes_with_its_votes_once_its_run_is_over(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], Choice.DENY)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.APPROVALS) == 0, "its run goes on first"
    await stage.finish(await stage.claim())
    await stage.drain()
    assert await sweep(stage, Stock.APPROVALS) == 1
    assert await stage.column("SELECT count(*) FROM votes") == [0]


async def test_moves_stay_while_what_they_tell_about_is_open(stage: Stage) -> None:
    claim = await stage.begin()
    for subject in (claim.run_id, "gone"):
        await stage.write("INSERT INTO moves (subject, at, what, detail) VALUES (:s, 1, 'x', '')", s=subject)
    assert await sweep(stage, Stock.MOVES) == 1
    assert await stage.column("SELECT subject FROM moves") == [claim.run_id]


async def test_processes_that_are_gone_are_forgotten(stage: Stage) -> None:
    await stage.store.cluster.join(NodeId("node-0"), "old", TTL, alone=False)
    stage.clock.advance(seconds=10)
    await stage.store.cluster.reap()
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.NODES) == 1
    assert await stage.column("SELECT id FROM nodes") == ["node-1"]


# --------------------------------------------------------------------------------------------------------- transcripts


async def test_a_quiet_session_loses_its_transcript(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.TRANSCRIPTS) == 1
    claim = await stage.begin("again")
    turns = await stage.store.runs.turns(claim.lane.session)
    assert [turn.text for turn in turns if isinstance(turn, UserTurn)] == ["again"]


async def test_a_session_that_somebody_used_keeps_all_of_its_transcript(stage: Stage) -> None:
    await talk(stage, "long ago")
    stage.clock.advance(hours=25)
    await talk(stage, "just now")
    assert await sweep(stage, Stock.TRANSCRIPTS) == 0


async def test_a_session_at_work_keeps_its_transcript(stage: Stage) -> None:
    claim = await stage.begin()
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.TRANSCRIPTS) == 0
    assert len(await stage.store.runs.turns(claim.lane.session)) == 1


async def test_rooms_that_nobody_used_are_named(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=25)
    await stage.say("hello", at=OTHER_ROOM, actor=UMA)
    quiet = await stage.store.retention.quiet_rooms("", stage.clock() - DAY)
    assert (quiet.rooms, quiet.more) == ((ROOM,), False)


# ------------------------------------------------------------------------------------------------------------ the walk


@pytest.mark.parametrize("limit", [1, 3, 200])
async def test_slices_of_any_size_remove_the_same(stage: Stage, limit: int) -> None:
    for n in range(7):
        await talk(stage, f"m{n}")
        stage.clock.advance(hours=5)
    for stock in (Stock.MESSAGES, Stock.RUNS, Stock.DELIVERIES, Stock.USAGE):
        assert await sweep(stage, stock, limit=limit) == 3, stock


async def test_what_is_open_does_not_stop_the_walk(stage: Stage) -> None:
    await stage.begin("open", at=OTHER_ROOM)
    for n in range(5):
        await talk(stage, f"m{n}")
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.MESSAGES, limit=2) == 5


async def test_a_walk_goes_on_where_it_stopped(stage: Stage) -> None:
    await talk(stage, "first")
    stage.clock.advance(hours=25)
    duty = await duty_of(stage)
    swept = await stage.store.retention.sweep(duty, Stock.MESSAGES, None, stage.clock() - DAY)
    assert swept is not None
    await talk(stage, "second")
    stage.clock.advance(hours=25)
    again = await stage.store.retention.sweep(duty, Stock.MESSAGES, swept.last, stage.clock() - DAY)
    assert again is not None
    assert again.removed == 1


async def test_a_node_that_lost_the_duty_removes_nothing(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(hours=25)
    duty = await duty_of(stage)
    await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=True)
    before = await stage.everything()
    for stock in Stock:
        assert await stage.store.retention.sweep(duty, stock, None, stage.clock()) is None
    assert await stage.store.audit.cut_audit(duty, AuditCheckpoint(1, "x", stage.clock())) is False
    assert await stage.everything() == before


# ----------------------------------------------------------------------------------------------------------- the audit


async def cut_at(stage: Stage, number: int) -> tuple[AuditCheckpoint, Verifier]:
    """Ten rows, sealed and cut behind row `number`; the checkpoint and a verifier that knows all that was signed."""
    for n in range(10 - len(await stage.audit("person added"))):
        await stage.say(f"message {n}")
    duty = await stage.duty("sealer")
    head = await stage.store.audit.seal(duty, await stage.store.audit.audit_head())
    assert head is not None
    row = (await stage.store.audit.audit_rows(number - 1, limit=1))[0]
    checkpoint = AuditCheckpoint(number, row.hash, stage.clock())
    assert await stage.store.audit.cut_audit(duty, checkpoint)
    return checkpoint, Verifier(head.number, head.hash, cut=checkpoint)


async def verified(stage: Stage, verifier: Verifier) -> str | None:
    verifier.take(await stage.store.audit.audit_rows(0))
    return verifier.fault()


async def test_a_cut_audit_is_whole_from_its_checkpoint_on(stage: Stage) -> None:
    _, verifier = await cut_at(stage, 4)
    assert await verified(stage, verifier) is None
    assert [row.number for row in await stage.store.audit.audit_rows(0)] == [5, 6, 7, 8, 9, 10]
    assert await stage.audit("audit cut") == [("node-1", "4", "4 rows were too old")]


async def test_a_cut_audit_goes_on_being_sealed(stage: Stage) -> None:
    checkpoint, _ = await cut_at(stage, 4)
    assert await stage.store.audit.audit_unsealed() == 1
    head = await stage.store.audit.seal(await stage.duty("sealer"), await stage.store.audit.audit_head())
    assert head is not None
    assert head.number == 11
    assert await verified(stage, Verifier(head.number, head.hash, cut=checkpoint)) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("DELETE FROM audit WHERE number = 5", "row 5: missing"),
        ("DELETE FROM audit WHERE number <= 7", "row 5: missing"),
        ("DELETE FROM audit WHERE number = 8", "row 8: missing"),
        ("DELETE FROM audit WHERE number > 8", "row 9: missing"),
        ("DELETE FROM audit", "row 5: missing"),
        ("UPDATE audit SET detail = 'x' WHERE number = 5", "row 5: changed"),
        ("UPDATE audit SET previous = 'x' WHERE number = 5", "row 5: does not follow"),
    ],
)
async def test_tampering_with_a_cut_audit_is_found_at_its_first_row(stage: Stage, change: str, expected: str) -> None:
    _, verifier = await cut_at(stage, 4)
    await stage.write(change)
    assert str(await verified(stage, verifier)).startswith(expected)


async def test_rows_removed_without_a_checkpoint_are_missed(stage: Stage) -> None:
    checkpoint, verifier = await cut_at(stage, 4)
    assert str(await verified(stage, Verifier(verifier._head[0], verifier._head[1]))).startswith("row 1: missing")
    older = replace(checkpoint, number=2, hash="of row 2")
    assert str(await verified(stage, Verifier(*verifier._head, cut=older))).startswith("row 3: missing")


async def test_a_checkpoint_for_rows_that_are_still_there_is_no_fault_if_it_is_theirs(stage: Stage) -> None:
    for n in range(3):
        await stage.say(f"message {n}")
    head = await stage.store.audit.seal(await stage.duty("sealer"), await stage.store.audit.audit_head())
    assert head is not None
    row = (await stage.store.audit.audit_rows(2, limit=1))[0]
    for removed in (0, 1, 2):
        await stage.write("DELETE FROM audit WHERE number <= :n", n=removed)
        right = AuditCheckpoint(3, row.hash, stage.clock())
        assert await verified(stage, Verifier(head.number, head.hash, cut=right)) is None
        wrong = AuditCheckpoint(3, "forged", stage.clock())
        told = await verified(stage, Verifier(head.number, head.hash, cut=wrong))
        assert str(told).startswith("row 3: not the one at which the audit was cut")


# ------------------------------------------------------------------------------------------------- names that nobody uses


async def test_the_name_of_a_room_goes_that_nobody_hears_of_nor_asked_in(stage: Stage) -> None:
    gone, heard, asked, threaded, planned = (replace(ROOM, room=f"r_{n}") for n in range(5))
    await plan_for(stage, "news", planned)
    await stage.say("hello", at=asked)
    await stage.say("hello", at=replace(threaded, thread="1.5"))
    await stage.store.places.name_rooms({one: f"#{one.room}" for one in (gone, heard, asked, threaded, planned)})
    stage.clock.advance(hours=25)
    await stage.store.places.name_rooms({heard: "#heard"})
    assert await sweep(stage, Stock.ROOM_NAMES, limit=2) == 1
    assert await stage.store.places.room_names() == {
        heard: "#heard",
        **{one: f"#{one.room}" for one in (asked, threaded, planned)},
    }


async def test_the_form_of_a_tool_goes_that_nobody_offers_any_more(stage: Stage) -> None:
    store = stage.store
    for tool in ("a_gone", "b_here"):
        await store.runs.see_form(tool, '{"description": "first"}')
    stage.clock.advance(hours=25)
    await store.runs.see_form("b_here", '{"description": "first"}')
    assert await sweep(stage, Stock.TOOL_FORMS, limit=1) == 1
    assert await store.runs.accepted_form("a_gone", '{"description": "now"}') == '{"description": "now"}'
    assert await store.runs.accepted_form("b_here", '{"description": "now"}') == '{"description": "first"}'
