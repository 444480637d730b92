"""Settings of agents: tables and files, and every fault at once with its file, key and fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.reference.tools import ALL_ON
from bot.settings.settings import Settings, load
from bot.wiring.agents import digest_of, manifests_of
from bot.wiring.tools.known import known_tools
from runtime.contract import Effect
from runtime.domain.agents.manifest import Manifest
from runtime.errors import ConfigError
from tools.built_in import built_in_tools

MODELS = '[model]\nname = "openai/gpt-4o"\n[[models]]\nname = "sonnet"\nmodel = "openai/gpt-4o-mini"\n'
OPS = '[[agents]]\nname = "ops"\nprompt = "You keep things running."\n'


def read(folder: Path, text: str, **files: str) -> Settings:
    (folder / "agents").mkdir(exist_ok=True)
    for name, words in files.items():
        (folder / "agents" / f"{name}.toml").write_text(words, encoding="utf-8")
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={"OPENAI_API_KEY": "key-of-openai"})


def faults(folder: Path, text: str, **files: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **files)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def fault(folder: Path, text: str, **files: str) -> str:
    [one] = faults(folder, text, **files)
    return one


def test_an_agent_is_given_by_a_table_or_by_a_file_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "research.md").write_text("You look things up.\n")
    file = 'prompt_file = "research.md"\nmodel = "sonnet"\ntools = ["read_file", "http_get"]\neffects = "read"\n'
    whole = (
        OPS
        + 'rooms = ["slack:work/C-OPS*"]\ndelegates_to = ["research"]\nbudget_day = 5.0\ntool_calls_per_minute = 60\n'
    )
    manifests = manifests_of(read(tmp_path, MODELS + whole, research=file))
    assert list(manifests) == ["main", "ops", "research"]
    assert manifests["main"] == Manifest()
    assert manifests["research"] == Manifest(
        name="research",
        prompt="You look things up.",
        model="sonnet",
        tools=("read_file", "http_get"),
        effects=Effect.READ,
        mentions=("research",),
    )
    ops = manifests["ops"]
    assert (ops.rooms, ops.delegates_to, ops.budget_day, ops.tool_calls_per_minute) == (
        ("slack:work/C-OPS*",),
        ("research",),
        5.0,
        60,
    )


def test_every_fault_of_agents_is_told_at_once(tmp_path: Path) -> None:
    text = MODELS + OPS + 'tools = ["read_fil"]\nharness = "sprints"\nskills = "x"\n' + OPS
    found = "\n".join(
        faults(
            tmp_path,
            text,
            bad='promt = "x"\n',
            worse="prompt = ",
            research='prompt = "{{ rom }}"\nmodel = "sonet"\ndelegates_to = ["opps"]\nchildren = 9\n',
        )
    )
    assert 'agents[1].tools ("ops"): "read_fil" fits no tool; did you mean read_file?' in found
    assert 'agents[1].harness ("ops"): got text "sprints"' in found
    assert 'expected "single" or "generator_evaluator"' in found
    assert 'agents[1].skills ("ops"): got text "x"' in found
    assert 'agents[2].name ("ops"): agents[1] has this name too; give each agent its own' in found
    assert f"{tmp_path}/agents/worse.toml:1:" in found
    assert f"there is no such setting (from {tmp_path}/agents/bad.toml); did you mean agents[3].prompt?" in found
    assert 'agents[4].model ("research"): "sonet" names no model; did you mean sonnet?' in found
    assert '"opps" names no agent; did you mean ops?' in found
    assert 'agents[4].children ("research"): got a number 9' in found
    assert "line 1: there is no rom" in found
    assert found.count(f"(from {tmp_path}/agents/research.toml)") == 4


def test_tools_of_tasks_and_of_work_that_is_handed_on_may_be_named(tmp_path: Path) -> None:
    tools = '["task_*", "delegate*", "hand_over", "agent_create"]'
    manifests = manifests_of(read(tmp_path, f'[[agents]]\nname = "ops"\nprompt = "x"\ntools = {tools}\n'))
    assert len(manifests["ops"].tools) == 4


def test_each_tool_that_is_built_in_may_be_named(tmp_path: Path) -> None:
    assert set(known_tools(read(tmp_path, ALL_ON))) <= set(built_in_tools())


def test_documents_for_an_agent_that_is_not_there_are_refused(tmp_path: Path) -> None:
    pack = '[[knowledge]]\nname = "h"\nfolder = "h"\nagents = ["op*", "hr", "main"]\n'
    read(tmp_path, pack + OPS, hr='prompt = "x"\n')
    (tmp_path / "agents" / "hr.toml").unlink()
    assert 'knowledge[1].agents ("h"): "hr" names no agent; there are: main, ops' in fault(tmp_path, pack + OPS)


@pytest.mark.parametrize("given", ["", 'prompt = "  "\n'])
def test_an_agent_without_a_prompt_is_refused(tmp_path: Path, given: str) -> None:
    told = fault(tmp_path, "", ops=f'{given}tools = ["read_file"]\n')
    fix = 'add prompt = "You are …", or prompt_file = "prompts/ops.md"'
    assert told == f'agents[1].prompt ("ops"): is missing; {fix} (from {tmp_path}/agents/ops.toml).'


def test_main_gets_bounds_and_rooms_and_no_second_prompt(tmp_path: Path) -> None:
    manifests = manifests_of(read(tmp_path, '[[agents]]\nname = "main"\neffects = "write"\nrooms = ["web:*"]\n'))
    assert manifests["main"].effects is Effect.WRITE
    told = fault(tmp_path, '[[agents]]\nname = "main"\nprompt = "Hm."\n')
    assert 'agents[1].prompt ("main"): is set for the main agent by run.prompt_file; move it there' in told


def test_two_agents_of_one_room_are_refused_with_both_named(tmp_path: Path) -> None:
    rooms = 'prompt = "p"\nrooms = ["slack:work/*"]\n'
    told = fault(tmp_path, "", dev=rooms, ops=rooms)
    assert told.startswith(
        'agents[2].rooms ("ops"): dev and ops are both bound to slack:work/*, and nothing says which one'
    )
    assert "narrow the rooms of one of them" in told


def test_a_circle_of_hand_overs_is_refused_and_an_agent_may_name_itself(tmp_path: Path) -> None:
    circle = {name: f'prompt = "p"\ndelegates_to = ["{to}"]\n' for name, to in (("a", "b"), ("b", "c"), ("c", "a"))}
    told = fault(tmp_path, "", **circle)
    assert (
        'agents[1].delegates_to ("a"): leads in a circle: a → b → c → a; take an agent out of one of these lists'
        in told
    )
    for name in circle:
        (tmp_path / "agents" / f"{name}.toml").unlink()
    assert read(tmp_path, "", a='prompt = "p"\ndelegates_to = ["a"]\n').agents[0].delegates_to == ("a",)


@pytest.mark.parametrize(
    ("parent", "child", "words"),
    [
        ('tools = ["read_file"]', 'tools = ["read_f*", "shell"]', "research may use shell, which ops may not"),
        ('effects = "read"', 'tools = ["shell"]', "research may use shell, which ops may not"),
        ('memory = ["room"]', 'memory = ["room", "agent"]', "research may read the memory of agent, which ops may not"),
        (
            'tools = ["shell"]\neffects = "read"',
            'tools = ["read_file"]',
            "research may use read_file, which ops may not",
        ),
    ],
)
def test_a_child_that_may_more_than_its_parent_is_refused(tmp_path: Path, parent: str, child: str, words: str) -> None:
    told = fault(tmp_path, f'{OPS}delegates_to = ["research"]\n{parent}\n', research=f'prompt = "p"\n{child}\n')
    assert told.startswith(f'agents[1].delegates_to ("ops"): {words}; take it from research, or give it to ops')


def test_tools_of_an_mcp_server_are_known_by_their_beginning(tmp_path: Path) -> None:
    server = '[[mcp]]\nname = "tickets"\ncommand = "tickets"\n'
    assert read(tmp_path, f'{server}{OPS}tools = ["tickets_open", "tick*"]\n').agents
    assert '"ticket_open" fits no tool' in fault(tmp_path, f'{server}{OPS}tools = ["ticket_open"]\n')


def test_another_word_of_a_prompt_is_another_digest(tmp_path: Path) -> None:
    one = digest_of(manifests_of(read(tmp_path, "", ops='prompt = "a"\n')))
    assert one == digest_of(manifests_of(read(tmp_path, "", ops='prompt = "a"  # the same\n')))
    assert one != digest_of(manifests_of(read(tmp_path, "", ops='prompt = "b"\n')))


def test_a_word_that_addresses_two_agents_is_refused(tmp_path: Path) -> None:
    told = fault(tmp_path, OPS, dev='prompt = "p"\nmentions = ["Ops", "dev"]\n')
    assert told.startswith('agents[2].mentions ("dev"): "Ops" addresses ops too; choose another word')


def test_a_judge_of_goals_that_is_no_model_is_a_fault(tmp_path: Path) -> None:
    assert fault(tmp_path, MODELS + '[goals]\njudge = "sonet"\n') == (
        'goals.judge: "sonet" names no model; did you mean sonnet?'
    )
