"""Stages of a program's message: the same facts give the same list, which only grows at its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from runtime.domain.programs.followed import FollowState, OpenQuestion
from runtime.domain.programs.stages import PUSH_LONGEST_DELAY, PutQuestion, Story, push_delay, stages_of, untold

START = datetime(2026, 11, 1, tzinfo=UTC)
WAITING = Story(signal="waiting", taken_at=START)
RUNNING = replace(WAITING, signal="consumed", run="running", began_at=START + timedelta(seconds=1))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def asked(name: str, since: float, until: float | None = None) -> PutQuestion:
    return PutQuestion(OpenQuestion(name, "call", "shell", at(99)), at(since), None if until is None else at(until))


def states(story: Story) -> list[str]:
    return [one.state.value for one in stages_of(story)]


def test_a_number_names_a_stage_for_good() -> None:
    parked = replace(RUNNING, run="parked")
    grown = [
        WAITING,
        RUNNING,
        replace(parked, questions=[asked("a", 2), asked("b", 2)]),
        replace(parked, questions=[asked("a", 2, 3), asked("b", 2)]),
        replace(RUNNING, questions=[asked("a", 2, 3), asked("b", 2, 4)]),
        replace(parked, questions=[asked("a", 2, 3), asked("b", 2, 4), asked("c", 5)]),
        replace(RUNNING, run="done", ended_at=at(7), questions=[asked("a", 2, 3), asked("b", 2, 4), asked("c", 5, 6)]),
    ]
    whole = states(grown[-1])
    assert whole == ["queued", "working", "asking", "working", "asking", "working", "done"]
    assert [states(one) for one in grown] == [whole[:n] for n in (1, 2, 3, 3, 4, 5, 7)]
    assert [one.id for one in stages_of(grown[-1])[2].questions] == ["a", "b"]


def test_a_run_that_is_stopped_at_a_question_does_not_work_again_before_its_end() -> None:
    stopped = replace(RUNNING, run="stopped", ended_at=at(3), questions=[asked("a", 2, 3)])
    assert states(stopped) == ["queued", "working", "asking", "stopped"]


def test_a_message_that_joins_work_is_not_told_of_questions_that_were_settled_before() -> None:
    joined = replace(
        RUNNING, began_at=at(-9), questions=[asked("a", -8, -7), asked("b", -6, 2), asked("c", 3)], run="parked"
    )
    assert states(joined) == ["queued", "working", "asking", "working", "asking"]
    assert [one.questions[0].id for one in stages_of(joined) if one.questions] == ["b", "c"]


def test_the_end_is_told_even_where_the_clock_of_another_node_took_a_stage_back() -> None:
    ended = replace(RUNNING, run="done", ended_at=at(2.9), questions=[asked("a", 2, 3)])
    assert states(replace(ended, run="running", ended_at=None)) == ["queued", "working", "asking", "working"]
    assert [(number, one.state) for number, one in untold(ended, 4)] == [(3, FollowState.DONE)]
    assert [number for number, _ in untold(ended, 1)] == [1, 2, 3]
    assert untold(RUNNING, 2) == ()


def test_a_message_without_a_run_is_over_once_it_is_answered_or_refused() -> None:
    assert states(WAITING) == ["queued"]
    assert states(replace(WAITING, signal="consumed", answered=True)) == ["queued", "done"]
    assert stages_of(replace(WAITING, signal="stale"))[-1].state is FollowState.REFUSED


def test_waits_are_doubled_up_to_a_bound() -> None:
    assert [push_delay(n).total_seconds() for n in (1, 2, 3)] == [1, 2, 4]
    assert push_delay(99) == PUSH_LONGEST_DELAY
