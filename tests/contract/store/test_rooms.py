"""Rooms of several people: what reaches the agent there, threads it was made part of, bots, and who is barred."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

import pytest

from runtime.contract import (
    Address,
    Addressing,
    Busy,
    Choice,
    Clicked,
    Commanded,
    Identity,
    Outcome,
    Role,
    Said,
    SessionKey,
    Signal,
    Urgency,
    UserTurn,
)
from runtime.domain.routing import Attention, BusyRules, RoomRule, RoomRules
from runtime.store.intake.messages import OBSERVED
from runtime.store.protocol import Gate, Taken
from tests.contract.store.stage import ADA, GATE, LIST, OTTO, ROOM, SHELL, STRANGER, UMA, VERA, Stage, step

THREAD = replace(ROOM, thread="17.0")
OTHER_THREAD = replace(ROOM, thread="18.0")
BOT = Identity("web:ci")


def gate(attention: Attention = Attention.MENTION, *rules: RoomRule, **more: object) -> Gate:
    return replace(GATE, rooms=RoomRules(attention, rules, **more))  # type: ignore[arg-type]  # as given


def heard(
    stage: Stage,
    reach: Addressing,
    text: str = "",
    *,
    at: Address = THREAD,
    actor: Identity = ADA,
    joinable: bool = True,
    by_bot: bool = False,
) -> Signal:
    signal = stage.signal(Said(text or f"words {stage.events}"), actor=actor, at=at)
    return replace(signal, reach=reach, joinable=joinable, by_bot=by_bot)


async def mentioned(stage: Stage, rules: Gate = GATE, **more: object) -> Taken:
    return await stage.take_in(heard(stage, Addressing.MENTION, **more), rules)  # type: ignore[arg-type]  # as given


async def overheard(stage: Stage, rules: Gate = GATE, **more: object) -> Taken:
    return await stage.take_in(heard(stage, Addressing.OVERHEARD, **more), rules)  # type: ignore[arg-type]  # as given


NOTHING: Final[tuple[Outcome, tuple[Address, ...], bool, set[str]]] = (Outcome.IGNORED, (), False, set())


async def made_of(stage: Stage, signal: Signal, rules: Gate) -> tuple[Outcome, tuple[Address, ...], bool, set[str]]:
    """The outcome, where a courier is to look, whether a lane is ready, and the tables that changed."""
    before = await stage.everything()
    taken = await stage.take_in(signal, rules)
    after = await stage.everything()
    changed = {name for name in before if before[name] != after[name]}
    return taken.verdict.outcome, tuple(taken.deliveries), taken.lane_ready, changed


# ------------------------------------------------------------------------------------------------------------ attention


@pytest.mark.parametrize(
    ("attention", "outcome"),
    [
        (Attention.STRICT, Outcome.IGNORED),
        (Attention.MENTION, Outcome.IGNORED),
        (Attention.THREAD, Outcome.IGNORED),
        (Attention.OPEN, Outcome.ACCEPTED),
        (Attention.OBSERVE, Outcome.OBSERVED),
        (Attention.OFF, Outcome.IGNORED),
    ],
)
async def test_what_is_overheard_needs_a_room_that_is_open(
    stage: Stage, attention: Attention, outcome: Outcome
) -> None:
    """Scenario 5."""
    assert (await overheard(stage, gate(attention))).verdict.outcome is outcome


@pytest.mark.parametrize("attention", list(Attention))
async def test_a_mention_is_answered_where_the_room_is_not_off(stage: Stage, attention: Attention) -> None:
    """Scenario 5."""
    wanted = Outcome.REFUSED if attention is Attention.OFF else Outcome.ACCEPTED
    assert (await mentioned(stage, gate(attention))).verdict.outcome is wanted


@pytest.mark.parametrize("attention", list(Attention))
async def test_whoever_writes_to_the_agent_alone_needs_no_mention(stage: Stage, attention: Attention) -> None:
    """Scenario 5: whatever is set for rooms."""
    taken = await stage.take_in(heard(stage, Addressing.DIRECT), gate(attention))
    assert taken.verdict.outcome is Outcome.ACCEPTED


async def test_of_what_is_ignored_nothing_is_stored(stage: Stage) -> None:
    """Scenario 5: a human thread leaves no trace, not even in the audit."""
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD), gate()) == NOTHING


async def test_a_room_that_is_off_says_so_in_private(stage: Stage) -> None:
    taken = await mentioned(stage, gate(Attention.OFF))
    assert taken.verdict.notice == "I don't answer in this room."
    assert taken.deliveries == ()


async def test_a_direct_room_can_be_turned_off_by_its_address(stage: Stage) -> None:
    rules = gate(Attention.MENTION, RoomRule(str(ROOM), Attention.OFF))
    assert (await stage.say("hello", gate=rules)).verdict.outcome is Outcome.REFUSED


@pytest.mark.parametrize(("reach", "told"), [(Addressing.MENTION, 1), (Addressing.OVERHEARD, 0)])
async def test_a_stop_that_was_meant_for_somebody_else_is_not_answered(
    stage: Stage, reach: Addressing, told: int
) -> None:
    """Scenario 48: people say stop to each other too."""
    said = replace(heard(stage, reach), body=Said("stop"))
    taken = await stage.take_in(said, gate(Attention.OPEN))
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert len(await stage.rows("SELECT id FROM deliveries")) == told
    assert await stage.rows("SELECT id FROM runs") == []


async def test_the_first_rule_that_fits_decides_also_for_threads(stage: Stage) -> None:
    rules = gate(Attention.MENTION, RoomRule("web:main/r1", Attention.OPEN), RoomRule("web:*", Attention.OFF))
    assert (await overheard(stage, rules)).verdict.outcome is Outcome.ACCEPTED
    elsewhere = heard(stage, Addressing.MENTION, at=replace(ROOM, room="r2"))
    assert (await stage.take_in(elsewhere, rules)).verdict.outcome is Outcome.REFUSED


async def test_rules_name_accounts_as_the_settings_do(stage: Stage) -> None:
    """Inside an address has the account's identity at its platform."""
    rules = gate(
        Attention.MENTION, RoomRule("web:work/r1", Attention.OPEN), named=lambda a: str(a).replace("main", "work")
    )
    assert (await overheard(stage, rules)).verdict.outcome is Outcome.ACCEPTED


async def test_a_click_is_refused_in_a_room_that_is_off(stage: Stage) -> None:
    """Scenario 8: the same gate for buttons."""
    parked = await stage.park(SHELL)
    rules = gate(Attention.MENTION, RoomRule(str(ROOM), Attention.OFF))
    taken = await stage.click(parked.approvals[0], Choice.APPROVE, gate=rules)
    assert taken.verdict.outcome is Outcome.REFUSED
    assert await stage.column("SELECT state FROM approvals") == ["pending"]


# -------------------------------------------------------------------------------------------------------- participation


async def test_a_mention_joins_its_thread_and_what_follows_needs_none(stage: Stage) -> None:
    """Scenario 5; the row is what a restart finds."""
    await mentioned(stage, gate())
    assert await stage.column("SELECT address FROM participation") == [str(THREAD)]
    assert (await overheard(stage, gate(), actor=UMA)).verdict.outcome is Outcome.ACCEPTED


async def test_another_thread_is_not_joined_by_it(stage: Stage) -> None:
    """Scenario 5."""
    await mentioned(stage, gate())
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, at=OTHER_THREAD), gate()) == NOTHING


async def test_ten_mentions_of_one_thread_join_it_once(stage: Stage) -> None:
    await stage.many()
    taken = await asyncio.gather(*(mentioned(stage, gate()) for _ in range(10)))
    assert {one.verdict.outcome for one in taken} == {Outcome.ACCEPTED}
    assert len(await stage.rows("SELECT address FROM participation")) == 1


@pytest.mark.parametrize("attention", [Attention.STRICT, Attention.OPEN, Attention.OBSERVE])
async def test_where_threads_do_not_count_none_is_joined(stage: Stage, attention: Attention) -> None:
    """Scenario 5: strict mode needs a mention each time."""
    await mentioned(stage, gate(attention))
    assert await stage.rows("SELECT address FROM participation") == []


async def test_a_lasting_thread_is_joined_only_where_that_is_set(stage: Stage) -> None:
    """A topic of a forum is a room rather than a conversation."""
    await mentioned(stage, gate(), joinable=False)
    assert await stage.rows("SELECT address FROM participation") == []
    await mentioned(stage, gate(Attention.THREAD), joinable=False)
    assert (await overheard(stage, gate(Attention.THREAD))).verdict.outcome is Outcome.ACCEPTED


async def test_a_room_without_threads_is_not_joined(stage: Stage) -> None:
    await mentioned(stage, gate(), at=ROOM)
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, at=ROOM), gate()) == NOTHING


async def test_a_stranger_joins_nothing(stage: Stage) -> None:
    await mentioned(stage, gate(), actor=STRANGER)
    assert await stage.rows("SELECT address FROM participation") == []


@pytest.mark.parametrize("actor", [STRANGER, VERA])
async def test_who_may_not_ask_is_not_heard_in_a_joined_thread(stage: Stage, actor: Identity) -> None:
    """Scenario 8: in a room nothing."""
    await mentioned(stage, gate())
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, actor=actor), gate()) == NOTHING


# ---------------------------------------------------------------------------------------------------------- who may speak


async def test_only_the_people_of_a_room_are_answered_there(stage: Stage) -> None:
    rules = gate(Attention.OPEN, RoomRule(str(ROOM), people=frozenset([UMA, "Otto"])))
    assert (await mentioned(stage, rules, actor=UMA)).verdict.outcome is Outcome.ACCEPTED
    assert (await mentioned(stage, rules, actor=OTTO)).verdict.outcome is Outcome.ACCEPTED
    assert (await mentioned(stage, rules, actor=ADA)).verdict.outcome is Outcome.REFUSED
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, actor=ADA), rules) == NOTHING


@pytest.mark.parametrize("name", [UMA, "Uma"])
@pytest.mark.parametrize("everywhere", [True, False])
async def test_the_blocked_are_not_answered(stage: Stage, name: str, everywhere: bool) -> None:
    names = frozenset([name])
    rules = gate(blocked=names) if everywhere else gate(Attention.MENTION, RoomRule("*", blocked=names))
    assert (await stage.say("hello", actor=UMA, gate=rules)).verdict.outcome is Outcome.REFUSED
    assert (await stage.say("hello", actor=ADA, gate=rules)).verdict.outcome is Outcome.ACCEPTED


async def test_a_blocked_stranger_gets_no_code(stage: Stage) -> None:
    rules = replace(gate(blocked=frozenset([STRANGER])), pairs=True)
    taken = await stage.say("hello", actor=STRANGER, gate=rules)
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.REFUSED, ())
    assert await stage.rows("SELECT identity FROM pairings") == []


async def test_a_room_may_have_its_own_way_with_messages_that_come_meanwhile(stage: Stage) -> None:
    rules = gate(Attention.MENTION, RoomRule(str(ROOM), busy=Busy.FOLLOWUP))
    for text in ("one", "two"):
        await stage.say(text, gate=rules)
    claim = await stage.store.runs.claim(stage.lease, BusyRules(rules.busy, rules.rooms))
    assert claim is not None
    assert await stage.store.runs.turns(claim.lane.session) == [UserTurn("one", "Ada")]


# ----------------------------------------------------------------------------------------------------------------- bots


async def test_other_bots_are_ignored(stage: Stage) -> None:
    """Scenario 6: also where a mention would count, and where everybody is welcome."""
    open_to_all = replace(gate(Attention.OPEN), open_to_all=True)
    assert await made_of(stage, heard(stage, Addressing.MENTION, actor=BOT, by_bot=True), open_to_all) == NOTHING


async def test_a_bot_that_may_speak_is_heard_as_a_user_until_it_speaks_alone_for_too_long(stage: Stage) -> None:
    """Scenario 6: never without bound; a person's word begins the count anew."""
    rules = replace(gate(bots=frozenset([BOT])), bots_in_a_row=3)
    said = [await mentioned(stage, rules, actor=BOT, by_bot=True) for _ in range(4)]
    assert [taken.verdict.outcome for taken in said] == [*[Outcome.ACCEPTED] * 3, Outcome.IGNORED]
    stage.clock.advance(seconds=1)
    assert (await mentioned(stage, rules)).verdict.outcome is Outcome.ACCEPTED
    stage.clock.advance(seconds=1)
    assert (await mentioned(stage, rules, actor=BOT, by_bot=True)).verdict.outcome is Outcome.ACCEPTED
    (person,) = [known.person for known in await stage.store.people.people() if BOT in known.identities]
    assert person.role is Role.USER


async def test_the_bound_for_bots_is_each_conversations_own(stage: Stage) -> None:
    rules = replace(gate(bots=frozenset([BOT])), bots_in_a_row=1)
    for thread in (THREAD, OTHER_THREAD):
        assert (await mentioned(stage, rules, actor=BOT, by_bot=True, at=thread)).verdict.outcome is Outcome.ACCEPTED


async def test_a_bot_that_may_speak_needs_a_mention_as_everybody(stage: Stage) -> None:
    rules = gate(bots=frozenset([BOT]))
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, actor=BOT, by_bot=True), rules) == NOTHING


# -------------------------------------------------------------------------------------------------------------- observing


async def test_what_is_observed_is_context_for_the_next_run(stage: Stage) -> None:
    """Scenario 9: a turn without a run."""
    rules = gate(Attention.OBSERVE)
    taken = await overheard(stage, rules, text="the build is red", actor=UMA)
    assert (taken.verdict.outcome, taken.lane_ready) == (Outcome.OBSERVED, False)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    await mentioned(stage, rules, text="why?")
    claim = await stage.claim()
    assert claim.turns == (UserTurn("the build is red", "Uma", overheard=True), UserTurn("why?", "Ada"))


async def test_what_is_observed_while_a_run_works_stands_behind_its_steps(stage: Stage) -> None:
    rules = gate(Attention.OBSERVE)
    await mentioned(stage, rules, text="look")
    claim = await stage.claim()
    await stage.record(claim, step(LIST))
    await overheard(stage, rules, text="by the way", actor=UMA)
    await stage.finish(replace(claim, next_step=3))
    turns = await stage.store.runs.turns(claim.lane.session)
    assert [turn.text for turn in turns] == ["look", "", "Not finished: done", "by the way", "done"]


async def test_an_observed_event_delivered_twice_is_one_turn(stage: Stage) -> None:
    rules, event = gate(Attention.OBSERVE), heard(stage, Addressing.OVERHEARD)
    assert (await stage.take_in(event, rules)).verdict.outcome is Outcome.OBSERVED
    assert (await stage.take_in(event, rules)).verdict.outcome is Outcome.DUPLICATE
    assert len(await stage.rows("SELECT number FROM turns")) == 1


async def test_a_talkative_room_fills_no_transcript(stage: Stage) -> None:
    rules = gate(Attention.OBSERVE)
    for number in range(OBSERVED + 20):
        await overheard(stage, rules, text=f"chatter {number}", actor=UMA)
    turns = await stage.store.runs.turns(SessionKey(f"main|{THREAD}"))
    assert [turn.text for turn in turns] == [f"chatter {n}" for n in range(20, OBSERVED + 20)]


@pytest.mark.parametrize("actor", [STRANGER, VERA])
async def test_strangers_and_readers_are_no_context(stage: Stage, actor: Identity) -> None:
    assert await made_of(stage, heard(stage, Addressing.OVERHEARD, actor=actor), gate(Attention.OBSERVE)) == NOTHING


async def test_a_command_that_is_only_observed_is_words(stage: Stage) -> None:
    taken = await overheard(stage, gate(Attention.OBSERVE), text="/new")
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.OBSERVED, ())


# -------------------------------------------------------------------------------------------------------------- urgency


async def test_low_urgency_is_observed(stage: Stage) -> None:
    """Scenario 9."""
    signal = replace(stage.signal(Said("disk at 70 %")), urgency=Urgency.LOW)
    assert (await stage.take_in(signal)).verdict.outcome is Outcome.OBSERVED


@pytest.mark.parametrize("urgency", [Urgency.HIGH, Urgency.CRITICAL])
async def test_high_urgency_ends_what_is_at_work_and_runs_next(stage: Stage, urgency: Urgency) -> None:
    """Scenario 9."""
    claim = await stage.begin("write a poem")
    taken = await stage.take_in(replace(stage.signal(Said("fire!"), actor=UMA), urgency=urgency))
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.ACCEPTED, (claim.run_id,))
    assert await stage.column("SELECT stop FROM runs") == [1]
    assert [(who, where) for who, _, where in await stage.audit("interrupt")] == [("Uma", str(ROOM))]


async def test_high_urgency_leaves_alone_what_waits_for_people(stage: Stage) -> None:
    await stage.park(SHELL)
    taken = await stage.take_in(replace(stage.signal(Said("fire!")), urgency=Urgency.HIGH))
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.ACCEPTED, ())
    assert await stage.column("SELECT state FROM approvals") == ["pending"]


async def test_in_an_idle_room_high_urgency_simply_runs(stage: Stage) -> None:
    taken = await stage.take_in(replace(stage.signal(Said("fire!")), urgency=Urgency.CRITICAL))
    assert (taken.verdict.outcome, taken.stop_runs, taken.lane_ready) == (Outcome.ACCEPTED, (), True)


# ----------------------------------------------------------------------------------------------------------------- cost


async def test_two_hundred_messages_in_a_minute_are_refused_by_nothing_of_ours(stage: Stage) -> None:
    """Scenario 4: in a joined thread of a room with rules of its own, from one person."""
    rules = gate(Attention.MENTION, RoomRule(str(ROOM), people=frozenset([UMA])), blocked=frozenset(["nobody"]))
    await mentioned(stage, rules, actor=UMA)
    taken = [await overheard(stage, rules, text=f"message {n}", actor=UMA) for n in range(200)]
    assert {one.verdict.outcome for one in taken} == {Outcome.ACCEPTED}


async def test_commands_and_clicks_of_bots_are_ignored(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    for body in (Commanded("status"), Clicked(parked.approvals[0], Choice.APPROVE)):
        assert await made_of(stage, replace(stage.signal(body, actor=BOT), by_bot=True), gate()) == NOTHING
