"""Invitations let one person in each, people who wait are let in by a button, and merges move all there is."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from runtime.contract import Person, Role
from runtime.domain.approvals import ApprovalState
from runtime.store.logins.rows import NewGrant
from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import DONE_BY, PERSON_ID
from runtime.store.people.merging import OF_PEOPLE, OF_VOICES
from runtime.store.protocol import Known, Paired, Unmoved
from runtime.store.protocol.people import Ending, Invitation, Joined, Merging, Unjoined
from runtime.store.schema import REVISION
from runtime.store.shelf.deleting import TAKEN_BACK_MICROS
from tests.contract.store.stage import UMA, WRITE, Stage
from tests.contract.store.test_pairings import DIRECT, SAM, ask, owner, shown

DAY = timedelta(days=1)
OTHERWISE = {
    ("absences", "person_id"): "whoever is known by another name too is here",
    ("identities", "identity"): "it is the account's own name",
    ("pairings", "identity"): "a stranger's, who is nobody yet",
    ("person_summaries", "person_id"): "it moves with the memories, where there is none of the other person",
    ("pairing_tries", "actor"): "wrong codes are forgiven",
    ("undos", "undone_by"): "a name, as the card tells it",
}
"""Columns with somebody in them that a merge leaves, and why."""


async def invited(stage: Stage, role: Role = Role.USER, within: timedelta = DAY) -> tuple[Invitation, str]:
    return await stage.store.people.make_invitation(role, within, actor="Ada")


async def people_named(stage: Stage, name: str) -> Known:
    found = await stage.store.people.person_named(name)
    assert found
    return found


async def test_an_invitation_lets_one_person_in(stage: Stage) -> None:
    made, token = await invited(stage, Role.OPERATOR)
    assert await stage.store.people.invitation(token) == made
    joined = await stage.store.people.join_by(token, "Zoe")
    assert isinstance(joined, Joined)
    assert (joined.person.name, joined.person.role) == ("Zoe", Role.OPERATOR)
    found = await stage.store.people.person_of(joined.token)
    assert found
    assert found[0] == joined.person
    assert await stage.store.people.join_by(token, "Yan") is Unjoined.USED
    assert await stage.store.people.person_named("Yan") is None
    (listed,) = await stage.store.people.invitations()
    assert (listed.ending, listed.joined) == (Ending.USED, "Zoe")
    assert token not in str(await stage.everything())
    assert (await stage.audit("person added"))[-1] == ("Ada", "Zoe", f"operator, by the invitation {made.id}")


async def test_of_many_who_use_an_invitation_at_once_one_joins(stage: Stage) -> None:
    _, token = await invited(stage)
    await stage.many()
    made = await asyncio.gather(*(stage.store.people.join_by(token, f"Guest of {n}") for n in "abcdef"))
    assert [isinstance(one, Joined) for one in made].count(True) == 1
    assert {one for one in made if isinstance(one, Unjoined)} == {Unjoined.USED}
    everybody = [known.person.name for known in await stage.store.people.people()]
    assert sum(name.startswith("Guest") for name in everybody) == 1


async def test_an_invitation_that_is_over_says_why(stage: Stage) -> None:
    made, token = await invited(stage)
    assert await stage.store.people.revoke_invitation(made.id, actor="Ada")
    assert not await stage.store.people.revoke_invitation(made.id, actor="Ada")
    assert await stage.store.people.join_by(token, "Zoe") is Unjoined.REVOKED
    _, late = await invited(stage)
    stage.clock.advance(hours=25)
    assert await stage.store.people.invitation(late) is Unjoined.EXPIRED
    assert await stage.store.people.join_by(late, "Zoe") is Unjoined.EXPIRED
    assert await stage.store.people.invitation("nothing like it") is Unjoined.UNKNOWN
    assert await stage.audit("invitation revoked") == [("Ada", made.id, "")]


@pytest.mark.parametrize("how", ["removed", "demoted", "merged"])
async def test_who_may_invite_nobody_any_more_leaves_no_way_back(stage: Stage, how: str) -> None:
    """An invitation is a way in, for a month: with the rights of whoever made it, it ends."""
    people = stage.store.people
    await people.add_person("Eve", Role.OWNER, [], actor="Ada")
    _, token = await people.make_invitation(Role.OPERATOR, DAY, actor="Eve")
    await people.rename("Eve", "Mallory", actor="Eve")
    if how == "removed":
        await people.remove("Mallory", actor="Ada")
    elif how == "demoted":
        await people.set_role("Mallory", Role.USER, actor="Ada")
    else:
        await people.merge("Mallory", "Uma", actor="Ada")
    assert await people.join_by(token, "Eve") is Unjoined.REVOKED


async def test_an_invitation_stays_while_whoever_made_it_is_an_owner(stage: Stage) -> None:
    people = stage.store.people
    await people.add_person("Eve", Role.OWNER, [], actor="Ada")
    made, _ = await people.make_invitation(Role.OPERATOR, DAY, actor="Eve")
    await people.set_role("Eve", Role.OWNER, actor="Ada")
    await people.rename("Eve", "Eva", actor="Ada")
    await people.merge("Eva", "Ada", actor="Ada")
    assert [(one.id, one.made_by, one.ending) for one in await people.invitations()] == [(made.id, "Ada", Ending.NONE)]


async def test_old_invitations_go_with_the_next_one(stage: Stage) -> None:
    await invited(stage)
    stage.clock.advance(hours=24 * 32)
    fresh, _ = await invited(stage)
    assert await stage.store.people.invitations() == [fresh]


async def test_whoever_joins_gets_nobody_elses_name(stage: Stage) -> None:
    for name, given, called in (("Ada", (), "Ada 2"), ("\u0410da", (), "Ada 3"), ("Cy", ("Cy",), "Cy 2")):
        _, token = await invited(stage)
        joined = await stage.store.people.join_by(token, name, given=given)
        assert isinstance(joined, Joined)
        assert joined.person.name.replace("\u0410", "A") == called


async def test_of_two_who_join_at_once_under_names_that_are_alike_one_gets_a_number(stage: Stage) -> None:
    await stage.many()
    for round_ in "BCDEF":
        tokens = [(await invited(stage))[1] for _ in range(4)]
        alike_ones = [f"{round_}op", f"{round_}\u043ep", f"{round_.lower()}op", f"{round_}OP"]
        made = await asyncio.gather(*(stage.store.people.join_by(*one) for one in zip(tokens, alike_ones, strict=True)))
        called = [one.person.name for one in made if isinstance(one, Joined)]
        assert sorted(name.partition(" ")[2] for name in called) == ["", "2", "3", "4"], called


async def test_nobody_joins_without_a_name_or_under_one_of_ours(stage: Stage) -> None:
    for name, called in ((":", "Guest"), ("settings", "Guest 2"), ("telegram:7", "telegram 7")):
        _, token = await invited(stage)
        joined = await stage.store.people.join_by(token, name)
        assert isinstance(joined, Joined)
        assert joined.person.name == called


async def test_somebody_who_waits_is_let_in_by_a_button(stage: Stage) -> None:
    await ask(stage)
    by = await owner(stage)
    made = await stage.store.people.let_in(SAM, "", Role.VIEWER, by, actor="Ada")
    assert isinstance(made, Paired)
    assert (made.person.role, made.identity, made.address) == (Role.VIEWER, SAM, DIRECT)
    assert await stage.store.people.identified(SAM) == made.person
    assert await stage.store.people.pairings() == []
    assert await stage.store.people.let_in(SAM, "", None, by, actor="Ada") is None


async def test_somebody_who_waits_is_let_in_as_a_person_we_know(stage: Stage) -> None:
    await ask(stage)
    made = await stage.store.people.let_in(SAM, "Uma", None, await owner(stage), actor="Ada")
    assert isinstance(made, Paired)
    assert await stage.store.people.identified(UMA) == made.person


async def test_somebody_who_waits_is_refused_by_a_button_and_told_so(stage: Stage) -> None:
    await ask(stage)
    by = await owner(stage)
    rooms = await stage.store.people.turn_away(SAM, by, actor="Ada")
    assert rooms
    assert DIRECT in rooms
    assert await stage.store.people.pairings() == []
    assert (await shown(stage))[-1].startswith("The people who run me decided")
    states = await stage.column("SELECT state FROM approvals WHERE run_id = :who", who=str(SAM))
    assert states == [ApprovalState.DENIED]
    before = len(await shown(stage))
    await ask(stage)
    assert len(await shown(stage)) == before, "nobody is asked about them for a day"
    assert await stage.store.people.turn_away(SAM, by, actor="Ada") is None


async def test_a_session_of_a_browser_is_ended_alone(stage: Stage) -> None:
    people, grant = stage.store.people, NewGrant("sealed", None, renews=True)
    uma = await people.identified(UMA)
    assert uma
    for token in ("one", "two"):
        await people.keep_session(token, grant, "https://id.example", UMA, uma)
    found = await people.sessions_of("Uma")
    assert len(found) == 2
    assert not await people.end_session("Ada", found[0].id, actor="Ada"), "it is not hers"
    assert await people.end_session("Uma", found[0].id, actor="Ada")
    assert [one.id for one in await people.sessions_of("Uma")] == [found[1].id]
    assert [await people.session(token) is None for token in ("one", "two")].count(True) == 1


def test_each_column_with_a_person_is_moved_by_a_merge_or_says_why_not() -> None:
    moved = {(column.table.name, column.name) for column in (*OF_PEOPLE, *OF_VOICES)}
    named = {
        (table, name)
        for table, columns in TEXT_COLUMNS.items()
        for name, kind in columns.items()
        if kind in (PERSON_ID, DONE_BY)
    }
    assert named - moved == set(OTHERWISE)


async def test_a_merge_is_told_first_and_changes_nothing_then(stage: Stage) -> None:
    await stage.park(WRITE, actor=UMA)
    before = await stage.everything()
    told = await stage.store.people.merging("Uma", "Vera")
    assert isinstance(told, Merging)
    assert (told.person.name, told.into.name) == ("Uma", "Vera")
    assert told.moves["accounts"] == len((await people_named(stage, "Uma")).identities)
    assert {"messages": 1, "runs": 1, "questions": 1}.items() <= told.moves.items()
    assert await stage.everything() == before
    assert await stage.store.people.merging("Uma", "Nobody") is Unmoved.NOBODY
    assert await stage.store.people.merging("Ada", "Uma") is Unmoved.LAST_OWNER


async def test_nobody_is_merged_with_themselves(stage: Stage) -> None:
    before = await stage.everything()
    assert await stage.store.people.merge("Uma", "Uma", actor="Ada") is Unmoved.THEMSELVES
    assert await stage.store.people.merging("Uma", "Uma") is Unmoved.THEMSELVES
    assert await stage.everything() == before


async def test_two_merges_of_the_same_people_at_once_leave_one_person(stage: Stage) -> None:
    await stage.many()
    people = stage.store.people
    made = await asyncio.gather(people.merge("Uma", "Vera", actor="Ada"), people.merge("Vera", "Uma", actor="Ada"))
    assert [isinstance(one, Person) for one in made].count(True) == 1
    assert Unmoved.NOBODY in made
    left = {known.person.name for known in await people.people()}
    assert len(left & {"Uma", "Vera"}) == 1


async def test_marks_ratings_and_deleted_conversations_of_the_page_are_the_other_persons(stage: Stage) -> None:
    people = stage.store.people
    uma, vera = [await people.person_named(name) for name in ("Uma", "Vera")]
    assert uma
    assert vera
    old, new = f"web:{uma.person.id}", f"web:{vera.person.id}"
    mark = "INSERT INTO room_marks VALUES (:owner, :address, :title, 0, 0, 0, 0)"
    for owner_of, room, title in ((old, "a", "kept"), (old, "b", "gone"), (new, "b", "stays")):
        await stage.write(mark, owner=owner_of, address=room, title=title)
    await stage.write("INSERT INTO deleted_rooms VALUES ('c', :who, 0, :due)", who=old, due=TAKEN_BACK_MICROS)
    rated = "INSERT INTO feedback VALUES ('d', :who, :value, :id, 'n', 'a', NULL, '', 0)"
    await stage.write(rated, who=old, value=1, id=uma.person.id)
    await stage.write(rated, who=new, value=-1, id=vera.person.id)
    assert isinstance(await people.merge("Uma", "Vera", actor="Ada"), Person)
    marks = await stage.rows("SELECT owner, address, title FROM room_marks ORDER BY address")
    assert [tuple(row) for row in marks] == [(new, "a", "kept"), (new, "b", "stays")]
    assert await stage.column("SELECT owner FROM deleted_rooms") == [new]
    assert [tuple(row) for row in await stage.rows("SELECT actor, value FROM feedback")] == [(new, -1)]


async def test_what_somebody_gave_for_good_is_given_by_the_other_person(stage: Stage) -> None:
    ada, vera = [await stage.store.people.person_named(name) for name in ("Ada", "Vera")]
    assert ada
    assert vera
    columns = "id, agent, tool, form, pattern, session, room, person, tainted, by, from_approval, until, created_at"
    values = "'g', '', 't', '', '{}', '', '', '', 0, :who, '', 9, 0"
    quoted = columns.replace(" by,", ' "by",')
    await stage.write(f"INSERT INTO grants ({quoted}) VALUES ({values})", who=ada.person.id)
    await stage.store.people.set_role("Vera", Role.OWNER, actor="Ada")
    assert isinstance(await stage.store.people.merge("Ada", "Vera", actor="Ada"), Person)
    assert await stage.column('SELECT "by" FROM grants') == [vera.person.id]


async def test_support_counts_rows_and_knows_nodes_and_names(stage: Stage) -> None:
    support = stage.store.support
    counts = await support.row_counts()
    assert counts["people"] == len(await stage.store.people.people())
    assert counts["invitations"] == 0
    assert await support.revision() == REVISION
    assert {"Ada", "Uma", str(UMA)} <= {*await support.names()}
    assert [one.state for one in await support.nodes()].count("live") == 1
