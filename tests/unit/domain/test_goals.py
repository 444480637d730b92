"""Goals: contracts, and progress that follows from what was recorded alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.domain.goals.contract import Contract, GoalBounds, GoalError, GoalKind, contract_of, sprints_for
from runtime.domain.goals.harness import plan_of, plan_text
from runtime.domain.goals.progress import AGREE_ID, AGREED, CLOCK_ID, CRITERIA_ID, End, GoalStanding, goal_standing
from runtime.domain.goals.record import freezing_goal, next_call
from runtime.domain.goals.words import agreement, last_words
from runtime.domain.workflows.progress import Result

NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
LATER: Final = (NOW + timedelta(hours=4)).isoformat()
TEXT: Final = """\
Write a summary
of the offers.
verify: each has its price
- it is one page
constraints:
- no names
stop when: there are no offers
turns: 5
within: 2 hours
budget: $1.50"""


def test_a_contract_is_read_from_lines() -> None:
    found = contract_of(TEXT, GoalBounds(models=("opus", "haiku")))
    assert found == Contract(
        GoalKind.GOAL,
        "Write a summary\nof the offers.",
        ("each has its price", "it is one page"),
        ("no names",),
        "there are no offers",
        turns=5,
        minutes=120,
        budget_micros=1_500_000,
        judge="haiku",
    )
    assert Contract.from_json(json.loads(freezing_goal(found).arguments)["contract"]) == found


@pytest.mark.parametrize(
    "line", ["turns: 21", "turns: ∞", "turns: 0", "within: 5 hours", "within: 0", "budget: 0", "budget: inf"]
)
def test_an_end_that_never_comes_is_refused(line: str) -> None:
    with pytest.raises(GoalError, match="A goal"):
        contract_of(f"Say 7\n{line}", GoalBounds())


def test_another_model_judges_where_there_is_one() -> None:
    bounds = GoalBounds(models=("opus", "haiku"))
    assert [bounds.judge_for(own) for own in ("", "opus", "haiku")] == ["haiku", "haiku", "opus"]
    assert GoalBounds(models=("opus",)).judge_for("") == ""
    assert GoalBounds(judge="flash", models=("opus", "haiku")).judge_for("") == "flash"


verdicts = st.sampled_from(
    ["PASS", "FAIL\nmore", "", "PASSABLE", '{"verdict": "FAIL", "score": 5}', '{"verdict": "PASS"}']
)
pieces = st.lists(st.tuples(st.booleans(), verdicts), min_size=25, max_size=25)
contracts = st.builds(
    lambda turns, sprints, budget: (
        Contract(GoalKind.GOAL, "Say 7", ("it is 7",), turns=turns, budget_micros=budget)
        if not sprints
        else sprints_for("Say 7", (), GoalBounds(sprints=min(turns, 5)))
    ),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from([0, 100]),
)


@given(contracts, pieces)
def test_every_goal_ends_within_its_bounds_and_only_a_pass_is_accepted(
    contract: Contract, given_pieces: list[tuple[bool, str]]
) -> None:
    results: dict[str, Result] = {}
    at = goal_standing(contract, results, NOW)
    asked: list[str] = []
    while at.next:
        assert at.next.id not in results, "asked for twice"
        asked.append(at.next.id)
        results[at.next.id] = result_for(at, given_pieces)
        at = goal_standing(contract, results, NOW)
        assert goal_standing(contract, dict(reversed(results.items())), NOW) == at
    assert at.end is not None
    assert len(asked) <= 3 + 4 * contract.turns
    last = at.turns[-1] if at.turns else None
    assert (at.end is End.MET) == bool(last and last.verdict and last.verdict.passed)
    assert last_words(at).startswith("**Goal met**") == (at.end is End.MET)
    if at.end is not End.MET and at.best:
        assert "**not accepted:**" in last_words(at)


def result_for(at: GoalStanding, given_pieces: list[tuple[bool, str]]) -> Result:
    assert at.next
    match at.next.id:
        case id_ if id_ == CRITERIA_ID:
            return Result("- a\n- b\n- c")
        case id_ if id_ == AGREE_ID:
            return Result(AGREED)
        case id_ if id_ == CLOCK_ID:
            return Result(LATER)
        case _:
            failed, verdict = given_pieces[at.next.number]
            if at.next.piece == "spent":
                return Result(str(at.next.number * 15))
            return Result(verdict) if at.next.piece == "judge" else Result("7", failed and at.next.piece == "work")


def test_a_spent_budget_ends_it_and_each_piece_gets_what_is_left() -> None:
    contract = Contract(GoalKind.GOAL, "Say 7", ("it is 7",), budget_micros=1_000_000)
    done = {AGREE_ID: Result(AGREED), CLOCK_ID: Result(LATER), "goal-spent-1": Result("250000")}
    at = goal_standing(contract, done, NOW)
    call = next_call(at, NOW)
    assert call
    assert json.loads(call.arguments)["budget"] == 0.75
    assert goal_standing(contract, {**done, "goal-spent-1": Result("1000000")}, NOW).end is End.BUDGET


def test_a_task_in_sprints_speaks_of_no_goal() -> None:
    done = {CRITERIA_ID: Result("- a"), CLOCK_ID: Result(LATER), "goal-plan-1": Result("x"), "goal-work-1": Result("8")}
    done["goal-judge-1"] = Result("FAIL\ntoo much")
    at = goal_standing(sprints_for("Say 7", (), GoalBounds(sprints=1)), done, NOW)
    assert last_words(at) == (
        "I stopped, since its 1 sprint is over.\n\nBest result, of sprint 1, **not accepted:** too much\n\n8"
    )


def test_the_question_fits_a_card_whatever_the_goal() -> None:
    contract = Contract(
        GoalKind.GOAL, "x" * 2_000, tuple("y" * 299 + str(n) for n in range(10)), ("z" * 300,) * 9, "w" * 300
    )
    assert len(agreement(contract)) <= 1_000


PLAN: Final = """\
# Plan

Write a parser
for the logs.

## Background

They are in logs/.

## Verify

- its tests pass
- it reads all of logs/

## Keep to

- no new packages

## Stop when

there are no logs

## Bounds

- turns: 5
- within: 2 hours
- budget: $1.50

## Steps

- [x] look
1. write it
"""


def test_a_plan_is_read_from_its_file_and_written_such_that_it_reads_the_same() -> None:
    found = plan_of(PLAN, GoalBounds(models=("opus", "haiku")))
    assert found == Contract(
        GoalKind.HARNESS,
        "Write a parser\nfor the logs.\n\n## Background\n\nThey are in logs/.",
        ("its tests pass", "it reads all of logs/"),
        ("no new packages",),
        "there are no logs",
        turns=5,
        minutes=120,
        budget_micros=1_500_000,
        judge="haiku",
        steps=("look", "write it"),
    )
    assert plan_of(plan_text(found), GoalBounds(models=("opus", "haiku"))) == found
    with pytest.raises(GoalError, match="doesn't say what is to come of it"):
        plan_of("# Plan\n\n## Steps\n\n- look", GoalBounds())
