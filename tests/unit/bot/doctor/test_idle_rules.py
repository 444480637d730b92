"""Rules that can never decide are told by doctor, each with what to write instead; a rule that may decide is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.policy import check_policy
from bot.doctor.subject import Subject
from runtime.contract import Level
from tests.unit.bot.settings.test_settings import read

PUSHES = 'where = { command = { commands = ["git push"] } }\nresult = "deny"\n'
SERVER = '[[mcp]]\nname = "tickets"\ncommand = "tickets-server"\n'


async def told(folder: Path, *rules: str, more: str = "") -> list[tuple[str, str]]:
    settings = read(folder, "".join(f"[[policy]]\n{rule}\n" for rule in rules) + more)
    found = await check_policy(Subject(settings, None, None, None))
    return [(one.what, one.fix) for one in found if one.level is not Level.OK]


async def test_a_tool_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    what = 'policy[1] names the tool "shel", which doesn\'t exist'
    assert await told(tmp_path, f'tool = "shel"\n{PUSHES}') == [(what, 'write "shell", if you mean that tool')]
    [(_, fix)] = await told(tmp_path, 'tool = "zzz*"\nresult = "deny"')
    assert fix == "signalbox policy test --all lists the tools there are"


async def test_an_argument_that_the_tool_does_not_take_is_told(tmp_path: Path) -> None:
    mistyped = PUSHES.replace("command =", "comand =", 1)
    what = 'policy[1].where names "comand", and shell never takes such an argument'
    assert await told(tmp_path, f'tool = "shell"\n{mistyped}') == [(what, "write one of those it takes: command")]
    [(what, _)] = await told(tmp_path, 'arguments = { paht = "notes/*" }\nresult = "allow"')
    assert what == 'policy[1].arguments names "paht", and no tool it matches takes such an argument'


@pytest.mark.parametrize(
    "wider",
    ['result = "ask"', 'tool = "shell"\nresult = "allow"', 'tool = "shell"\neffect = "danger"\nresult = "ask"'],
)
async def test_a_rule_behind_a_wider_one_is_told(tmp_path: Path, wider: str) -> None:
    behind = f'tool = "shell"\neffect = "danger"\n{PUSHES}'
    what, fix = (
        "policy[2] comes after policy[1], which already matches every call it matches",
        "move it before policy[1], or remove it",
    )
    assert await told(tmp_path, wider, behind) == [(what, fix)]


@pytest.mark.parametrize(
    "before",
    [
        'tool = "write_file"\nresult = "ask"',
        'tool = "shell"\nroom = "slack:work/*"\nresult = "ask"',
        'tool = "shell"\nwhere = { command = { commands = ["ls"] } }\nresult = "allow"',
        'tool = "shell"\neffect = "write"\nresult = "ask"',
        'tool = "shell"\nperson = "Ada"\nresult = "ask"',
    ],
)
async def test_a_rule_behind_a_narrower_one_may_decide(tmp_path: Path, before: str) -> None:
    assert await told(tmp_path, before, f'tool = "shell"\n{PUSHES}') == []


async def test_tools_and_arguments_of_mcp_servers_are_not_known_here(tmp_path: Path) -> None:
    ticket = 'arguments = { queue = "x" }\nresult = "ask"'
    rules = [f'tool = "{tool}"\n{ticket}' for tool in ("tickets_open", "tick*", "*_open", "tickets_*")]
    assert await told(tmp_path, *rules, more=SERVER) == []
    assert len(await told(tmp_path, *rules)) == len(rules)


async def test_a_veto_behind_a_wider_rule_still_decides(tmp_path: Path) -> None:
    veto = 'tool = "shell"\nresult = "veto"'
    assert await told(tmp_path, 'result = "ask"', veto) == []
    [(what, _)] = await told(tmp_path, veto, 'tool = "shell"\nroom = "slack:work/C1"\nresult = "veto"')
    assert what == "policy[2] comes after policy[1], which already matches every call it matches"


async def test_an_agent_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    agent = '[[agents]]\nname = "ops"\nprompt = "p"\n'
    assert await told(tmp_path, 'agent = "op*"\nresult = "ask"', more=agent) == []
    [(what, fix)] = await told(tmp_path, 'agent = "opps"\nresult = "ask"', more=agent)
    assert what == 'policy[1] names the agent "opps", which doesn\'t exist'
    assert fix == 'write "ops", if you mean that agent'
