"""Whose words may be worked on together, whoever is asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import PersonId, Role
from runtime.domain.joining import NOBODY, Rights, as_said, joining

STANDINGS = st.builds(
    Rights,
    st.sampled_from([PersonId("a"), PersonId("b"), PersonId("c"), None]),
    st.sampled_from([NOBODY, *Role]),
    st.booleans(),
)


def same(one: Rights) -> Rights:
    return one


@given(STANDINGS, st.lists(STANDINGS))
def test_nobody_gains_rights_and_order_is_kept(asker: Rights, waiting: list[Rights]) -> None:
    joined = joining(waiting, same, asker)
    assert joined == waiting[: len(joined)]
    others = [one for one in joined if one.person != asker.person]
    assert all(one.role >= asker.role and not one.is_program for one in others)
    rest = waiting[len(joined) :]
    assert not rest or not rest[0].may_join(asker)


@given(st.lists(STANDINGS, min_size=1))
def test_all_are_heard_in_few_runs_whoever_they_are(waiting: list[Rights]) -> None:
    """The first of each run is always in it, so that none waits forever."""
    runs = 0
    while waiting:
        share = joining(waiting, same, waiting[0])
        assert share
        waiting, runs = waiting[len(share) :], runs + 1
    assert runs <= 100


def test_people_alone_need_no_more_runs_than_there_are_roles() -> None:
    waiting = [Rights(PersonId(role.name), role) for role in [*reversed(Role), *Role] * 20]
    runs = 0
    while waiting:
        waiting, runs = waiting[len(joining(waiting, same, waiting[0])) :], runs + 1
    assert runs == len(Role)


TIMES = st.integers(0, 99).map(lambda number: f"17000000{number:02}.000003")
IDS = st.one_of(TIMES, st.sampled_from(["", "41", "1700000000.3", "$event:matrix", "-1002/17"]))


@given(st.lists(IDS))
def test_what_waits_is_heard_as_it_was_said_where_ids_tell_a_time_and_else_as_it_came(ids: list[str]) -> None:
    heard = as_said(ids, str)
    is_timed = [one.startswith("17000000") and len(one) == 17 for one in ids]
    assert [one for one, timed in zip(heard, is_timed, strict=True) if timed] == sorted(
        one for one, timed in zip(ids, is_timed, strict=True) if timed
    )
    assert [one for one, timed in zip(heard, is_timed, strict=True) if not timed] == [
        one for one, timed in zip(ids, is_timed, strict=True) if not timed
    ]
