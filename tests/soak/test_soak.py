"""A short campaign as a sample of the long one, and the words in which it tells how it went."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import pytest

from tests.soak.__main__ import main
from tests.soak.plan import PLACES, AtMoment, AtPoint, Freeze, Leave, Plan, drawn

KILLS = 6


@dataclass(frozen=True)
class Ended:
    code: object
    stdout: str
    stderr: str


Soak = Callable[..., Ended]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Soak:
    """`python -m tests.soak` in this process, so that the program is forked from what is loaded already."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["tests.soak", *arguments])
        try:
            code: object = main()
        except SystemExit as left:
            code = left.code
        return Ended(code, *capsys.readouterr())

    return run


@pytest.mark.timeout(300)  # seconds; about 35 where nothing else runs
def test_a_short_campaign_keeps_every_promise(soak: Soak) -> None:
    ended = soak("--kills", str(KILLS), "--seed", "3")
    assert ended.code == 0, ended.stdout + ended.stderr
    told = dict(line.rsplit(maxsplit=1) for line in ended.stdout.splitlines() if line.startswith("  "))
    counted = {name.strip(): int(number) for name, number in told.items()}
    assert counted["kills"] == KILLS
    assert counted["messages with an answer of their own"] > 30
    assert counted["summaries"] > 0
    assert counted["answers by another model"] > 0
    assert (counted["lost"], counted["repeated"], counted["double executions"]) == (0, 0, 0)


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
def test_a_broken_promise_is_told_with_the_command_that_repeats_it(soak: Soak) -> None:
    ended = soak("--kills", "1", "--seed", "5", "--plant", "repeated-part")
    assert ended.code == 1
    assert "seed 5" in ended.stdout
    assert " is on screen " in ended.stdout  # how often, or as what, depends on where the kill meets it
    assert "Broken promise: visible part (docs/promises.md)." in ended.stdout
    assert "To repeat it: make soak SEED=5 KILLS=1 ARGS='--episode 1 --plant repeated-part'" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--kills", "0"], "--kills: invalid positive value: '0'"),
        (["--kills", "60", "--episode", "4"], "60 kills make the episodes 1 to 3"),
        (["--engine", "oracle"], "invalid choice: 'oracle'"),
    ],
)
def test_what_makes_no_campaign_is_refused(soak: Soak, arguments: list[str], told: str) -> None:
    ended = soak(*arguments)
    assert ended.code == 2
    assert told in ended.stderr


def beginning(plan: Plan) -> object:
    acts = {room: list(islice(acts, 30)) for room, acts in plan.rooms.items()}
    gusts = {place: list(islice(gusts, 30)) for place, gusts in plan.weather.items()}
    return acts, gusts, plan.ends, plan.busy, plan.unknown


def test_the_same_seed_gives_the_same_plan() -> None:
    assert beginning(drawn(7, 1, 25)) == beginning(drawn(7, 1, 25))
    assert beginning(drawn(7, 1, 25)) != beginning(drawn(7, 2, 25))
    assert beginning(drawn(7, 1, 25)) != beginning(drawn(8, 1, 25))


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_plan_has_every_place_and_as_many_kills_as_it_should(nodes: int) -> None:
    plan = drawn(7, 1, 25, nodes=nodes)
    assert plan.places == list(PLACES)
    ends = [end for of_one in plan.ends for end in of_one]
    assert len(plan.ends) == nodes
    assert sum(not isinstance(end, Leave) for end in ends) == 25


def test_many_plans_have_every_kind_of_end() -> None:
    ends = [end for number in range(20) for end in drawn(7, number, 25).ends[0]]
    assert {type(end) for end in ends} == {AtPoint, AtMoment, Leave, Freeze}
