"""The rules about tool calls: those that read a shell line as a text, that veto everything, and that fit no call."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from bot.doctor.idle_rules import idle_rules
from bot.doctor.subject import Subject, fine, warning
from bot.settings.policy.rules import PolicyRule
from runtime.contract import Finding
from runtime.markup.moments import several
from runtime.policy.matchers import words_of

SHELL: Final = "shell"
COMMAND: Final = "command"
MEANT: Final = "git status"
"""The command in a fix where the text tells none."""
CONDITIONS: Final = ("tool", "effect", "agent", "room", "person", "arguments", "where")
"""Settings of a rule by which it matches a call."""


async def check_policy(subject: Subject) -> Sequence[Finding]:
    rules = subject.settings.policy
    found = [_by_text(number, rule) for number, rule in enumerate(rules, start=1) if _texts(rule)]
    found += [_of_everything(number) for number, rule in enumerate(rules, start=1) if _vetoes_everything(rule)]
    found += idle_rules(subject)
    return found or ([fine("policy.rules", several(len(rules), "rule"))] if rules else [])


def _vetoes_everything(rule: PolicyRule) -> bool:
    anything = PolicyRule(result="veto")
    return rule.result == anything.result and all(getattr(rule, name) == getattr(anything, name) for name in CONDITIONS)


def _of_everything(number: int) -> Finding:
    why = "No tool runs any more, also those that only read, and nothing lifts that."
    fix = (
        'name a tool, effect, room or person in it; or write result = "deny" and put it last, so that others may allow'
    )
    return warning(f"policy.veto.{number}", f"policy[{number}] vetoes every call", why, fix)


def _texts(rule: PolicyRule) -> Sequence[str]:
    """Texts with which a rule compares a shell line, which is none; nothing where it also reads its words."""
    where = rule.where.get(COMMAND)
    if not fnmatchcase(SHELL, rule.tool) or (where and where.commands):
        return ()
    given = [rule.arguments[COMMAND]] if COMMAND in rule.arguments else []
    return [*given, *(where.prefix or ()), *(where.glob or ()), *(where.regex or ())] if where else given


def _by_text(number: int, rule: PolicyRule) -> Finding:
    text = _texts(rule)[0]
    what = f'policy[{number}] reads shell lines by the text "{text}", and the result is {rule.result}'
    begin = text.lstrip("^").partition("*")[0].rstrip() or MEANT
    why = (
        f'The line "{begin} x; rm y" may fit that text too, and rm would run.'
        if rule.result == "allow"
        else "A second blank, `env` or `cd x;` before the command passes it."
    )
    fix = f'name the commands by their words: where = {{ command = {{ commands = ["{_named(begin)}"] }} }}'
    return warning(f"policy.{number}", what, why, f"{fix}, in place of it")


def _named(begin: str) -> str:
    try:
        return " ".join(words_of(begin))
    except ValueError:
        return MEANT
