"""Settings of the leak guard: faults of own rules are told in words, and how strict it is may be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.guard.findings import Gate
from tests.unit.bot.settings.test_approvals import faults, read

NAMED = '[[guard_rules]]\nname = "x"\n'


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ('pattern = "(ab"', 'guard_rules[1].pattern ("x"): got text "(ab"'),
        ('pattern = "(ab"', "expected a regular expression of RE2; missing ): (ab."),
        ('pattern = "(?=a)b"', "invalid perl operator: (?=."),
        ('phrase = " "', "expected text with a word in it."),
        ("", 'guard_rules[1] ("x"): needs exactly one of words, phrase and pattern; it has none'),
        ('words = ["a"]\nphrase = "b"', "it has words and phrase (from "),
    ],
)
def test_a_faulty_rule_is_told_in_words(
    tmp_path: Path, rule: str, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told = "\n".join(faults(tmp_path, NAMED + rule))
    assert fault in told
    assert "got a table" not in told
    assert capfd.readouterr().err == ""


def test_how_strict_the_guard_is_may_be_read(tmp_path: Path) -> None:
    room = '[[rooms]]\naddress = "web:main/strict"\nsecrets = "enforce"\n'
    shown = read(tmp_path, f'[guard]\nsecrets = "warn"\n{room}').shown()
    assert shown["guard"]["secrets"] == "warn"
    assert shown["rooms"][0]["secrets"] == "enforce"
    assert 'guard.secrets: got text "block"' in "\n".join(faults(tmp_path, '[guard]\nsecrets = "block"\n'))


def test_rules_as_a_part_of_the_guard_are_told_of_their_own_table(tmp_path: Path) -> None:
    told = "\n".join(faults(tmp_path, '[[guard.rules]]\nname = "x"\nwords = ["a"]\n'))
    assert "guard.rules: there is no such setting" in told
    assert "did you mean guard_rules?" in told


def test_a_rule_tells_that_it_would_find_something_at_another_gate(tmp_path: Path) -> None:
    [rule] = read(tmp_path, f'{NAMED}words = ["bluebird"]\ngates = ["delivery"]\n').guard_rules
    assert rule.holds_elsewhere("a bluebird", Gate.MESSAGE_IN)
    assert not rule.holds_elsewhere("a bluebird", Gate.DELIVERY)
    assert not rule.holds_elsewhere("a robin", Gate.MESSAGE_IN)
