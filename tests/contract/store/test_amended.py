"""Edits of messages, rooms with another id, and messages that come too late."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Address, Addressing, Amended, Identity, Moved, Outcome, Said, Signal, UserTurn
from runtime.store.protocol import Stock, Taken
from tests.contract.store.stage import ADA, ROOM, STRANGER, UMA, VERA, Stage, hashed


def written(stage: Stage, text: str, message_id: str = "m1") -> Signal:
    return replace(stage.signal(Said(text)), message_id=message_id, natural_key=f"r1:{message_id}")


def edit(stage: Stage, text: str, message_id: str = "m1", actor: Identity = ADA) -> Signal:
    return replace(stage.signal(Amended(text), actor=actor), message_id=message_id)


# ---------------------------------------------------------------------------------------------------------------- edits


async def test_a_message_that_still_waits_has_its_new_words(stage: Stage) -> None:
    """Scenario 6."""
    first = await stage.take_in(written(stage, "old words"))
    taken = await stage.take_in(edit(stage, "new words"))
    assert taken.verdict.outcome is Outcome.DECIDED
    assert await stage.rows("SELECT text, words_hash FROM signals WHERE kind = 'said'") == [
        ("new words", hashed("new words"))
    ]
    assert (await stage.claim()).turns == (UserTurn("new words", "Ada"),)
    assert [about for _, about, _ in await stage.audit("amended")] == [first.verdict.signal_id]


async def test_an_edit_may_name_its_message_by_the_natural_key(stage: Stage) -> None:
    await stage.take_in(written(stage, "old words"))
    named = replace(edit(stage, "new words", message_id=""), natural_key="r1:m1")
    assert (await stage.take_in(named)).verdict.outcome is Outcome.DECIDED
    again = replace(edit(stage, "newest words", message_id=""), natural_key="r1:m1")
    assert (await stage.take_in(again)).verdict.outcome is Outcome.DECIDED
    assert (await stage.claim()).turns == (UserTurn("newest words", "Ada"),)


async def test_an_edit_is_no_request(stage: Stage) -> None:
    """Scenario 6: neither after its message was answered, nor of one that was never taken in."""
    await stage.take_in(written(stage, "old words"))
    await stage.finish(await stage.claim())
    for message in ("m1", "m7"):
        taken = await stage.take_in(edit(stage, "new words", message))
        assert (taken.verdict.outcome, taken.lane_ready) == (Outcome.UNCHANGED, False)
    assert "new words" not in str(await stage.everything())


async def test_an_edit_of_what_was_answered_is_answered_once(stage: Stage) -> None:
    """However often it is edited: its author must not wait for an answer to the new words."""
    await stage.take_in(replace(written(stage, "old words"), address=replace(ROOM, thread="m1")))
    await stage.finish(await stage.claim())
    before = len(await stage.rows("SELECT id FROM deliveries"))
    for words, reach in (("new words", Addressing.DIRECT), ("newer words", Addressing.OVERHEARD)):
        taken = await stage.take_in(replace(edit(stage, words), reach=reach))
        assert taken.verdict.outcome is Outcome.UNCHANGED
    told = await stage.rows("SELECT address, content FROM deliveries WHERE origin LIKE 'edit:%'")
    assert len(await stage.rows("SELECT id FROM deliveries")) == before + 1
    assert [address for address, _ in told] == [str(replace(ROOM, thread="m1"))]
    assert "don't read edits" in told[0][1]


async def test_an_edit_finds_its_message_whatever_thread_it_began(stage: Stage) -> None:
    """The mention that began a thread may be gone with the edit, and the platform tells the room alone."""
    await stage.take_in(replace(written(stage, "old words"), address=replace(ROOM, thread="m1")))
    plain = replace(edit(stage, "new words"), reach=Addressing.OVERHEARD)
    assert (await stage.take_in(plain)).verdict.outcome is Outcome.DECIDED
    elsewhere = replace(edit(stage, "newest words"), address=replace(ROOM, room="r10"))
    assert (await stage.take_in(elsewhere)).verdict.outcome is Outcome.UNCHANGED
    assert (await stage.claim()).turns == (UserTurn("new words", "Ada"),)


async def test_an_edit_without_ids_changes_nothing(stage: Stage) -> None:
    await stage.take_in(replace(written(stage, "old words"), message_id="", natural_key=None))
    assert (await stage.take_in(edit(stage, "new words", ""))).verdict.outcome is Outcome.UNCHANGED


async def test_an_edit_overheard_in_a_room_leaves_no_trace(stage: Stage) -> None:
    before = await stage.everything()
    taken = await stage.take_in(replace(edit(stage, "new words"), reach=Addressing.OVERHEARD))
    assert taken.verdict.outcome is Outcome.IGNORED
    assert await stage.everything() == before


@pytest.mark.parametrize("actor", [UMA, STRANGER, VERA])
async def test_only_who_wrote_a_message_edits_it(stage: Stage, actor: Identity) -> None:
    """Scenario 8: the same gate for edits."""
    await stage.take_in(written(stage, "old words"))
    taken = await stage.take_in(edit(stage, "new words", actor=actor))
    assert taken.verdict.outcome in (Outcome.UNCHANGED, Outcome.REFUSED)
    assert (await stage.claim()).turns == (UserTurn("old words", "Ada"),)


async def test_an_edit_delivered_twice_is_a_duplicate(stage: Stage) -> None:
    await stage.take_in(written(stage, "old words"))
    event = edit(stage, "new words")
    outcomes = [(await stage.take_in(event)).verdict.outcome for _ in range(2)]
    assert outcomes == [Outcome.DECIDED, Outcome.DUPLICATE]


async def test_an_edit_beside_a_claim_counts_wholly_or_not_at_all(stage: Stage) -> None:
    """What the row says is what the model reads."""
    await stage.many()
    await stage.take_in(written(stage, "old words"))
    claim, _ = await asyncio.gather(stage.claim(), stage.take_in(edit(stage, "new words")))
    (said,) = await stage.column("SELECT text FROM signals WHERE kind = 'said'")
    assert [turn.text for turn in claim.turns or ()] == [said]


# ---------------------------------------------------------------------------------------------------------------- moved

GROUP = Address("telegram", "77", "-5")


def moves(stage: Stage, old: str, new: str) -> Signal:
    signal = stage.signal(Moved(new), actor=Identity("telegram:-5"), at=replace(GROUP, room=old))
    return replace(signal, platform="telegram:77")


async def aliases(stage: Stage) -> dict[str, str]:
    return dict(await stage.store.places.moved("telegram", "77"))


async def test_a_room_that_moved_is_known_by_its_first_id(stage: Stage) -> None:
    taken = await stage.take_in(moves(stage, "-5", "-1005"))
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.DECIDED, (GROUP,))
    assert await aliases(stage) == {"-5": "-1005"}


@pytest.mark.parametrize("told_by", ["-1005", "-5"])
async def test_a_room_that_moves_twice_is_led_to_its_newest_id(stage: Stage, told_by: str) -> None:
    """The second move may be told under the id of then, or under that of the rows."""
    await stage.take_in(moves(stage, "-5", "-1005"))
    await stage.take_in(moves(stage, told_by, "-1006"))
    assert await aliases(stage) == {"-5": "-1006"}


async def test_a_move_told_twice_changes_nothing_more(stage: Stage) -> None:
    """Telegram tells it in both rooms."""
    await stage.take_in(moves(stage, "-5", "-1005"))
    again = await stage.take_in(moves(stage, "-5", "-1005"))
    assert again.verdict.outcome is Outcome.UNCHANGED
    assert len(await stage.audit("room moved")) == 1


async def test_a_room_that_comes_back_needs_no_alias(stage: Stage) -> None:
    await stage.take_in(moves(stage, "-5", "-1005"))
    await stage.take_in(moves(stage, "-1005", "-5"))
    assert await aliases(stage) == {}


# ---------------------------------------------------------------------------------------------------------------- stale


async def late(stage: Stage, text: str, hours: float = 25, actor: Identity = ADA) -> Taken:
    signal = replace(stage.signal(Said(text), actor=actor), message_id=text)
    return await stage.take_in(replace(signal, received_at=stage.clock() - timedelta(hours=hours)))


async def test_a_message_older_than_a_day_is_kept_and_not_run_and_its_sender_told(stage: Stage) -> None:
    """Scenario 2."""
    taken = await late(stage, "buy the tickets")
    assert (taken.verdict.outcome, taken.lane_ready, taken.deliveries) == (Outcome.UNCHANGED, False, (ROOM,))
    (waiting,) = await stage.waiting()
    assert waiting.delivery.content.text.startswith(
        "I was away when you wrote at [2026-02-28 11:00 UTC](time:2026-02-28T11:00:00Z), more than 1 day ago."
    )
    assert waiting.delivery.reply_to == "buy the tickets"
    (entry,) = (await stage.store.history.view(ROOM)).entries
    assert (entry.body, entry.answered) == ("buy the tickets", True)


async def test_a_message_within_a_day_runs(stage: Stage) -> None:
    """Scenario 2."""
    assert (await late(stage, "hello", hours=23)).verdict.outcome is Outcome.ACCEPTED


async def test_of_many_old_messages_each_sender_is_told_once(stage: Stage) -> None:
    """Scenario 2."""
    told = [bool((await late(stage, f"message {n}", actor=who)).deliveries) for who in (ADA, UMA) for n in range(5)]
    assert told == [True, *[False] * 4] * 2


async def test_an_old_message_that_comes_again_is_a_duplicate(stage: Stage) -> None:
    event = replace(stage.signal(Said("hello")), received_at=stage.clock() - timedelta(hours=25))
    await stage.take_in(event)
    assert (await stage.take_in(event)).verdict.outcome is Outcome.DUPLICATE


async def test_what_was_never_run_is_forgotten_in_its_time(stage: Stage) -> None:
    await late(stage, "buy the tickets")
    stage.clock.advance(hours=24 * 400)
    duty = await stage.duty("retention")
    await stage.store.retention.sweep(duty, Stock.MESSAGES, None, stage.clock() - timedelta(days=365))
    assert await stage.rows("SELECT state, text FROM signals WHERE kind = 'said'") == [("forgotten", "")]
