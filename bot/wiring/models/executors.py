"""Executors of agents: programs that work in a model's place, and files of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from runtime.contract import Model
from runtime.domain.agents.executors import Executor, ExecutorKind
from runtime.domain.agents.manifest import Manifest
from runtime.domain.transcript import OURS
from tools.sandbox.sandbox import PATH

if TYPE_CHECKING:
    from tools.executors.program_model import ProgramModel
    from tools.mcp.terms import Program

EXECUTORS_FOLDER: Final = "executors"
"""Of `data_dir`: a folder for each agent's program, which it may write to."""


class Executors:
    """Executors by agent. `around` puts the guard and the figures of this process around each. A program is kept while its terms are.

    Nothing is imported for agents that a language model works in.
    """

    def __init__(self, settings: Settings, around: Callable[[Model], Model]) -> None:
        self._settings = settings
        self._around = around
        self._programs: dict[str, tuple[Executor, ProgramModel]] = {}
        self._new: list[ProgramModel] = []
        self._changed = asyncio.Event()

    def model(self, manifest: Manifest) -> Model | None:
        """The executor in the model's place; None where there is none."""
        executor = manifest.executor
        if executor.kind is not ExecutorKind.SUBPROCESS:
            self._retire(manifest.name)
        match executor.kind:
            case ExecutorKind.MODEL:
                return None
            case ExecutorKind.SUBPROCESS:
                return self._around(self._program(manifest.name, executor))
            case ExecutorKind.STUB:
                from tools.executors.stub import StubModel

                return self._around(StubModel(executor.answers or Path(), manifest.name, OURS))

    def renewed(self, manifests: Mapping[str, Manifest]) -> None:
        """End programs of agents that are gone."""
        for name in self._programs.keys() - manifests.keys():
            self._retire(name)

    async def run(self) -> None:
        """Look after the processes of all programs, until cancelled; then they end."""
        for _, program in self._programs.values():
            if program not in self._new:
                self._new.append(program)
        async with asyncio.TaskGroup() as group:
            while True:
                while self._new:
                    group.create_task(self._new.pop().run())
                await self._changed.wait()
                self._changed.clear()

    def _program(self, name: str, executor: Executor) -> ProgramModel:
        known, program = self._programs.get(name, (None, None))
        if program and known == executor:
            return program
        from tools.executors.program_model import ProgramModel

        self._retire(name)
        terms = terms_of(self._settings, name, executor)
        made = ProgramModel(terms, name, processes=executor.processes, limit=executor.timeout)
        self._programs[name] = (executor, made)
        self._new.append(made)
        self._changed.set()
        return made

    def _retire(self, name: str) -> None:
        _, program = self._programs.pop(name, (None, None))
        if program:
            program.retire()


def terms_of(settings: Settings, name: str, executor: Executor) -> Program:
    """It sees the machine as an MCP server does: none of what is ours, and without `network` nobody else."""
    from bot.wiring.mcp import secret_places
    from bot.wiring.safety.interceptors import beside_settings
    from tools.mcp.terms import Program, SandboxTerms

    return Program(
        command=tuple(beside_settings(settings, word) for word in executor.command),
        folder=settings.data_dir / EXECUTORS_FOLDER / name,
        env={"PATH": settings.chain.variables.get("PATH") or PATH} | dict(executor.env),
        uid=shell_of(settings).uid or None,
        sandbox=SandboxTerms(tuple(secret_places(settings)), network=executor.network) if executor.sandboxed else None,
    )
