"""Whose words may be worked on together, whoever is asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import PersonId, Role
from runtime.domain.joining import NOBODY, Rights, joining

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
