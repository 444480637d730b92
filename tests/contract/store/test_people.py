"""People, their identities, and their web links, of which the last one made is the one that works."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Identity, Person, Role, Said
from runtime.domain.ids import digest
from runtime.store.people.browsers import BROWSER_LIFE, SEEN_AGAIN_AFTER, SESSIONS_A_PERSON
from runtime.store.protocol import Unmoved
from tests.contract.store.stage import ADA, GATE, Stage

NEW = Identity("slack:T1/U7")


async def test_a_person_is_added_with_identities(stage: Stage) -> None:
    added = await stage.store.people.add_person("Eve", Role.USER, [NEW], actor="test")
    assert added is not None
    known = await stage.store.people.person_named("Eve")
    assert known is not None
    assert (known.person, known.linked) == (added, False)
    assert set(known.identities) == {NEW, f"web:{added.id}"}


async def test_a_name_is_given_once(stage: Stage) -> None:
    assert await stage.store.people.add_person("Ada", Role.USER, [NEW], actor="test") is None
    assert await stage.store.people.person_named("Ada") is not None


async def test_an_identity_belongs_to_one_person(stage: Stage) -> None:
    before = await stage.everything()
    assert await stage.store.people.add_person("Eve", Role.USER, [NEW, ADA], actor="test") is None
    assert await stage.everything() == before


async def test_a_person_added_by_many_at_once_is_added_once(stage: Stage) -> None:
    await stage.many()
    added = await asyncio.gather(
        *(stage.store.people.add_person("Eve", Role.USER, [NEW], actor="test") for _ in range(5))
    )
    assert len([person for person in added if person]) == 1


async def test_people_are_listed_by_name(stage: Stage) -> None:
    assert [known.person.name for known in await stage.store.people.people()] == ["Ada", "Otto", "Uma", "Vera"]


async def test_an_identity_names_its_person(stage: Stage) -> None:
    person = await stage.store.people.identified(ADA)
    assert person is not None
    assert (person.name, person.role) == ("Ada", Role.OWNER)


async def test_an_unknown_name_is_none(stage: Stage) -> None:
    assert await stage.store.people.person_named("Nobody") is None
    assert await stage.store.people.set_role("Nobody", Role.USER, actor="test") is Unmoved.NOBODY
    assert await stage.store.people.set_link("Nobody", "token", actor="test") is None


async def test_a_role_or_a_link_is_changed_and_nothing_else_of_a_person(stage: Stage) -> None:
    await stage.store.people.add_person("Eve", Role.USER, [NEW], actor="test")
    await stage.store.people.set_link("Eve", "token", actor="test")
    before = await stage.store.people.person_named("Eve")
    assert before
    await stage.store.people.set_role("Eve", Role.OPERATOR, actor="test")
    assert await stage.store.people.person_named("Eve") == replace(
        before, person=replace(before.person, role=Role.OPERATOR)
    )
    assert await stage.store.people.person_of("token"), "the link goes on to work"
    await stage.store.people.set_link("Eve", "another", actor="test")
    assert await stage.store.people.person_named("Eve") == replace(
        before, person=replace(before.person, role=Role.OPERATOR)
    )


async def test_a_role_is_changed_at_once(stage: Stage) -> None:
    changed = await stage.store.people.set_role("Vera", Role.USER, actor="test")
    assert isinstance(changed, Person)
    assert changed.role is Role.USER
    assert (await stage.say("hello", actor=Identity("web:vera"))).session is not None


async def test_changes_to_people_are_audited_with_who_made_them(stage: Stage) -> None:
    await stage.store.people.add_person("Eve", Role.USER, [NEW], actor="Ada")
    await stage.store.people.set_role("Vera", Role.USER, actor="command line of kim")
    await stage.store.people.set_link("Vera", "token", actor="settings")
    assert (await stage.audit("person added"))[-1] == ("Ada", "Eve", "user")
    assert await stage.audit("role set") == [("command line of kim", "Vera", "user")]
    assert await stage.audit("link made") == [("settings", "Vera", "")]


async def test_somebody_who_becomes_known_by_writing_is_audited(stage: Stage) -> None:
    await stage.say("hello", actor=NEW, gate=replace(GATE, open_to_all=True))
    assert (await stage.audit("person added"))[-1][0] == NEW


# ----------------------------------------------------------------------------------------------------------- links


async def test_a_link_tells_who_and_under_which_identity(stage: Stage) -> None:
    person = await stage.store.people.set_link("Uma", "token", actor="test")
    assert person is not None
    assert await stage.store.people.person_of("token") == (person, f"web:{person.id}")


async def test_whoever_has_a_link_may_speak_under_it(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "token", actor="test")
    linked = await stage.store.people.person_of("token")
    assert linked is not None
    await stage.say("hello", actor=linked[1])
    assert (await stage.claim()).requester == linked[0]


async def test_a_new_link_voids_the_old(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "old", actor="test")
    await stage.store.people.set_link("Uma", "new", actor="test")
    assert await stage.store.people.person_of("old") is None
    assert await stage.store.people.person_of("new") is not None


async def test_only_the_hash_of_a_link_is_stored(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "a-secret-token", actor="test")
    assert "a-secret-token" not in str(await stage.everything())


async def test_a_wrong_or_empty_token_is_nobodys(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "token", actor="test")
    assert await stage.store.people.person_of("tokem") is None
    assert await stage.store.people.person_of("") is None


async def test_a_list_tells_who_has_a_link(stage: Stage) -> None:
    await stage.store.people.set_link("Uma", "token", actor="test")
    assert [known.person.name for known in await stage.store.people.people() if known.linked] == ["Uma"]


async def test_a_strangers_name_has_only_what_people_see(stage: Stage) -> None:
    signal = replace(stage.signal(Said("hello"), actor=NEW), actor_name="A\u200bda\u3164 \u202e\xa0Byron")
    await stage.take_in(signal, replace(GATE, open_to_all=True))
    assert (await stage.audit("person added"))[-1][1] == f"Ada Byron ({NEW})"


async def test_a_role_that_is_none_is_the_least(stage: Stage) -> None:
    await stage.write("UPDATE people SET role = 77 WHERE name = 'Vera'")
    assert [known.person.role for known in await stage.store.people.people() if known.person.name == "Vera"] == [
        Role.VIEWER
    ]


async def test_a_link_for_one_use_works_once_in_time_and_is_no_session(stage: Stage) -> None:
    token = await stage.store.people.invite("Uma", timedelta(minutes=15), actor="test")
    assert token
    assert await stage.store.people.person_of(token) is None, "it is no cookie"
    invited = await stage.store.people.invited(token)
    assert invited
    assert invited.name == "Uma"
    got = await asyncio.gather(*(stage.store.people.redeem(token) for _ in range(5)))
    [fresh] = [one for one in got if one]
    assert await stage.store.people.person_of(fresh)
    assert await stage.store.people.invited(token) is None
    late = await stage.store.people.invite("Uma", timedelta(minutes=15), actor="test")
    assert late
    assert await stage.store.people.person_of(fresh) is None, "a newer link replaces the older one"
    stage.clock.advance(seconds=16 * 60)
    assert (await stage.store.people.invited(late), await stage.store.people.redeem(late)) == (None, None)


# --------------------------------------------------------------------------------------------------------- browsers


async def two_browsers(stage: Stage) -> tuple[str, str]:
    """Two browsers of Uma, signed in by one link."""
    await stage.store.people.set_link("Uma", "token", actor="test")
    one = await stage.store.people.redeem("token", "Firefox · Linux")
    two = await stage.store.people.redeem("token", "Safari · iPhone")
    assert one
    assert two
    assert one != two
    return one, two


async def test_each_browser_of_a_link_has_a_session_that_ends_alone(stage: Stage) -> None:
    people = stage.store.people
    one, two = await two_browsers(stage)
    found = await people.sessions_of("Uma")
    assert {each.browser for each in found} == {"Firefox · Linux", "Safari · iPhone"}
    uma = await people.person_of(one)
    assert uma
    assert (await people.linked("token"), await people.linked(one)) == (uma[0], None), "a session is no link"
    phone = next(each for each in found if each.browser == "Safari · iPhone")
    assert await people.end_session("Uma", phone.id, actor="Uma")
    assert await people.person_of(two, fresh=True) is None
    assert await people.person_of(one, fresh=True)
    assert not await people.end_session("Uma", phone.id, actor="Uma")
    assert await people.redeem("token"), "the link still opens the page"


@pytest.mark.parametrize("end", ["leave", "others", "sign out", "new link", "removed"])
async def test_browsers_end_with_their_link_all_at_once_or_where_somebody_leaves(stage: Stage, end: str) -> None:
    people = stage.store.people
    one, two = await two_browsers(stage)
    match end:
        case "leave":
            await people.leave(one)
        case "others":
            assert await people.end_other_sessions("Uma", but=digest(two), actor="Uma") == 1
        case "sign out":
            await people.sign_out("Uma", actor="Ada")
        case "new link":
            await people.set_link("Uma", "newer", actor="Ada")
        case _:
            await people.remove("Uma", actor="Ada")
    stays = end in ("leave", "others")
    assert [await people.person_of(each, fresh=True) is not None for each in (one, two)] == [False, stays]
    assert [each.hash for each in await people.sessions_of("Uma")] == ([digest(two)] if stays else [])


async def test_when_a_browser_was_seen_is_noted_now_and_then(stage: Stage) -> None:
    one, _ = await two_browsers(stage)
    seen = []
    for seconds in (60, SEEN_AGAIN_AFTER.total_seconds()):
        stage.clock.advance(seconds=seconds)
        assert await stage.store.people.person_of(one, fresh=True)
        seen += [each.seen for each in await stage.store.people.sessions_of("Uma") if each.hash == digest(one)]
    assert seen[0] < seen[1] == stage.clock()  # type: ignore[operator]
    stage.clock.advance(seconds=BROWSER_LIFE.total_seconds())
    assert await stage.store.people.person_of(one, fresh=True) is None
    assert await stage.store.people.sessions_of("Uma") == []


async def test_a_person_has_so_many_browsers_and_the_oldest_goes(stage: Stage) -> None:
    one, two = await two_browsers(stage)
    for _ in range(SESSIONS_A_PERSON - 1):
        stage.clock.advance(seconds=1)
        await stage.store.people.redeem("token")
    assert len(await stage.store.people.sessions_of("Uma")) == SESSIONS_A_PERSON
    assert [await stage.store.people.person_of(each, fresh=True) is None for each in (one, two)].count(True) == 1
