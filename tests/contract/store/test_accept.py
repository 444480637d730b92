"""Taking in: the gate, duplicates, twins, and a lane that numbers what it was given."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from runtime.contract import Busy, Choice, Clicked, FileRef, Identity, Outcome, Said, UserTurn
from runtime.store.protocol import Taken
from tests.contract.store.stage import (
    GATE,
    OTHER_ROOM,
    OTTO,
    ROOM,
    SHELL,
    STRANGER,
    UMA,
    VERA,
    Stage,
)

OPEN = replace(GATE, open_to_all=True)


def outcomes(taken: list[Taken]) -> list[str]:
    return sorted(t.verdict.outcome for t in taken)


# ---------------------------------------------------------------------------------------------------- duplicates


async def test_an_event_delivered_twice_is_one_signal(stage: Stage) -> None:
    event = stage.signal(Said("hello"))
    first = await stage.take_in(event)
    second = await stage.take_in(event)
    assert (first.verdict.outcome, second.verdict.outcome) == (Outcome.ACCEPTED, Outcome.DUPLICATE)
    assert second.verdict.signal_id == first.verdict.signal_id


async def test_a_natural_key_makes_two_event_ids_one_signal(stage: Stage) -> None:
    message = replace(stage.signal(Said("hello")), natural_key="r1/17.0")
    mention = replace(stage.signal(Said("hello")), natural_key="r1/17.0")
    first = await stage.take_in(message)
    second = await stage.take_in(mention)
    assert (second.verdict.outcome, second.verdict.signal_id) == (Outcome.DUPLICATE, first.verdict.signal_id)


async def test_signals_without_a_natural_key_are_not_alike(stage: Stage) -> None:
    assert (await stage.say("one")).verdict.outcome is Outcome.ACCEPTED
    assert (await stage.say("two")).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_key_on_two_platforms_is_two_signals(stage: Stage) -> None:
    event = stage.signal(Said("hello"))
    await stage.take_in(event)
    elsewhere = replace(event, platform="slack:T1", address=OTHER_ROOM)
    assert (await stage.take_in(elsewhere)).verdict.outcome is Outcome.ACCEPTED


async def test_an_answered_event_that_returns_days_later_is_still_a_duplicate(stage: Stage) -> None:
    event = stage.signal(Said("hello"))
    await stage.take_in(event)
    await stage.finish(await stage.claim())
    await stage.drain()
    stage.clock.advance(hours=24 * 7)
    assert (await stage.take_in(event)).verdict.outcome is Outcome.DUPLICATE


@pytest.mark.parametrize("key", ["dedupe", "natural"])
async def test_twenty_at_once_of_one_event_are_one_signal(stage: Stage, key: str) -> None:
    await stage.many()
    event = stage.signal(Said("hello"))
    events = [
        event if key == "dedupe" else replace(event, dedupe_key=f"k{n}", natural_key="r1/17.0") for n in range(20)
    ]
    taken = await asyncio.gather(*(stage.take_in(e) for e in events))
    assert outcomes(taken) == [Outcome.ACCEPTED, *[Outcome.DUPLICATE] * 19]
    assert len({t.verdict.signal_id for t in taken}) == 1


@pytest.mark.parametrize("files", [(), (FileRef("a.txt", "a.txt", 3),)])
async def test_a_duplicate_takes_no_place_in_the_lane(stage: Stage, files: tuple[FileRef, ...]) -> None:
    event = stage.signal(Said("hello", files))
    await stage.many()
    await asyncio.gather(*(stage.take_in(event) for _ in range(20)))
    await stage.say("next")
    assert await stage.column("SELECT seq FROM signals ORDER BY seq") == [1, 2]
    assert await stage.column("SELECT waiting FROM sessions") == [2]


async def test_a_click_delivered_twice_is_a_duplicate(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    event = stage.signal(Clicked(parked.approvals[0], Choice.APPROVE))
    await stage.many()
    taken = await asyncio.gather(*(stage.take_in(event) for _ in range(10)))
    assert outcomes(taken) == sorted([Outcome.DECIDED, *[Outcome.DUPLICATE] * 9])


# ------------------------------------------------------------------------------------------------------ the gate


async def test_an_unknown_person_is_refused_and_no_text_is_kept(stage: Stage) -> None:
    taken = await stage.say("my secret plan", actor=STRANGER)
    assert taken.verdict.outcome is Outcome.REFUSED
    assert await stage.column("SELECT text FROM signals") == [""]
    assert "my secret plan" not in str(await stage.everything())


async def test_a_refused_event_that_returns_is_a_duplicate(stage: Stage) -> None:
    event = stage.signal(Said("hello"), actor=STRANGER)
    await stage.take_in(event)
    assert (await stage.take_in(event)).verdict.outcome is Outcome.DUPLICATE


async def test_a_refused_signal_wakes_nothing(stage: Stage) -> None:
    await stage.say("hello", actor=STRANGER)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_a_refusal_is_audited(stage: Stage) -> None:
    await stage.say("hello", actor=STRANGER)
    assert [(actor, about) for actor, about, _ in await stage.audit("refused")] == [(STRANGER, str(ROOM))]


async def test_a_viewer_may_not_ask(stage: Stage) -> None:
    assert (await stage.say("hello", actor=VERA)).verdict.outcome is Outcome.REFUSED


async def test_a_viewer_may_not_stop(stage: Stage) -> None:
    claim = await stage.begin()
    assert (await stage.stop(actor=VERA)).verdict.outcome is Outcome.REFUSED
    assert await stage.column("SELECT stop FROM runs WHERE id = :run", run=claim.run_id) == [0]


async def test_where_all_are_welcome_a_stranger_becomes_a_user(stage: Stage) -> None:
    taken = await stage.say("hello", actor=STRANGER, gate=OPEN)
    assert taken.verdict.outcome is Outcome.ACCEPTED
    requester = (await stage.claim()).requester
    assert requester is not None
    assert requester.role.word == "user"


async def test_a_stranger_is_welcomed_once(stage: Stage) -> None:
    await stage.many()
    taken = await asyncio.gather(*(stage.say(f"{n}", actor=STRANGER, gate=OPEN) for n in range(20)))
    assert outcomes(taken) == [Outcome.ACCEPTED] * 20
    assert len(await stage.store.people.people()) == 5


async def test_two_strangers_of_one_name_are_two_people(stage: Stage) -> None:
    for actor in (STRANGER, Identity("slack:T1/U9")):
        event = replace(stage.signal(Said(f"I am {actor}"), actor=actor), actor_name="Sam")
        assert (await stage.take_in(event, OPEN)).verdict.outcome is Outcome.ACCEPTED
    assert len(await stage.store.people.people()) == 6


async def test_a_welcomed_person_speaks_as_the_same_one_through_a_link(stage: Stage) -> None:
    await stage.say("hello", actor=STRANGER, gate=OPEN)
    (known,) = [k for k in await stage.store.people.people() if STRANGER in k.identities]
    await stage.store.people.set_link(known.person.name, "token", actor="test")
    linked = await stage.store.people.person_of("token")
    assert linked is not None
    await stage.say("again", actor=linked[1], gate=OPEN)
    assert len(await stage.store.people.people()) == 5


# -------------------------------------------------------------------------------------------------------- twins


async def test_the_same_words_unanswered_are_one_run(stage: Stage) -> None:
    await stage.say("hello")
    stage.clock.advance(seconds=59)
    assert (await stage.say("hello")).verdict.outcome is Outcome.MERGED
    claim = await stage.claim()
    assert await stage.store.runs.turns(claim.lane.session) == [UserTurn("hello", "Ada")]


async def test_the_same_words_while_their_run_works_join_it(stage: Stage) -> None:
    claim = await stage.begin("hello")
    assert (await stage.say("hello")).verdict.outcome is Outcome.MERGED
    await stage.finish(claim)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_the_same_words_after_their_answer_are_a_new_request(stage: Stage) -> None:
    await stage.finish(await stage.begin("hello"))
    await stage.drain()
    assert (await stage.say("hello")).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_after_a_minute_are_a_new_request(stage: Stage) -> None:
    await stage.say("hello")
    stage.clock.advance(seconds=61)
    assert (await stage.say("hello")).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_of_someone_else_are_a_request_of_their_own(stage: Stage) -> None:
    await stage.say("hello")
    assert (await stage.say("hello", actor=OTTO)).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_in_another_room_are_a_request_of_their_own(stage: Stage) -> None:
    await stage.say("hello")
    assert (await stage.say("hello", at=OTHER_ROOM)).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_with_a_file_are_a_request_of_their_own(stage: Stage) -> None:
    await stage.say("look at this")
    taken = await stage.say("look at this", files=[FileRef("a.txt", "a.txt", 3)])
    assert taken.verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_after_a_stop_are_a_new_request(stage: Stage) -> None:
    await stage.begin("hello")
    await stage.stop()
    assert (await stage.say("hello")).verdict.outcome is Outcome.ACCEPTED


async def test_the_same_words_twenty_times_at_once_are_one_run(stage: Stage) -> None:
    await stage.many()
    taken = await asyncio.gather(*(stage.say("hello") for _ in range(20)))
    assert outcomes(taken) == [Outcome.ACCEPTED, *[Outcome.MERGED] * 19]
    await stage.finish(await stage.claim())
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


# -------------------------------------------------------------------------------------------------- the lane


async def test_numbers_in_a_lane_have_no_gaps(stage: Stage) -> None:
    event = stage.signal(Said("a"))
    for act in (stage.take_in(event), stage.say("b"), stage.take_in(event), stage.say("b"), stage.say("c")):
        await act
    await stage.say("x", actor=STRANGER)
    assert await stage.column("SELECT seq FROM signals WHERE seq IS NOT NULL ORDER BY seq") == [1, 2, 3]


async def test_200_messages_in_one_burst_are_all_taken_in(stage: Stage) -> None:
    taken = await asyncio.gather(*(stage.say(f"message {n}", actor=UMA) for n in range(200)))
    assert outcomes(taken) == [Outcome.ACCEPTED] * 200
    assert await stage.column("SELECT seq FROM signals ORDER BY seq") == list(range(1, 201))


async def test_200_waiting_messages_reach_the_model_in_order(stage: Stage) -> None:
    for n in range(200):
        await stage.say(f"message {n}")
    claim = await stage.claim()
    said = [turn.text for turn in await stage.store.runs.turns(claim.lane.session) if isinstance(turn, UserTurn)]
    assert said == [f"message {n}" for n in range(200)]


async def test_the_first_message_makes_its_lane_ready(stage: Stage) -> None:
    assert (await stage.say("hello")).lane_ready


async def test_a_message_to_a_working_lane_wakes_nobody(stage: Stage) -> None:
    await stage.begin()
    assert not (await stage.say("more")).lane_ready


async def test_threads_of_one_room_have_sessions_of_their_own(stage: Stage) -> None:
    one = await stage.say("hello", at=replace(ROOM, thread="1"))
    two = await stage.say("hello", at=replace(ROOM, thread="2"))
    assert one.session != two.session


@pytest.mark.parametrize("text", ["nul \0 inside", "half a pair \ud83d", "😀 whole"])
async def test_any_text_is_taken_in(stage: Stage, text: str) -> None:
    assert (await stage.say(text)).verdict.outcome is Outcome.ACCEPTED
    claim = await stage.claim()
    (turn,) = await stage.store.runs.turns(claim.lane.session)
    assert turn == UserTurn(text.replace("\0", "\ufffd").replace("\ud83d", "\ufffd"), "Ada")


async def test_five_megabytes_are_taken_in(stage: Stage) -> None:
    await stage.say("x" * 5_000_000)
    claim = await stage.claim()
    (turn,) = await stage.store.runs.turns(claim.lane.session)
    assert len(turn.text if isinstance(turn, UserTurn) else "") == 5_000_000


async def test_attached_files_are_told_to_the_model(stage: Stage) -> None:
    await stage.say("see", files=[FileRef("a.txt", "in/a.txt", 1234)])
    claim = await stage.claim()
    assert await stage.store.runs.turns(claim.lane.session) == [
        UserTurn("see\n[attached file: in/a.txt (1,234 bytes)]", "Ada", (FileRef("a.txt", "in/a.txt", 1234),))
    ]


async def test_what_was_asked_is_audited(stage: Stage) -> None:
    taken = await stage.say("hello")
    assert await stage.audit("asked") == [("Ada", taken.verdict.signal_id, str(ROOM))]
