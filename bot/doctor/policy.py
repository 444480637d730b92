"""The rules about tool calls: those that read a shell line as a text, which it is not, and those that fit no call."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from bot.doctor.idle_rules import idle_rules
from bot.doctor.subject import Subject, fine, warning
from bot.settings.settings import PolicyRule
from runtime.contract import Finding
from runtime.markup.moments import several
from runtime.policy.matchers import words_of

SHELL: Final = "shell"
COMMAND: Final = "command"
MEANT: Final = "git status"
"""The command in a fix where the glob tells none."""


async def check_policy(subject: Subject) -> Sequence[Finding]:
    rules = subject.settings.policy
    found = [_by_glob(number, rule) for number, rule in enumerate(rules, start=1) if _is_by_glob(rule)]
    found += idle_rules(subject)
    return found or ([fine("policy.rules", several(len(rules), "rule"))] if rules else [])


def _is_by_glob(rule: PolicyRule) -> bool:
    return fnmatchcase(SHELL, rule.tool) and COMMAND in rule.arguments and COMMAND not in rule.where


def _by_glob(number: int, rule: PolicyRule) -> Finding:
    glob = rule.arguments[COMMAND]
    what = f'policy[{number}] reads shell lines by the glob "{glob}", and the result is {rule.result}'
    begin = glob.partition("*")[0].rstrip() or MEANT
    why = (
        f'The line "{begin} x; rm y" may match that glob too, and rm would run.'
        if rule.result == "allow"
        else "A second blank, `env` or `cd x;` before the command passes that glob."
    )
    fix = f'name the commands by their words: where = {{ command = {{ commands = ["{_named(begin)}"] }} }}'
    return warning(f"policy.{number}", what, why, f"{fix}, in place of arguments")


def _named(begin: str) -> str:
    try:
        return " ".join(words_of(begin))
    except ValueError:
        return MEANT
