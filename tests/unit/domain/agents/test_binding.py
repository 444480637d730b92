"""The agent that a message is for."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest

from runtime.domain.agents.binding import Asked, Binding, binding_of, bound, ties
from runtime.domain.agents.manifest import Manifest

ALICE = frozenset({"Alice", "slack:T1/U1"})
MESSAGE = Asked(room="slack:work/C-OPS1", names=ALICE, role="owner", account="slack:work", channel="slack")
BY_RANK = [
    Binding(agent="person-in-room", people=("Alice",), rooms=("slack:*",)),
    Binding(agent="room", rooms=("slack:work/C-OPS1",), accounts=("slack:*",)),
    Binding(agent="account", accounts=("slack:work",), people=("Alice",)),
    Binding(agent="channel", channels=("slack",), roles=("owner",)),
    Binding(agent="role", roles=("owner",)),
]


@pytest.mark.parametrize("first", range(len(BY_RANK)))
def test_the_most_specific_binding_wins_in_whatever_order_they_stand(first: int) -> None:
    for order in permutations(BY_RANK[first:]):
        assert bound(order, MESSAGE) == BY_RANK[first].agent


def test_main_answers_where_nobody_is_bound() -> None:
    assert bound([], MESSAGE) == "main"
    assert bound([Binding(agent="ops")], MESSAGE) == "main"
    assert bound([Binding(agent="ops", rooms=("slack:work/C2",))], MESSAGE) == "main"


def test_of_equal_rank_the_longer_beginning_wins() -> None:
    wide, narrow = Binding(agent="a", rooms=("slack:work/*",)), Binding(agent="b", rooms=("slack:work/C-OPS*",))
    assert bound([wide, narrow], MESSAGE) == "b"
    assert ties([wide, narrow]) == []


def test_all_conditions_of_a_binding_have_to_hold() -> None:
    binding = Binding(agent="ops", rooms=("slack:work/*",), roles=("user",))
    assert bound([binding], MESSAGE) == "main"


def test_a_name_that_looks_like_an_identity_does_not_make_one() -> None:
    impostor = Asked(room="web:main/lobby", names=frozenset({"slack:T1/U1 ", "web:7"}))
    assert bound([Binding(agent="ops", people=("slack:*",))], impostor) == "main"
    assert bound([Binding(agent="ops", people=("slack:*",))], MESSAGE) == "ops"


def test_equally_specific_bindings_are_named_together() -> None:
    one = Binding(agent="ops", rooms=("slack:work/C-*",))
    other = Binding(agent="dev", rooms=("slack:work/C-?",))
    assert [str(tie) for tie in ties([one, other])] == [
        "ops and dev are both bound to slack:work/C-* and slack:work/C-?"
    ]


def test_a_further_condition_tells_two_apart() -> None:
    one = Binding(agent="ops", rooms=("slack:work/*",))
    other = Binding(agent="dev", rooms=("slack:work/*",), roles=("owner",))
    assert ties([one, other]) == []
    assert bound([one, other], MESSAGE) == "dev"


def test_an_agents_manifest_gives_its_binding() -> None:
    manifest = Manifest(
        name="ops", rooms=("web:*",), people=("Bob",), roles=("user",), accounts=("web:main",), channels=("web",)
    )
    everywhere = Asked(room="web:main/x", names=frozenset({"Bob"}), role="user", account="web:main", channel="web")
    assert bound([binding_of(manifest)], everywhere) == "ops"


def test_without_a_tie_one_binding_wins_whatever_the_agents_are_called() -> None:
    rng = random.Random(18)
    checked = 0
    for _ in range(500):
        bindings = [_any(rng, str(number)) for number in range(3)]
        if ties(bindings):
            continue
        checked += 1
        renamed = [replace(one, agent=str(2 - int(one.agent))) for one in bindings]
        for room in ("web:main/a", "web:main/b", "web:side/a"):
            asked = Asked(room=room, names=frozenset({"Ann", "web:1"}), role="user")
            winner, other = bound(bindings, asked), bound(renamed, asked)
            assert winner == (other if other == "main" else str(2 - int(other)))
    assert checked > 100


def _any(rng: random.Random, agent: str) -> Binding:
    rooms = ["web:*", "web:main/*", "web:main/a*", "web:main/[ab]", "*", "web:main/a"]
    return Binding(
        agent=agent,
        rooms=tuple(rng.sample(rooms, rng.randint(0, 2))),
        people=tuple(rng.sample(["Ann", "web:*", "web:1"], rng.randint(0, 1))),
        roles=tuple(rng.sample(["user", "owner"], rng.randint(0, 1))),
    )
