"""The order of deciding: roles, vetoes, limits, modes, the first rule that matches, then grants and trust."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Effect, Role
from runtime.policy.explanation import explained
from runtime.policy.grants import GrantId
from runtime.policy.limits import Limit
from runtime.policy.modes import READ_ONLY_REASON, Mode
from runtime.policy.rules import DENYING, OWNERS_SAY, Ask, By, Facts, Policy, Rule, Ruled, Ruling, matches, rule
from runtime.policy.terms import Changes, Terms
from tests.unit.policy.test_rules import ASK, asks, rules

LIMIT = Limit(2, "hour")
WAIT = timedelta(minutes=3)
WRITE = replace(ASK, tool="write", effect=Effect.WRITE)
READ = replace(ASK, tool="look", effect=Effect.READ)
GRANT = GrantId("g1")
STRENGTH = {Ruling.ALLOW: 0, Ruling.ASK: 1, Ruling.DENY: 2, Ruling.VETO: 3}

limited = rules.flatmap(lambda one: st.sampled_from([one, replace(one, limit=LIMIT)]))
policies = st.lists(limited, max_size=5)
facts = st.builds(
    Facts,
    role=st.none() | st.sampled_from(Role),
    wait=st.none() | st.just(WAIT),
    mode=st.sampled_from(Mode),
    changed=st.booleans(),
    grant=st.none() | st.just(GRANT),
    trusted=st.sampled_from(["", "Ada"]),
)


def strength(ruled: Ruled) -> int:
    return STRENGTH[ruled.result]


# ----------------------------------------------------------------------------------------------------------- properties


@given(policies, st.integers(0, 5), asks, facts)
def test_nothing_lifts_a_veto(others: list[Rule], place: int, ask: Ask, known: Facts) -> None:
    veto = Rule(Ruling.VETO, ask.tool)
    ruled = rule(Policy([*others[:place], veto, *others[place:]]), ask, known)
    assert ruled.result is Ruling.VETO or (ruled.result is Ruling.DENY and ruled.by is By.ROLE)


@given(policies, asks, facts)
def test_a_deny_that_matches_first_is_never_lifted(others: list[Rule], ask: Ask, known: Facts) -> None:
    assert rule(Policy([Rule(Ruling.DENY, ask.tool), *others]), ask, known).result in DENYING


@given(policies, asks, facts)
def test_grants_and_trust_answer_questions_and_nothing_else(given_rules: list[Rule], ask: Ask, known: Facts) -> None:
    policy = Policy(given_rules)
    bare = rule(policy, ask, replace(known, grant=None, trusted=""))
    ruled = rule(policy, ask, known)
    assert ruled == bare or (bare.result is Ruling.ASK and ruled.result is Ruling.ALLOW and bare.by is not By.MODE)


@given(policies, asks, facts)
def test_a_lower_role_a_full_limit_and_a_changed_tool_only_tighten(
    given_rules: list[Rule], ask: Ask, known: Facts
) -> None:
    policy = Policy(given_rules)
    before = rule(policy, ask, known)
    for more in (replace(known, role=Role.VIEWER), replace(known, wait=WAIT), replace(known, changed=True)):
        assert strength(rule(policy, ask, more)) >= min(strength(before), STRENGTH[Ruling.DENY])


@given(policies, asks, facts, st.sampled_from([Mode.READ_ONLY, Mode.PLAN]))
def test_a_strict_mode_only_tightens_and_leaves_reads_alone(
    given_rules: list[Rule], ask: Ask, known: Facts, mode: Mode
) -> None:
    policy = Policy(given_rules)
    before, after = (rule(policy, ask, replace(known, mode=one)) for one in (Mode.NORMAL, mode))
    assert strength(after) >= strength(before)
    assert before == after or ask.effect is not Effect.READ


@given(policies, asks, facts)
def test_one_more_veto_changes_only_the_calls_it_matches(given_rules: list[Rule], ask: Ask, known: Facts) -> None:
    veto = Rule(Ruling.VETO, "shell", Effect.WRITE)
    before, after = rule(Policy(given_rules), ask, known), rule(Policy([*given_rules, veto]), ask, known)
    assert matches(veto, ask) or before == after
    assert strength(after) >= strength(before)


@given(policies, asks, facts)
def test_a_denial_says_why_in_a_sentence(given_rules: list[Rule], ask: Ask, known: Facts) -> None:
    ruled = rule(Policy(given_rules), ask, known)
    assert ruled.result not in DENYING or ruled.why.endswith(".")


# ----------------------------------------------------------------------------------------------------- stage after stage

ASKS = Rule(Ruling.ASK, name="asks", reason="Ann looks", limit=LIMIT)


@pytest.mark.parametrize(
    ("call", "given_rules", "known", "result", "by", "name"),
    [
        (READ, [Rule(Ruling.VETO)], Facts(role=Role.VIEWER), Ruling.DENY, By.ROLE, "viewer"),
        (WRITE, [ASKS, Rule(Ruling.VETO, name="v")], Facts(wait=WAIT), Ruling.VETO, By.RULE, "v"),
        (WRITE, [ASKS], Facts(wait=WAIT, mode=Mode.READ_ONLY), Ruling.DENY, By.LIMIT, "asks"),
        (WRITE, [Rule(Ruling.DENY, name="no")], Facts(mode=Mode.READ_ONLY), Ruling.DENY, By.MODE, "read-only"),
        (WRITE, [Rule(Ruling.DENY, name="no")], Facts(mode=Mode.PLAN), Ruling.DENY, By.RULE, "no"),
        (WRITE, [Rule(Ruling.ALLOW)], Facts(mode=Mode.PLAN, grant=GRANT), Ruling.ASK, By.MODE, "plan"),
        (READ, [Rule(Ruling.ALLOW)], Facts(changed=True), Ruling.ASK, By.FORM, ""),
        (WRITE, [ASKS], Facts(changed=True, grant=GRANT, trusted="Ada"), Ruling.ASK, By.FORM, ""),
        (WRITE, [ASKS], Facts(grant=GRANT, trusted="Ada"), Ruling.ALLOW, By.GRANT, "g1"),
        (WRITE, [ASKS], Facts(trusted="Ada"), Ruling.ALLOW, By.TRUST, "Ada"),
        (ASK, [ASKS], Facts(trusted="Ada"), Ruling.ASK, By.RULE, "asks"),
        (
            WRITE,
            [replace(ASKS, asking=Changes(quorum=2))],
            Facts(grant=GRANT, trusted="Ada"),
            Ruling.ASK,
            By.RULE,
            "asks",
        ),
        (READ, [], Facts(mode=Mode.READ_ONLY), Ruling.ALLOW, By.EFFECT, ""),
    ],
)
def test_the_stages_come_in_their_order(
    call: Ask, given_rules: list[Rule], known: Facts, result: Ruling, by: By, name: str
) -> None:
    ruled = rule(Policy(given_rules), call, known)
    assert (ruled.result, ruled.by, ruled.name) == (result, by, name)


@pytest.mark.parametrize("known", [Facts(), Facts(grant=GRANT, trusted="Ada"), Facts(mode=Mode.TRUSTED, trusted="Ada")])
@pytest.mark.parametrize("given_rules", [[], [Rule(Ruling.ALLOW, tainted=True)], [ASKS]])
def test_what_is_an_owners_to_say_asks_one_whatever_else_would_answer(given_rules: list[Rule], known: Facts) -> None:
    policy, call = Policy(given_rules, Terms(approvers=("Ann",))), replace(WRITE, tool=next(iter(OWNERS_SAY)))
    assert rule(policy, call, known).result is Ruling.ASK
    terms = policy.terms(call)
    assert (terms.approvers, terms.approvers_before, terms.grants) == (("owner",), (("Ann",),), False)
    assert rule(Policy([Rule(Ruling.DENY), *given_rules]), call, known).result is Ruling.DENY


def test_why_an_owner_is_asked_is_told() -> None:
    told = explained(Policy([Rule(Ruling.ALLOW)]), replace(WRITE, tool=next(iter(OWNERS_SAY))))
    assert (told.ruling, told.why) == (Ruling.ASK, "Each call of it is an owner's to say, whatever the rules allow.")


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (Facts(), "the rule 'no' does not allow it. Ask Ann."),
        (Facts(role=Role.VIEWER), "the person who asks for it may only read here."),
        (Facts(mode=Mode.READ_ONLY), READ_ONLY_REASON),
    ],
)
def test_a_denial_tells_its_rule_and_reason(known: Facts, why: str) -> None:
    assert rule(Policy([Rule(Ruling.DENY, name="no", reason="Ask Ann")]), WRITE, known).why == why


def test_a_full_limit_tells_when_there_is_room() -> None:
    ruled = rule(Policy([ASKS]), WRITE, Facts(wait=WAIT))
    assert ruled.why == (
        "the rule 'asks' allows 2 calls an hour of this tool for each person. There is room again in 3 minutes. Ann looks."
    )


def test_a_reason_goes_with_the_question() -> None:
    assert Policy([ASKS]).terms(WRITE).reason == "Ann looks"


def test_a_veto_behind_other_rules_keeps_its_tool_from_being_offered() -> None:
    veto = Rule(Ruling.VETO, "shell")
    assert Policy([Rule(Ruling.ALLOW), veto]).denies_all(ASK) == veto
