"""May this call run? The first rule that matches, else the effect."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Effect, Json
from runtime.policy.rules import DEFAULTS, DENYING, Ask, Policy, Rule, Ruling, matches

ADA = frozenset({"Ada", "slack:T1/U1", "telegram:1001"})
NOBODY: frozenset[str] = frozenset()
ASK = Ask("shell", Effect.DANGER, {"command": "uname -a"}, "main", "slack:T1/C1/t1", ADA)

words = st.sampled_from(["*", "shell", "sh*", "read_file", "?hell", "main", "slack:*", "slack:T1/C1/t1", "Ada", "A*"])
rules = st.builds(
    Rule,
    ruling=st.sampled_from(Ruling),
    tool=words,
    effect=st.none() | st.sampled_from(Effect),
    agent=words,
    room=words,
    person=words,
    arguments=st.dictionaries(st.sampled_from(["command", "path"]), st.sampled_from(["*", "uname*", "ls"]), max_size=2),
)
asks = st.builds(
    Ask,
    tool=st.sampled_from(["shell", "read_file"]),
    effect=st.sampled_from(Effect),
    arguments=st.dictionaries(
        st.sampled_from(["command", "path"]), st.sampled_from(["uname -a", "ls", 3, None, ["ls"]]), max_size=2
    ),
    agent=st.just("main"),
    room=st.just(ASK.room),
    names=st.sampled_from([NOBODY, ADA]),
)


@pytest.mark.parametrize(
    ("effect", "ruling"), [(Effect.READ, Ruling.ALLOW), (Effect.WRITE, Ruling.ASK), (Effect.DANGER, Ruling.ASK)]
)
def test_without_a_rule_the_effect_decides(effect: Effect, ruling: Ruling) -> None:
    assert Policy().ruling(replace(ASK, effect=effect)) is ruling


@pytest.mark.parametrize(
    ("rule", "does"),
    [
        (Rule(Ruling.ALLOW), True),
        (Rule(Ruling.ALLOW, tool="shell"), True),
        (Rule(Ruling.ALLOW, tool="SHELL"), False),
        (Rule(Ruling.ALLOW, tool="s*"), True),
        (Rule(Ruling.ALLOW, tool="read_*"), False),
        (Rule(Ruling.ALLOW, effect=Effect.DANGER), True),
        (Rule(Ruling.ALLOW, effect=Effect.READ), False),
        (Rule(Ruling.ALLOW, agent="main"), True),
        (Rule(Ruling.ALLOW, agent="other"), False),
        (Rule(Ruling.ALLOW, room="slack:T1/C1/*"), True),
        (Rule(Ruling.ALLOW, room="slack:T1/C1"), False),
        (Rule(Ruling.ALLOW, person="Ada"), True),
        (Rule(Ruling.ALLOW, person="telegram:*"), True),
        (Rule(Ruling.ALLOW, person="Bob"), False),
        (Rule(Ruling.ALLOW, arguments={"command": "uname*"}), True),
        (Rule(Ruling.ALLOW, arguments={"command": "ls*"}), False),
        (Rule(Ruling.ALLOW, arguments={"path": "*"}), False),
        (Rule(Ruling.ALLOW, tool="shell", person="Bob"), False),
    ],
)
def test_a_rule_matches_when_all_it_names_does(rule: Rule, does: bool) -> None:
    assert matches(rule, ASK) is does


def test_a_rule_for_a_person_does_not_match_a_call_that_nobody_asked_for() -> None:
    assert not matches(Rule(Ruling.ALLOW, person="A*"), replace(ASK, names=NOBODY))


@pytest.mark.parametrize(("ruling", "does"), [(Ruling.ALLOW, False), (Ruling.ASK, True), (Ruling.DENY, True)])
@pytest.mark.parametrize("name", ["Ada", "A", "A (slack:T1/U9)"])
def test_a_glob_allows_no_name_that_people_give_themselves(name: str, ruling: Ruling, does: bool) -> None:
    ask = replace(ASK, names=frozenset({name, "slack:T1/U9"}))
    assert matches(Rule(ruling, person="A*"), ask) is does
    assert matches(Rule(ruling, person="slack:T1/*"), ask)
    assert matches(Rule(ruling, person=name), ask)


@pytest.mark.parametrize(
    ("value", "glob", "does"),
    [
        ("uname", "uname", True),
        (3, "3", True),
        (True, "true", True),
        (None, "*", False),
        (["ls", "-l"], '["ls"*', True),
    ],
)
def test_an_argument_that_is_no_text_is_matched_as_its_json(value: Json, glob: str, does: bool) -> None:
    assert matches(Rule(Ruling.ALLOW, arguments={"x": glob}), replace(ASK, arguments={"x": value})) is does


@given(st.lists(rules, max_size=5), asks)
def test_what_is_denied_whatever_its_arguments_is_denied_with_any(given_rules: list[Rule], ask: Ask) -> None:
    policy = Policy(given_rules)
    others = [{}, {"command": "uname -a"}, {"path": "ls"}, {"command": "ls", "path": "uname"}]
    ruled = {policy.ruling(replace(ask, arguments=arguments)) for arguments in (ask.arguments, *others)}
    assert policy.denies_all(ask) is None or ruled <= DENYING


@given(st.lists(rules, max_size=5), asks)
def test_a_denial_of_all_arguments_is_never_missed(given_rules: list[Rule], ask: Ask) -> None:
    plain = [replace(rule, arguments={}) for rule in given_rules]
    assert (Policy(plain).denies_all(ask) is not None) is (Policy(plain).ruling(ask) in DENYING)


@given(st.lists(rules, max_size=5), asks)
def test_the_first_rule_that_matches_wins_unless_one_vetoes(given_rules: list[Rule], ask: Ask) -> None:
    fitting = [rule.ruling for rule in given_rules if matches(rule, ask)]
    first = Ruling.VETO if Ruling.VETO in fitting else next(iter(fitting), DEFAULTS[ask.effect])
    assert Policy(given_rules).ruling(ask) is first


@given(st.lists(rules, max_size=4), rules.filter(lambda rule: rule.ruling is not Ruling.VETO), asks)
def test_a_rule_behind_one_that_matches_changes_nothing(given_rules: list[Rule], last: Rule, ask: Ask) -> None:
    decided = [*given_rules, Rule(Ruling.DENY)]
    assert Policy([*decided, last]).ruling(ask) is Policy(decided).ruling(ask)


@given(st.text(max_size=20))
def test_a_deny_for_a_tool_holds_whatever_its_arguments_say(text: str) -> None:
    policy = Policy([Rule(Ruling.DENY, tool="shell"), Rule(Ruling.ALLOW)])
    assert policy.ruling(replace(ASK, arguments={"command": text})) is Ruling.DENY


@given(st.text(max_size=20), st.sampled_from(["uname*", "*", "ls"]))
def test_an_argument_that_is_text_is_matched_as_it_stands(text: str, glob: str) -> None:
    ask = replace(ASK, arguments={"command": text})
    assert matches(Rule(Ruling.ALLOW, arguments={"command": glob}), ask) is fnmatchcase(text, glob)


def test_the_version_changes_with_the_rules_and_only_with_them() -> None:
    one, other = Rule(Ruling.ALLOW, tool="shell"), Rule(Ruling.DENY, tool="shell")
    assert Policy([one]).version == Policy([one]).version
    assert len({Policy(given).version for given in ([], [one], [other], [one, other], [other, one])}) == 5
