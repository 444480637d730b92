"""Rules about shell lines in the settings: read by words, and told by doctor where they go by a glob."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.policy import check_policy
from bot.doctor.subject import Subject
from bot.settings.settings import load
from bot.wiring.live_rules import policy_of
from runtime.contract import Effect, Finding, Level
from runtime.errors import ConfigError
from runtime.policy.rules import Ask
from tests.unit.bot.settings.test_settings import read

EXAMPLE = Path(__file__).parents[4] / "config" / "example.toml"


async def found(folder: Path, *rules: str) -> list[Finding]:
    settings = read(folder, "".join(f"[[policy]]\n{rule}\n" for rule in rules))
    return list(await check_policy(Subject(settings, None, None, None)))


@pytest.mark.parametrize("tool", ['tool = "shell"\n', 'tool = "sh*"\n', ""])
async def test_an_allow_by_glob_on_a_shell_line_is_told_with_its_fix(tmp_path: Path, tool: str) -> None:
    [one] = await found(tmp_path, f'{tool}arguments = {{ command = "ls *" }}\nresult = "allow"')
    assert (one.level, one.id) == (Level.WARNING, "policy.1")
    assert '"ls *"' in one.what
    assert 'where = { command = { commands = ["ls"] } }' in one.fix


async def test_a_deny_by_glob_is_told_too(tmp_path: Path) -> None:
    rules = ['tool = "http_get"\nresult = "ask"', 'arguments = { command = "git push*" }\nresult = "deny"']
    [one] = await found(tmp_path, *rules)
    assert (one.id, 'commands = ["git push"]' in one.fix, "env" in one.why) == ("policy.2", True, True)


async def test_a_fix_names_a_command_also_where_the_glob_names_none(tmp_path: Path) -> None:
    [one] = await found(tmp_path, 'arguments = { command = "*" }\nresult = "allow"')
    assert 'commands = ["git status"]' in one.fix


@pytest.mark.parametrize(
    "rule",
    [
        'tool = "shell"\nwhere = { command = { commands = ["ls"] } }\nresult = "allow"',
        'tool = "write_file"\narguments = { path = "*" }\nresult = "allow"',
        'tool = "shell"\nresult = "allow"',
    ],
)
async def test_other_rules_are_fine(tmp_path: Path, rule: str) -> None:
    assert [one.level for one in await found(tmp_path, rule)] == [Level.OK]


@pytest.mark.parametrize("condition", ['prefix = "ls "', 'glob = "ls *"', 'regex = "^ls"'])
async def test_a_condition_on_the_text_of_a_shell_line_is_told_like_a_glob(tmp_path: Path, condition: str) -> None:
    [one] = await found(tmp_path, f'tool = "shell"\nwhere = {{ command = {{ {condition} }} }}\nresult = "allow"')
    assert (one.id, 'commands = ["ls"]' in one.fix) == ("policy.1", True)


async def test_a_veto_of_everything_is_told(tmp_path: Path) -> None:
    [one] = await found(tmp_path, 'result = "veto"\nname = "never"\nreason = "No."')
    assert (one.id, one.what) == ("policy.veto.1", "policy[1] vetoes every call")
    assert [one.level for one in await found(tmp_path, 'effect = "danger"\nresult = "veto"')] == [Level.OK]


async def test_where_there_is_no_rule_nothing_is_told(tmp_path: Path) -> None:
    assert await found(tmp_path) == []


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("git push", "deny"),
        ("git  push", "deny"),
        ("env git push", "deny"),
        ("cd x; git push", "deny"),
        ("ls x", "allow"),
        ("ls x; rm", "ask"),
        ("git status", "allow"),
    ],
)
def test_the_rules_of_the_example_hold(command: str, result: str) -> None:
    policy = policy_of(load(EXAMPLE, environ={}))
    ask = Ask("shell", Effect.DANGER, {"command": command}, "main", "web:main/a", frozenset({"owner"}))
    assert policy.ruling(ask) == result


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ('{ command = { commands = ["ls; rm"] } }', "git status"),
        ('{ command = { commands = [""] } }', "git status"),
        ("{ command = { commands = [] } }", "commands"),
        ("{ command = {} }", "commands"),
        ("{ command = { words = [] } }", "words"),
        ('{ command = "ls" }', "where.command"),
    ],
)
def test_a_faulty_condition_is_named(tmp_path: Path, where: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, f'[[policy]]\nwhere = {where}\nresult = "allow"\n')
    assert "policy[1].where" in str(raised.value)
    assert words in str(raised.value)


def test_the_version_of_the_policy_changes_with_the_words(tmp_path: Path) -> None:
    def version(words: str) -> str:
        rule = f'[[policy]]\nwhere = {{ command = {{ commands = ["{words}"] }} }}\nresult = "allow"\n'
        return policy_of(read(tmp_path, rule)).version

    assert version("ls") != version("rm")
