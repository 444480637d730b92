"""Programs of agents over reloads: one that stays the same is kept, one that changed or is gone ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.settings.settings import load
from bot.wiring.models.executors import Executors
from runtime.contract import Model
from runtime.domain.agents.executors import Executor, ExecutorKind
from runtime.domain.agents.manifest import Manifest
from tools.executors.program_model import ProgramModel

OPS: Final = Manifest(name="ops", executor=Executor(kind=ExecutorKind.SUBPROCESS, command=("python3", "agent.py")))


def of(model: Model | None) -> ProgramModel:
    assert isinstance(model, ProgramModel)
    return model


def test_a_program_is_kept_while_its_terms_are(tmp_path: Path) -> None:
    executors = Executors(load(environ={}, folder=tmp_path), lambda model: model)
    first = of(executors.model(OPS))
    assert executors.model(replace(OPS, prompt="Be brief.")) is first
    other = of(executors.model(replace(OPS, executor=replace(OPS.executor, processes=2))))
    assert other is not first
    assert (first._retired, other._retired) == (True, False)
    executors.renewed({})
    assert other._retired
    assert executors.model(Manifest(name="ops")) is None
