"""The laboratory's plan and its table of sums: whole, the same each time, and going on where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lab.campaign import LONG_QUOTA, QUOTA, SHORT_SEEDS, Batch, Campaign, Results, batches, each_kind, planted
from tests.lab.plants import CONTROL, FINDS, PLANTS
from tests.lab.points import POINTS
from tests.lab.sums import BOUNDS, table
from tests.lab.trials import HOWS, OUTAGES, SLOWS, STATES, TARGETS

SEEDS: Final = range(1, 1 + SHORT_SEEDS)
ROW: Final[Mapping[str, Any]] = {
    "key": "1.0 freeze sent 3.0",
    "sort": "freeze",
    "kind": "freeze sent 3.0",
    "figures": {"thawed": 3.5},
    "lines": [{"room": "a", "token": "tok1", "kind": "idle", "took": 2.0, "within": 7.0}],
    "broken": [],
    "engine": "postgres",
    "nodes": 2,
    "platform": "telegram",
    "lease": 1.0,
    "plant": "",
    "load": 0.1,
    "lag": 0.0,
}


def test_the_short_plan_has_each_kind_of_fault_five_times() -> None:
    done = Counter(
        kind.words[0] if kind.sort == "freeze" else kind.words[-1] if kind.sort == "slow" else str(kind)
        for seed in SEEDS
        for batch in each_kind(seed)
        for kind in batch.trials
    )
    kinds = [
        *POINTS,
        *SLOWS,
        "kill",
        *(f"partition {target} {how}" for target in TARGETS for how in HOWS),
        *(f"outage {how}" for how in (*OUTAGES, "unlink")),
        *(f"leave {state}" for state in STATES),
    ]
    assert {kind: done[kind] for kind in kinds if done[kind] < 5} == {}


def test_the_short_plan_has_every_length_and_both_numbers_of_nodes() -> None:
    made = [batch for seed in SEEDS for batch in each_kind(seed)]
    assert {batch.nodes for batch in made if batch.engine == "postgres"} == {2, 3}
    assert {kind.words[1] for batch in made for kind in batch.trials if kind.sort == "freeze"} == {"0.5", "1.2", "3.0"}


@pytest.mark.parametrize("quota", [QUOTA, LONG_QUOTA])
def test_the_whole_plan_has_what_is_wanted_and_is_the_same_each_time(quota: Mapping[str, int]) -> None:
    made = batches(7, quota, 1.0)
    assert Counter(kind.sort for batch in made for kind in batch.trials) == quota
    assert made == batches(7, quota, 1.0)
    keys = [batch.key(number) for batch in made for number in range(len(batch.trials))]
    assert len(keys) == len(set(keys))


def test_every_bug_has_faults_that_bring_it_to_light() -> None:
    assert set(FINDS) == set(PLANTS) - {"", "stuck"}  # the watchdog has a test of its own
    assert all(batch.trials for batch in planted())


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "lab.jsonl"
    (batch,) = [one for one in planted() if one.plant == "dropped"]
    plan = [Batch(batch.name, batch.engine, batch.nodes, batch.platform, batch.lease, batch.trials)]
    assert Campaign(plan, Results(path), tell=print).left == 3
    Results(path).add({**ROW, "key": plan[0].key(1), "broken": ["lost: one"]})
    assert Campaign(plan, Results(path), tell=print).left == 2
    assert Campaign(plan, Results(path), tell=print, again=lambda row: bool(row["broken"])).left == 3
    Results(path).add({**ROW, "key": plan[0].key(1)})
    assert Campaign(plan, Results(path), tell=print, again=lambda row: bool(row["broken"])).left == 2


def test_the_table_says_which_bounds_hold() -> None:
    words, holds = table([ROW])
    assert holds
    assert "| a thawed node serves again | 3 s beyond the lease | 1 | 2.5 | 2.5 | 2.5 | kept |" in words
    words, holds = table([{**ROW, "figures": {"thawed": 4.5}}])
    assert not holds
    assert "**broken**" in words


@pytest.mark.parametrize("told", ["lost: tok1 in a was never answered", "hung: no sign of node0 among the living"])
def test_one_broken_promise_breaks_the_table(told: str) -> None:
    words, holds = table([ROW, {**ROW, "key": "1.1 kill", "broken": [told]}])
    assert not holds
    assert told in words


def test_where_the_machine_stood_still_times_count_for_nothing_and_promises_do() -> None:
    late = {**ROW, "lag": 0.6, "figures": {"thawed": 9.0}, "broken": ["slow answer: tok1 (idle) took 9.0 s of 7"]}
    assert table([late])[1]
    assert not table([{**late, "lag": 0.1}])[1]
    assert not table([{**late, "broken": ["repeated: tok1 in a was answered 2 times without a mark"]}])[1]


def test_a_bug_that_was_not_found_breaks_the_table() -> None:
    planted_row = {**ROW, "plant": "stale", "broken": ["repeated: tok1"]}
    assert table([ROW, planted_row])[1]
    words, holds = table([ROW, {**planted_row, "broken": []}])
    assert not holds
    assert "0 of 1; not stale" in words
    assert not table([ROW, {**planted_row, "broken": ["hung: of something else"]}])[1]


def test_each_fault_by_which_a_bug_is_found_is_done_without_a_bug_too() -> None:
    """What would break then would say nothing of the bug."""
    plain = [batch for batch in planted() if not batch.plant]
    for batch in planted():
        same = [
            one for one in plain if (one.engine, one.nodes, one.platform) == (batch.engine, batch.nodes, batch.platform)
        ]
        assert set(batch.trials) <= {kind for one in same for kind in one.trials}
    assert all(batch.name.startswith(CONTROL) for batch in plain)
    words, holds = table(
        [{**ROW, "plant": "stale", "broken": ["repeated: tok1"]}, {**ROW, "key": f"{CONTROL}/0.0 kill"}]
    )
    assert holds
    assert "Without a bug, 0 of the 1 faults" in words


def test_of_a_process_that_is_alone_the_time_in_which_it_stood_still_counts_for_nothing() -> None:
    alone = {**ROW, "nodes": 1, "lines": [{**ROW["lines"][0], "took": 9.0}]}
    assert table([alone])[1]
    assert not table([{**alone, "nodes": 2}])[1]


def test_each_bound_has_a_figure_of_its_own() -> None:
    assert len({bound.name for bound in BOUNDS}) == len(BOUNDS)
