"""Pairing: an unknown person is sent a code, an owner enters it, and from then on they are known."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.chat import pairing
from runtime.chat.pairing import ALPHABET
from runtime.contract import (
    Address,
    Addressing,
    Amended,
    Choice,
    Clicked,
    Commanded,
    Identity,
    Outcome,
    Person,
    Role,
    Said,
    Signal,
    Stopped,
)
from runtime.domain.approvals import Rights
from runtime.store.intake.strangers import STRANGER
from runtime.store.protocol import Paired, Taken, Unpaired
from tests.contract.store.stage import ADA, GATE, ROOM, UMA, Stage, hashed

PAIRS = replace(GATE, pairs=True)
DIRECT = Address("telegram", "77", "1001")
SAM = Identity("telegram:1001")


def private(stage: Stage, text: str = "hello", actor: Identity = SAM, room: str = "") -> Signal:
    at = replace(DIRECT, room=room or actor.partition(":")[2])
    return replace(stage.signal(Said(text), actor=actor, at=at), actor_name="Sam", platform="telegram:77")


async def shown(stage: Stage, at: Address = DIRECT) -> list[str]:
    """What waits to be shown in a room."""
    return [one.delivery.content.text for one in await stage.waiting(at)]


async def code_of(stage: Stage, at: Address = DIRECT) -> str:
    (text,) = await shown(stage, at)
    found = re.search(r"\*\*(\w{8})\*\*", text)
    assert found
    return found[1]


async def ask(stage: Stage, actor: Identity = SAM) -> Taken:
    return await stage.take_in(private(stage, actor=actor), PAIRS)


async def owner(stage: Stage) -> Person:
    found = await stage.store.people.identified(ADA)
    assert found
    return found


async def enter(stage: Stage, code: str, name: str = "", role: Role | None = None) -> Paired | Unpaired:
    return await stage.store.people.pair(code, name, role, await owner(stage))


# --------------------------------------------------------------------------------------------------------- being invited


async def test_an_unknown_person_is_sent_a_code_in_their_own_room(stage: Stage) -> None:
    """Scenario 8."""
    taken = await ask(stage)
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.REFUSED, (DIRECT,))
    code = await code_of(stage)
    assert len(code) == 8
    assert set(code) <= set(ALPHABET)


async def test_no_letter_of_a_code_looks_like_another() -> None:
    assert not set(ALPHABET) & set("01OIL")
    assert len(set(ALPHABET)) == len(ALPHABET)


async def test_of_a_code_its_hash_alone_is_kept_and_of_the_message_nothing(stage: Stage) -> None:
    await stage.take_in(private(stage, "my secret plan"), PAIRS)
    code = await code_of(stage)
    assert await stage.column("SELECT code_hash FROM pairings") == [hashed(code)]
    assert "my secret plan" not in str(await stage.everything())
    rows = await stage.everything()
    assert code not in str({table: rows[table] for table in rows if table != "deliveries"})


async def test_a_code_is_sent_once_until_it_expires(stage: Stage) -> None:
    """Scenario 8."""
    await ask(stage)
    assert (await ask(stage)).deliveries == ()
    stage.clock.advance(hours=1)
    assert (await ask(stage)).deliveries == (DIRECT,)
    assert len(await shown(stage)) == 2


async def test_three_codes_of_an_account_may_be_fresh(stage: Stage) -> None:
    """Scenario 8: one who is shut out by others is so for ten minutes, and told."""
    people = [Identity(f"telegram:{number}") for number in range(2001, 2006)]
    taken = [await ask(stage, one) for one in people]
    assert [one.deliveries for one in taken] == [(replace(DIRECT, room=one.partition(":")[2]),) for one in people]
    there = replace(DIRECT, room="2004")
    assert await shown(stage, there) == [pairing.CROWDED]
    assert (await ask(stage, people[3])).deliveries == ()
    stage.clock.advance(seconds=600)
    assert (await ask(stage, people[3])).deliveries
    assert "pairing code is" in (await shown(stage, there))[1]
    assert not (await ask(stage, people[0])).deliveries
    other = replace(private(stage, actor=people[4]), address=Address("telegram", "88", "2005"), platform="telegram:88")
    assert (await stage.take_in(other, PAIRS)).deliveries


async def test_twenty_messages_at_once_are_one_code(stage: Stage) -> None:
    await stage.many()
    taken = await asyncio.gather(*(ask(stage) for _ in range(20)))
    assert [bool(one.deliveries) for one in taken].count(True) == 1
    assert len(await shown(stage)) == 1


async def test_an_event_that_returns_is_sent_no_second_code(stage: Stage) -> None:
    event = private(stage)
    await stage.take_in(event, PAIRS)
    stage.clock.advance(hours=2)
    assert (await stage.take_in(event, PAIRS)).verdict.outcome is Outcome.DUPLICATE
    assert len(await shown(stage)) == 1


@pytest.mark.parametrize("body", [Commanded("start"), Commanded("status"), Stopped(), Said("/help")])
async def test_the_gate_is_the_same_for_commands(stage: Stage, body: Commanded | Stopped | Said) -> None:
    """Scenario 8: what a stranger sends first on Telegram is a command."""
    taken = await stage.take_in(replace(private(stage), body=body, message_id="5"), PAIRS)
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.REFUSED, (DIRECT,))


@pytest.mark.parametrize("body", [Clicked("x", Choice.APPROVE), Amended("other words")])  # type: ignore[arg-type]
async def test_clicks_and_edits_of_strangers_change_nothing_and_bring_no_code(
    stage: Stage, body: Clicked | Amended
) -> None:
    """Scenario 8: adapters need not know in which kind of room they were made."""
    taken = await stage.take_in(replace(private(stage), body=body), PAIRS)
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.REFUSED, ())


@pytest.mark.parametrize("pairs", [True, False])
async def test_in_a_room_of_several_a_stranger_is_told_once_and_nothing_that_others_can_read(
    stage: Stage, pairs: bool
) -> None:
    """Scenario 8."""

    async def mention(room: str, actor: Identity = SAM) -> str | None:
        signal = replace(private(stage, actor=actor, room=room), reach=Addressing.MENTION)
        taken = await stage.take_in(signal, replace(GATE, pairs=pairs))
        assert (taken.verdict.outcome, taken.deliveries) == (Outcome.REFUSED, ())
        return taken.verdict.notice

    line = pairing.UNPAIRED if pairs else STRANGER
    assert [await mention("C1"), await mention("C1"), await mention("C2")] == [line, None, line]
    assert await mention("C1", Identity("telegram:1002")) == line


async def test_an_edit_in_a_room_tells_a_stranger_nothing_anew(stage: Stage) -> None:
    taken = [
        await stage.take_in(replace(private(stage, room="C1"), reach=Addressing.MENTION, body=body))
        for body in (Said("hello"), Amended("hello!"))
    ]
    assert [one.verdict.notice for one in taken] == [STRANGER, None]


async def test_a_strangers_slash_command_in_a_room_is_answered_in_private_only(stage: Stage) -> None:
    """Scenario 22."""
    signal = replace(private(stage), reach=Addressing.MENTION, body=Commanded("status"))
    taken = await stage.take_in(signal, PAIRS)
    assert taken.verdict.notice
    assert taken.deliveries == ()


async def test_where_strangers_are_denied_one_is_told_once(stage: Stage) -> None:
    taken = [await stage.take_in(private(stage, f"hello {n}")) for n in range(3)]
    assert [one.deliveries for one in taken] == [(DIRECT,), (), ()]
    assert await shown(stage) == [STRANGER]


async def test_a_refusal_that_brings_a_code_is_audited(stage: Stage) -> None:
    await ask(stage)
    assert [(who, where) for who, where, _ in await stage.audit("pairing offered")] == [(SAM, str(DIRECT))]


# ------------------------------------------------------------------------------------------------------------- entering


async def test_after_the_code_is_entered_the_person_is_known_and_told(stage: Stage) -> None:
    """Scenario 8."""
    await ask(stage)
    code = await code_of(stage)
    await stage.drain(DIRECT)
    made = await enter(stage, code)
    assert isinstance(made, Paired)
    assert (made.person.name, made.person.role, made.identity, made.address) == ("Sam", Role.USER, SAM, DIRECT)
    assert (await shown(stage))[0].startswith("You're in: I know you as Sam (user).")
    assert (await stage.take_in(private(stage, "and now?"), PAIRS)).verdict.outcome is Outcome.ACCEPTED


@pytest.mark.parametrize("typed", ["{}", " {} ", "{0[0]}{0[1]}{0[2]}{0[3]}-{0[4]}{0[5]}{0[6]}{0[7]}"])
async def test_a_code_may_be_typed_as_people_type(stage: Stage, typed: str) -> None:
    await ask(stage)
    code = await code_of(stage)
    assert isinstance(await enter(stage, typed.format(code).lower()), Paired)


async def test_a_code_works_once(stage: Stage) -> None:
    await ask(stage)
    code = await code_of(stage)
    await enter(stage, code)
    assert isinstance(await enter(stage, code), Unpaired)


async def test_a_code_ends_after_an_hour(stage: Stage) -> None:
    """Scenario 8."""
    await ask(stage)
    code = await code_of(stage)
    stage.clock.advance(hours=1)
    assert isinstance(await enter(stage, code), Unpaired)
    assert await stage.store.people.identified(SAM) is None


async def test_an_owner_names_the_person_and_their_role(stage: Stage) -> None:
    await ask(stage)
    made = await enter(stage, await code_of(stage), "Samuel", Role.OPERATOR)
    assert isinstance(made, Paired)
    assert (made.person.name, made.person.role) == ("Samuel", Role.OPERATOR)


async def test_a_name_that_is_known_gets_one_more_account(stage: Stage) -> None:
    """Ada pairs her own telephone: she stays who she is."""
    await ask(stage)
    made = await enter(stage, await code_of(stage), "Ada")
    assert isinstance(made, Paired)
    assert made.person == await owner(stage)
    assert await stage.store.people.identified(SAM) == await owner(stage)


async def test_who_calls_themselves_as_somebody_else_does_not_become_them(stage: Stage) -> None:
    await stage.take_in(replace(private(stage), actor_name="Ada"), PAIRS)
    made = await enter(stage, await code_of(stage))
    assert isinstance(made, Paired)
    assert (made.person.name, made.person.role) == ("Ada 2", Role.USER)


@pytest.mark.parametrize("own_name", ["Ada", "ada", "A\u200bda", "Ａｄа", "@ADA"])  # noqa: RUF001 - as meant
async def test_who_is_called_like_somebody_gets_another_name(stage: Stage, own_name: str) -> None:
    await stage.take_in(replace(private(stage), actor_name=own_name), PAIRS)
    made = await enter(stage, await code_of(stage))
    assert isinstance(made, Paired)
    assert made.person.name.endswith(" 2")


async def test_a_stranger_is_not_called_as_settings_name_somebody(stage: Stage) -> None:
    """A room is for Grace, who is not known yet: whoever calls themselves so has none of her rights."""
    gate = replace(PAIRS, rights=Rights(given=frozenset({"Grace", "Grace 2"})))
    await stage.take_in(replace(private(stage), actor_name="Grace"), gate)
    code = await code_of(stage)
    await stage.drain(DIRECT)
    await stage.take_in(stage.signal(Said(f"/pair {code}"), actor=ADA), gate)
    who = await stage.store.people.identified(SAM)
    assert who
    assert who.name == "Grace 3"


async def test_an_owner_may_call_somebody_as_settings_do(stage: Stage) -> None:
    await stage.take_in(replace(private(stage), actor_name="Grace"), PAIRS)
    made = await stage.store.people.pair(await code_of(stage), "Grace", None, await owner(stage), given={"Grace"})
    assert isinstance(made, Paired)
    assert made.person.name == "Grace"


async def test_five_wrong_codes_lock_whoever_entered_them_for_an_hour(stage: Stage) -> None:
    """Scenario 8: the right one is not taken either; others may enter theirs."""
    await ask(stage)
    code = await code_of(stage)
    tries = [await enter(stage, "WRONGONE") for _ in range(5)]
    assert [one.locked for one in tries if isinstance(one, Unpaired)] == [False] * 4 + [True]
    locked = await enter(stage, code)
    assert isinstance(locked, Unpaired)
    assert locked.reason == "Too many wrong codes. Try again in 60 minutes."
    other = await stage.store.people.identified(UMA)
    assert other
    assert isinstance(await stage.store.people.pair(code, "", None, other), Paired)


async def test_the_lock_ends_by_itself(stage: Stage) -> None:
    for _ in range(5):
        await enter(stage, "WRONGONE")
    stage.clock.advance(hours=1)
    await ask(stage)
    assert isinstance(await enter(stage, await code_of(stage)), Paired)


async def test_a_right_code_forgives_wrong_ones(stage: Stage) -> None:
    for _ in range(4):
        await enter(stage, "WRONGONE")
    await ask(stage)
    await enter(stage, await code_of(stage))
    told = await enter(stage, "WRONGONE")
    assert isinstance(told, Unpaired)
    assert told.reason.endswith("You have 4 more tries.")


async def test_wrong_codes_are_audited(stage: Stage) -> None:
    await enter(stage, "WRONGONE")
    assert [who for who, _, _ in await stage.audit("pairing refused")] == ["Ada"]


async def test_who_waits_is_listed_oldest_first(stage: Stage) -> None:
    await ask(stage)
    stage.clock.advance(seconds=60)
    await ask(stage, Identity("telegram:1002"))
    waiting = await stage.store.people.pairings()
    assert [(one.identity, one.name) for one in waiting] == [(SAM, "Sam"), (Identity("telegram:1002"), "Sam")]
    assert waiting[0].expires_at - waiting[0].created_at == timedelta(hours=1)


# --------------------------------------------------------------------------------------------------------------- in chat


async def test_an_owner_enters_a_code_in_a_direct_chat(stage: Stage) -> None:
    """Scenario 8: as text, or as a command of the platform."""
    await ask(stage)
    code = await code_of(stage)
    await stage.drain(DIRECT)
    taken = await stage.say(f"/pair {code} Samuel\u3164", actor=ADA)
    assert set(taken.deliveries) == {ROOM, DIRECT}
    assert await shown(stage, ROOM) == ["Paired: telegram:1001 is now Samuel (user). I've told them."]
    assert await stage.store.people.identified(SAM)
    assert code not in str(await stage.column("SELECT text FROM signals"))


async def test_codes_are_not_entered_where_others_read_along(stage: Stage) -> None:
    await ask(stage)
    code = await code_of(stage)
    signal = replace(stage.signal(Commanded("pair", code)), reach=Addressing.MENTION)
    await stage.take_in(signal)
    assert "direct chat" in (await shown(stage, ROOM))[0]
    assert await stage.store.people.identified(SAM) is None


async def test_only_an_owner_enters_codes_in_chat(stage: Stage) -> None:
    await ask(stage)
    code = await code_of(stage)
    await stage.say(f"/pair {code}", actor=UMA)
    assert (await shown(stage, ROOM))[0].startswith("There's no command `/pair`.")
    assert await stage.store.people.identified(SAM) is None


async def test_a_code_takes_the_last_owner_no_right(stage: Stage) -> None:
    await ask(stage)
    ada = await owner(stage)
    made = await enter(stage, await code_of(stage), ada.name, Role.USER)
    assert isinstance(made, Paired)
    assert (made.person.name, made.person.role) == (ada.name, Role.OWNER)
