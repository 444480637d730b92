"""Terms of a question: what a rule changes, what is kept with the question, and when people are reminded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Effect
from runtime.policy.rules import Ask, Policy, Rule, Ruling
from runtime.policy.terms import Changes, Terms, calls, reminders

HOUR = timedelta(hours=1)
ASK = Ask("shell", Effect.DANGER, {"command": "git push"}, "main", "slack:work/C1", frozenset({"Bob"}))
words = st.lists(st.text(max_size=12), max_size=3).map(tuple)
durations = st.integers(1, 10**6).map(lambda seconds: timedelta(seconds=seconds))
terms = st.builds(
    Terms,
    rule=st.text(max_size=20),
    to=words,
    approvers=words,
    quorum=st.integers(1, 20),
    four_eyes=st.booleans(),
    reason_required=st.booleans(),
    expires=st.none() | durations,
    remind=st.lists(durations, max_size=3).map(tuple),
    escalate=st.none() | durations,
    escalate_to=words,
)


@given(terms)
def test_terms_are_read_as_they_were_written(some: Terms) -> None:
    assert Terms.from_json(some.to_json()) == some


def test_a_question_from_before_there_were_terms_has_the_plain_ones() -> None:
    assert Terms.from_json("") == Terms()


def test_what_a_newer_version_wrote_beside_is_left_alone() -> None:
    assert Terms.from_json('{"quorum": 2, "moon": "full"}') == Terms(quorum=2)


def test_a_rule_changes_what_it_names_and_nothing_else() -> None:
    rule = Rule(Ruling.ASK, "shell", name="pushes", asking=Changes(quorum=2, to=("room",)))
    everywhere = Terms(remind=(HOUR,), escalate_to=("slack:work/C2",))
    policy = Policy([rule], everywhere)
    assert policy.terms(ASK) == replace(everywhere, rule="pushes", quorum=2, to=("room",))
    assert policy.terms(replace(ASK, tool="write_file")) == everywhere


def test_the_version_of_a_policy_changes_with_its_terms() -> None:
    assert Policy([], Terms(quorum=2)).version != Policy([]).version


def test_without_hours_people_are_reminded_once_at_half_the_time() -> None:
    assert reminders(Terms(), 12 * HOUR) == [6 * HOUR]


def test_reminders_come_in_order_and_none_after_the_end() -> None:
    assert reminders(Terms(remind=(5 * HOUR, 2 * HOUR, 12 * HOUR)), 12 * HOUR) == [2 * HOUR, 5 * HOUR]


def test_calls_are_reminders_and_one_escalation_in_order() -> None:
    hour = timedelta(hours=1)
    terms = Terms(remind=(hour, 9 * hour), escalate=4 * hour, escalate_to=("dm",))
    assert calls(terms, 12 * hour) == [(hour, False), (4 * hour, True), (9 * hour, False)]
    assert calls(terms, 4 * hour) == [(hour, False)]
    assert calls(Terms(escalate=4 * hour), 12 * hour) == [(6 * hour, False)]
