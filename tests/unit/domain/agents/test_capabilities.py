"""A child never has more than its parent."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from runtime.contract import Effect
from runtime.domain.agents.capabilities import Capabilities, below, covers, fits, of_manifest
from runtime.domain.agents.manifest import Manifest

KNOWN = frozenset({"read_file", "write_file", "http_get", "shell", "tickets_open", "tickets_close"})
MAIN = Capabilities(
    known=KNOWN, tools=("read_*", "http_get", "tickets_*"), effects=Effect.WRITE, depth=2, money=5_000_000
)
PLACES = [
    "slack:work/C1",
    "slack:work/C2",
    "slack:home/C1",
    "web:main/lobby",
    "api.example.org",
    "example.org",
    "a/b.md",
]
GLOBS = [
    "*",
    "slack:*",
    "slack:work/*",
    "slack:work/C[12]",
    "slack:work/C?",
    "*.example.org",
    "?*",
    "[!a]*",
    "web:main/lobby",
]
TOOLS = ["*", "read_*", "*_file", "http_get", "shell", "tickets_*", "[!s]*", "s?ell", "tickets_[oc]*", "new_*"]
HOSTILE_SPAWNS = 10_000


@pytest.mark.parametrize(
    ("wider", "words"),
    [
        ({"tools": ("shell",)}, "research may use shell, which main may not"),
        ({"tools": ("*",)}, "research may use shell, which main may not"),
        ({"effects": Effect.DANGER}, "research may do dangerous things, which main may not"),
        ({"egress": ("*",)}, "research may reach *, which main may not"),
        ({"rooms": ("slack:*",)}, "research may work in slack:*, which main may not"),
        ({"workspace": ("notes/*",)}, "research may open the files notes/*, which main may not"),
        ({"memory": ("room",)}, "research may read the memory of room, which main may not"),
        ({"depth": 3}, "research may hand work on 3 levels deep, which main may not"),
        ({"money": None}, "research may spend without a limit, which main may not"),
        ({"money": 6_000_000}, "research may spend $6.00, which main may not"),
    ],
)
def test_what_is_too_much_is_told_in_words(wider: dict[str, Any], words: str) -> None:
    narrow = replace(MAIN, egress=("*.example.org",), rooms=("slack:work/*",), workspace=("a.md",), memory=("agent",))
    excess = covers(narrow, replace(narrow, agent="research", **wider))
    assert str(excess) == words


def test_what_a_parent_has_covers_the_same_again() -> None:
    assert covers(MAIN, replace(MAIN, agent="research")) is None


def test_the_last_level_makes_no_child() -> None:
    last = replace(MAIN, depth=0)
    assert str(covers(below(last), replace(last, agent="research"))) == "main may not hand its work on any deeper"


def test_a_tool_that_comes_later_is_asked_about_again() -> None:
    parent = replace(MAIN, tools=("read_*", "http_get"))
    child = replace(MAIN, agent="research", tools=("*_file", "http_get"), known=frozenset({"read_file"}))
    assert covers(replace(parent, known=frozenset({"read_file"})), child) is None
    excess = covers(replace(parent, known=KNOWN), replace(child, known=KNOWN))
    assert excess is not None
    assert excess.what == "write_file"


def test_an_agents_rooms_do_not_bound_what_it_may_hand_on() -> None:
    ops = of_manifest(Manifest(name="ops", rooms=("slack:work/C-OPS*",), delegates_to=("research",)), KNOWN)
    assert covers(ops, of_manifest(Manifest(name="research"), KNOWN)) is None


@pytest.mark.parametrize(
    ("spawned", "seed"), [(HOSTILE_SPAWNS // 10, 1), pytest.param(HOSTILE_SPAWNS, 18, marks=pytest.mark.soak)]
)
def test_hostile_spawns_along_chains_widen_nothing(spawned: int, seed: int) -> None:
    rng = random.Random(seed)
    widened: list[str] = []
    accepted = spawns = 0
    while spawns < spawned:
        root = _any(rng, "main", rng.randint(0, 5))
        at = root
        for number in range(rng.randint(1, 8)):
            wish = _hostile(rng, at, f"child{number}")
            spawns += 1
            if covers(below(at), wish) is None:
                widened += [f"{root} -> {wish}: {what}" for what in _more(root, wish)]
                accepted, at = accepted + 1, wish
    assert widened == []
    assert accepted > spawned / 10  # it is no wall that refuses all


def _some(rng: random.Random, among: list[str]) -> tuple[str, ...]:
    return tuple(rng.sample(among, rng.randint(0, 3)))


def _any(rng: random.Random, name: str, depth: int) -> Capabilities:
    return Capabilities(
        agent=name,
        tools=_some(rng, TOOLS),
        known=frozenset(rng.sample(sorted(KNOWN), rng.randint(0, 6))) | {"new_tool"},
        effects=rng.choice(list(Effect)),
        egress=_some(rng, GLOBS),
        rooms=_some(rng, GLOBS),
        workspace=_some(rng, GLOBS),
        memory=_some(rng, GLOBS),
        depth=depth,
        money=rng.choice([None, 0, 1, 10, 5_000_000]),
    )


def _hostile(rng: random.Random, parent: Capabilities, name: str) -> Capabilities:
    """As its parent, with some things taken from another wish: mostly the ones that go unnoticed."""
    wish, other = replace(parent, agent=name, depth=parent.depth - 1), _any(rng, name, rng.randint(-1, 6))
    for field in rng.sample(
        ["tools", "effects", "egress", "rooms", "workspace", "memory", "depth", "money"], rng.randint(0, 2)
    ):
        wish = replace(wish, **{field: getattr(other, field)})
    return wish


def _more(root: Capabilities, child: Capabilities) -> list[str]:
    """Things that `child` may do and `root` may not, tried one by one."""
    found = [name for name in root.known | child.known if child.may_use(name) and not root.may_use(name)]
    for field in ("egress", "rooms", "workspace", "memory"):
        wanted, allowed = getattr(child, field), getattr(root, field)
        found += [f"{field} {place}" for place in PLACES if fits(place, wanted) and not fits(place, allowed)]
    order = list(Effect)
    found += ["effects"] if order.index(child.effects) > order.index(root.effects) else []
    found += ["depth"] if child.depth >= root.depth else []
    poorer = root.money is not None and (child.money is None or child.money > root.money)
    return [*found, *(["money"] if poorer else [])]
