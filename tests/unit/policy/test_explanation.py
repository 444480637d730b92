"""An explanation says what the policy rules, and which condition decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Effect
from runtime.policy.explanation import explained
from runtime.policy.matchers import Commands
from runtime.policy.rules import SHIPPED, Ask, Policy, Rule, Ruling

PUSHES = Commands((("git", "push"),))
POLICY = Policy(
    [
        Rule(Ruling.DENY, tool="shell", where={"command": PUSHES}, name="pushes"),
        Rule(Ruling.ALLOW, tool="shell", person="Ann"),
        Rule(Ruling.ALLOW, tool="write_file", arguments={"path": "notes/*"}),
        *SHIPPED,
    ]
)


def ask(tool: str = "shell", effect: Effect = Effect.DANGER, *names: str, **arguments: str) -> Ask:
    return Ask(tool, effect, arguments, "main", "web:main/room1", frozenset(names))


def test_the_rule_that_decides_is_named_with_its_conditions() -> None:
    found = explained(POLICY, ask(command="git push"))
    assert (found.ruling, found.why) == (Ruling.DENY, 'Rule 1 ("pushes") decides.')
    assert found.by is not None
    assert [(one.setting, one.wanted, one.got) for one in found.by.conditions] == [
        ("tool", "shell", "shell"),
        ("where.command", "git push", "git push"),
    ]


def test_a_rule_that_does_not_fit_is_told_by_its_first_condition_that_fails() -> None:
    found = explained(POLICY, ask("shell", Effect.DANGER, "Bob", command="ls"))
    assert [one.failed.setting for one in found.passed[:3] if one.failed] == ["where.command", "person", "tool"]


@pytest.mark.parametrize(
    ("effect", "why"),
    [
        (Effect.READ, "No rule matches, and a tool that only reads is allowed."),
        (Effect.WRITE, "No rule matches, and a tool that changes what people own is asked about."),
        (Effect.DANGER, "No rule matches, and a tool that may change anything is asked about."),
    ],
)
def test_without_a_rule_the_effect_decides(effect: Effect, why: str) -> None:
    found = explained(POLICY, ask("other", effect))
    assert (found.by, found.why) == (None, why)


def test_a_rule_that_only_arguments_keep_away_is_one_that_others_may_meet() -> None:
    found = explained(POLICY, ask("write_file", Effect.WRITE))
    assert [one.title for one in found.depending] == ["rule 3"]


def test_a_built_in_rule_has_no_number_of_the_settings() -> None:
    found = explained(POLICY, ask("set_zone", Effect.WRITE))
    assert (found.ruling, found.why) == (Ruling.ALLOW, "A built-in rule decides.")


NAMES = st.sampled_from(["*", "shell", "sh*", "web:*", "web:main/room1", "Ann", "telegram:*", "notes/*"])
RULES = st.lists(
    st.builds(
        Rule,
        st.sampled_from(Ruling),
        tool=NAMES,
        effect=st.none() | st.sampled_from(Effect),
        room=NAMES,
        person=NAMES,
        arguments=st.dictionaries(st.sampled_from(["path", "command"]), NAMES, max_size=1),
        where=st.dictionaries(st.just("command"), st.just(PUSHES), max_size=1),
    ),
    max_size=5,
)
ASKS = st.builds(
    Ask,
    st.sampled_from(["shell", "write_file", "set_zone"]),
    st.sampled_from(Effect),
    st.dictionaries(st.sampled_from(["path", "command"]), st.sampled_from(["git push", "ls", "notes/a"]), max_size=2),
    st.just("main"),
    st.sampled_from(["web:main/room1", "slack:work/C1"]),
    st.frozensets(st.sampled_from(["Ann", "telegram:1"])),
)


@given(RULES, ASKS)
def test_it_says_what_the_policy_does(rules: list[Rule], about: Ask) -> None:
    policy = Policy([*rules, *SHIPPED])
    found = explained(policy, about)
    assert found.ruling is policy.ruling(about)
    assert (found.by.rule if found.by else None) == policy.rule(about)
