"""Settings of rules: each condition becomes its matcher, and all faults are told at once with their fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.policy.rules import Where
from bot.settings.settings import load
from bot.wiring.live_rules import policy_of, rule_of
from runtime.contract import Effect, Json
from runtime.policy.limits import Limit
from runtime.policy.rules import Ask, Rule, Ruling
from tests.unit.bot.settings.test_approvals import faults, read


def rule(folder: Path, text: str) -> Rule:
    return rule_of(read(folder, f"[[policy]]\n{text}").policy[0])


@pytest.mark.parametrize(
    ("conditions", "fits", "other"),
    [
        ('commands = "git status"', "git status -s", "git push"),
        ('prefix = "SELECT "', "SELECT 1", "DROP x"),
        ('glob = ["*.md", "*.txt"]', "a.txt", "a.py"),
        ('regex = "^[a-z]+$"', "abc", "ab1"),
        ("min = 1", 1, 0),
        ("min = -1.5\nmax = 2", 2, 3),
        ('in = ["eu", 3, true]', "eu", "us"),
        ('host = "*.example.org"', "https://a.example.org/x", "https://evil.test"),
        ('inside = ["notes", "/srv"]', "notes/a", "secret/a"),
        ('prefix = "https://"\nhost = "example.org"', "https://example.org", "http://example.org"),
    ],
)
def test_each_condition_is_asked_of_its_argument(tmp_path: Path, conditions: str, fits: Json, other: Json) -> None:
    made = rule(tmp_path, f'result = "allow"\n[policy.where.x]\n{conditions}').where["x"]
    assert (made.surely(fits), made.surely(other), made.perhaps(other)) == (True, False, False)


def test_a_rule_has_its_limit_and_reason(tmp_path: Path) -> None:
    made = rule(tmp_path, 'result = "allow"\nlimit = "60/minute"\nreason = "The site is small."')
    assert (made.limit, made.reason) == (Limit(60, "minute"), "The site is small.")
    assert rule(tmp_path, 'result = "ask"').limit is None


def test_a_veto_behind_the_shipped_rules_and_those_before_it_holds(tmp_path: Path) -> None:
    text = '[[policy]]\nresult = "allow"\n[[policy]]\ntool = "shell"\nresult = "veto"\n'
    ask = Ask("shell", Effect.DANGER, {}, "main", "web:main/r1", frozenset())
    assert policy_of(read(tmp_path, text)).ruling(ask) is Ruling.VETO


def test_settings_are_written_as_they_are_read(tmp_path: Path) -> None:
    dumped = Where.model_validate({"in": ["eu"], "host": "example.org"}).model_dump(exclude_none=True)
    assert dumped == {"in": ("eu",), "host": ("example.org",)}


BAD = """
[[policy]]
result = "allow"
limit = "60/week"
[policy.where]
url = { host = "https://example.org/x" }
amount = { min = 5, max = 2 }
q = { regex = "(a" }
back = { regex = '(a)\\1' }
r = { regexp = "a" }
s = {}
p = { inside = "../x" }
t = { in = [[1]] }
[[policy]]
name = "no"
result = "deny"
limit = "5/hour"
[[policy]]
result = "never"
"""


def test_everything_that_is_wrong_is_told_at_once_with_its_fix(tmp_path: Path) -> None:
    told = "\n".join(faults(tmp_path, BAD))
    for fault in (
        'policy[1].limit: got text "60/week"',
        "units are second, minute, hour, day",
        'policy[1].where.url.host[1]: got text "https://example.org/x"',
        'expected a host without scheme, port or path, such as "example.org"',
        "policy[1].where.amount.min: 5 is above max, which is 2, so no number fits; lower it or raise max",
        'policy[1].where.q.regex[1]: got text "(a"',
        "missing ), unterminated subpattern",
        "without references to groups, or octal codes, which may take forever",
        "policy[1].where.r.regexp: there is no such setting",
        "policy[1].where.s: has no condition; add one of commands, prefix, glob, regex, min, max, in, host, inside",
        'policy[1].where.p.inside[1]: got text "../x"',
        "policy[1].where.t.in: got a list of 1",
        'policy[2].limit ("no"): means nothing on a rule whose result is "deny"; remove it',
        'policy[3].result: got text "never"',
    ):
        assert fault in told


def test_settings_shown_can_be_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_text('[[policy]]\nresult = "ask"\nwhere = { x = { in = ["a"], max = 3 } }\n', encoding="utf-8")
    settings = load(file, environ={})
    assert (
        type(settings).model_validate(settings.model_dump(exclude_unset=True), context={"folder": tmp_path}).policy
        == settings.policy
    )
