"""Settings of executors: what one needs, and what means nothing with it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.settings.settings import load
from bot.wiring.agents import digest_of, manifests_of
from runtime.domain.agents.executors import BY_MODEL, ExecutorKind
from tests.unit.bot.settings.test_agents import fault, faults, read

PROGRAM = '[[agents]]\nname = "ops"\nexecutor = "subprocess"\n[agents.program]\ncommand = ["python3", "agent.py"]\n'
STUB = '[[agents]]\nname = "ops"\nexecutor = "stub"\nanswers = "answers.toml"\n'
ANSWERS = '[[answers]]\ntext = "Hello."\n'


def test_a_program_and_a_stub_need_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(ANSWERS)
    more = 'executor = "stub"\nanswers = "answers.toml"\n'
    manifests = manifests_of(read(tmp_path, PROGRAM + "timeout_seconds = 5\nprocesses = 3\n", sham=more))
    program, stub = manifests["ops"].executor, manifests["sham"].executor
    assert (program.command, program.processes, program.timeout) == (("python3", "agent.py"), 3, timedelta(seconds=5))
    assert (program.network, program.sandboxed) == (False, True)
    assert (stub.kind, stub.answers) == (ExecutorKind.STUB, tmp_path / "answers.toml")
    assert manifests["main"].executor == BY_MODEL


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('executor = "subprocess"', 'program.command ("ops"): is missing'),
        ('executor = "stub"', 'agents[1].answers ("ops"): is missing; add answers = "answers.toml"'),
        ('executor = "stub"\nanswers = "none.toml"', "expected a readable text file"),
        ('executor = "stub"\nanswers = "wrong.toml"', "answers[1]: has neither text nor calls"),
        ('prompt = "x"\nanswers = "answers.toml"', 'agents[1].answers ("ops"): means nothing with executor = "model"'),
        ('prompt = "x"\nexecutor = "codex"', 'agents[1].executor ("ops"): '),
    ],
)
def test_what_an_executor_needs_and_what_means_nothing_with_it_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "answers.toml").write_text(ANSWERS)
    (tmp_path / "wrong.toml").write_text("[[answers]]\n")
    assert words in fault(tmp_path, f'[[agents]]\nname = "ops"\n{text}\n')


def test_a_program_asks_no_model(tmp_path: Path) -> None:
    told = faults(tmp_path, PROGRAM.replace("[agents.program]", 'model = "demo"\n[agents.program]'))
    assert (
        'agents[1].model ("ops"): means nothing with executor = "subprocess", which asks no model; remove it'
        in " ".join(told)
    )


def test_canned_results_are_looked_at_with_the_settings(tmp_path: Path) -> None:
    (tmp_path / "canned.toml").write_text('[[results]]\ntool = "x"\n')
    assert "results[1]: result is missing" in fault(tmp_path, '[tools]\nmock = "canned.toml"\n')


def test_a_model_leaves_the_digest_as_it_was_and_a_program_does_not(tmp_path: Path) -> None:
    manifests = manifests_of(load(environ={}, folder=tmp_path))
    assert "executor" not in repr(manifests["main"]), "nodes of before know no other"
    one, other = (
        digest_of(manifests_of(read(tmp_path, text))) for text in (PROGRAM, PROGRAM.replace("agent.py", "other.py"))
    )
    assert one != other
