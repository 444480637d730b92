"""People whom a provider vouches for: made once by however many nodes, and their sessions, which end with them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from runtime.contract import Identity, Person, Role
from runtime.store.logins.rows import NewGrant
from runtime.store.people.sessions import SESSION_LIFE
from runtime.store.protocol.people import Admission, Unadmitted
from tests.contract.store.stage import Stage

EVE = Admission(identity=Identity("oidc:eve-1"), name="Eve", role=Role.USER, is_fresh=True)
GRANT = NewGrant("sealed", None, renews=True)


async def test_somebody_admitted_by_many_at_once_is_one_person(stage: Stage) -> None:
    await stage.many()
    found = await asyncio.gather(*(stage.store.people.admit(EVE) for _ in range(5)))
    (eve,) = {*found}
    assert isinstance(eve, Person)
    assert (eve.name, eve.role) == ("Eve", Role.USER)
    assert (await stage.audit("person added"))[-1:] == [("sign-in", "Eve", "user, as oidc:eve-1")]
    assert await stage.store.people.admit(replace(EVE, role=Role.OPERATOR)) == replace(eve, role=Role.OPERATOR)
    earlier = replace(EVE, role=Role.OWNER, owners=True, is_fresh=False)
    assert await stage.store.people.admit(earlier) == replace(eve, role=Role.OPERATOR)
    assert await stage.store.people.admit(replace(EVE, role=None)) is Unadmitted.NO_ROLE
    assert (await stage.audit("role set"))[-2:] == [("sign-in", "Eve", "operator"), ("sign-in", "Eve", "viewer")]
    assert len([row for row in await stage.audit("person added") if row[1] == "Eve"]) == 1


async def test_a_word_of_earlier_makes_nobody_and_takes_nobody_for_somebody_else(stage: Stage) -> None:
    people, earlier = stage.store.people, replace(EVE, is_fresh=False, email="email:eve@example.com")
    assert await people.admit(earlier) is Unadmitted.STALE
    await people.add_person("Eve L.", Role.USER, [Identity("email:eve@example.com")], actor="test")
    assert await people.admit(replace(earlier, create=False)) is Unadmitted.STALE
    assert await people.admit(replace(EVE, is_fresh=False, create=False)) is Unadmitted.UNKNOWN
    assert await people.identified(EVE.identity) is None


async def test_somebody_is_blocked_by_any_of_their_identities(stage: Stage) -> None:
    people, mail = stage.store.people, Identity("email:eve@example.com")
    await people.add_person("Eve L.", Role.USER, [mail, Identity("slack:T1/U1")], actor="test")
    asked = replace(EVE, email=mail, blocked=["slack:T1/U1"])
    assert await people.admit(asked) is Unadmitted.BLOCKED
    assert await people.identified(EVE.identity) is None, "and isn't given one more"
    assert isinstance(await people.admit(replace(asked, blocked=())), Person)
    assert await people.admit(asked) is Unadmitted.BLOCKED


async def test_the_last_owner_stays_one_whatever_the_groups_say(stage: Stage) -> None:
    await stage.store.people.add_person("Eve", Role.OWNER, [EVE.identity], actor="test")
    for known in await stage.store.people.people():
        if known.person.role is Role.OWNER and known.person.name != "Eve":
            await stage.store.people.set_role(known.person.name, Role.USER, actor="test")
    lowered = await stage.store.people.admit(replace(EVE, owners=True))
    assert isinstance(lowered, Person)
    assert lowered.role is Role.USER, "here; in the store they manage people"
    assert (await stage.store.people.identified(EVE.identity)) == replace(lowered, role=Role.OWNER)


async def test_a_session_is_of_one_browser_and_ends_with_its_person_or_its_time(stage: Stage) -> None:
    people = stage.store.people
    eve = await people.admit(EVE)
    assert isinstance(eve, Person)
    for token in ("one", "two", "three"):
        await people.keep_session(token, GRANT, "https://id.example.com", EVE.identity, eve)
    assert await people.session("one") == (EVE.identity, eve, f"web:{eve.id}")
    assert await stage.rows("SELECT count(*) FROM logins WHERE name LIKE '%one%'") == [(0,)]
    assert await stage.store.logins.logins() == [], "no sign-in of an agent"
    assert await people.drop_session("one", why="")
    assert not await people.drop_session("one", why="")
    assert await people.session("one") is None
    await people.sign_out("Eve", actor="Ada")
    assert await people.session("two") is None
    await people.keep_session("four", GRANT, "https://id.example.com", EVE.identity, eve)
    late = int((SESSION_LIFE + timedelta(seconds=1)).total_seconds() * 1_000_000)
    await stage.write("UPDATE logins SET signed_in_at = signed_in_at - :late", late=late)
    assert await people.session("four") is None
    await people.keep_session("five", GRANT, "https://id.example.com", EVE.identity, eve)
    assert await stage.rows("SELECT count(*) FROM logins") == [(1,)], "old ones go with a new one"
    await people.remove("Eve", actor="Ada")
    assert await stage.rows("SELECT count(*) FROM logins") == [(0,)]
