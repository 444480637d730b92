"""Starts the process that runs a module, and takes what came of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from runtime.errors import ToolFailed
from tools.kit.process import Ended, capture
from tools.sandbox.launcher import Order
from tools.sandbox.sandbox import Provided
from tools.wasm import program

MODULES_AT_ONCE: Final = 2
"""Each takes a processor, and up to the module's memory and that of the compiler."""
MODULE_MAX_BYTES: Final = 64 << 20
VERDICT_MAX_BYTES: Final = 10_000
OVERTIME: Final = timedelta(seconds=5)
"""For wasmtime to begin and to end; then the process is killed."""


@dataclass(frozen=True, slots=True)
class WasmTerms:
    """Settings for modules. `uid` is the user as whom they run where this process is root."""

    uid: int = 65534
    memory_mib: int = 256
    fuel: int = 20_000_000_000
    file_mib: int = 256
    timeout: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A module, as an open file, and what it is given."""

    descriptor: int
    args: Sequence[str]
    given: str


class ModuleSandbox:
    """A Sandbox in which one call of a module is what every command means."""

    caution = ""
    has_network = False

    def __init__(self, terms: WasmTerms, call: ModuleCall, places: asyncio.Semaphore) -> None:
        self._terms = terms
        self._call = call
        self._places = places

    async def self_test(self) -> str | None:
        return None

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        """Its output and exit code. Errors: ToolFailed for a module that was not run, or didn't come to its end."""
        if os.geteuid() == 0 and self._terms.uid == 0:
            raise ToolFailed("wasm_run is off: [tools.shell] uid is 0, and modules are never run as root. Set another.")
        largest = self._terms.file_mib << 20
        bound = largest if writes is None else min(writes, largest)
        async with self._places:
            with ExitStack() as stack:
                given, verdict = (stack.enter_context(TemporaryFile()) for _ in range(2))
                given.write(self._call.given.encode("utf-8", "replace"))
                given.seek(0)
                order = self._order(given.fileno(), verdict.fileno(), bound)
                ended = await self._capture(order, workspace, limit)
                verdict.seek(0)
                told = verdict.read(VERDICT_MAX_BYTES)
        return self._judged(ended, told)

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        raise ToolFailed("A module lives as long as its call.")

    def _order(self, given: int, verdict: int, writes: int) -> program.ModuleOrder:
        return program.ModuleOrder(
            module=self._call.descriptor,
            given=given,
            verdict=verdict,
            args=list(self._call.args),
            uid=self._terms.uid if os.geteuid() == 0 else None,
            memory=self._terms.memory_mib << 20,
            fuel=self._terms.fuel,
            seconds=self._terms.timeout.total_seconds(),
            writes=writes,
        )

    async def _capture(self, order: program.ModuleOrder, workspace: Path, limit: int) -> Ended:
        argv = [sys.executable, "-I", program.__file__, json.dumps(order)]
        descriptors = (order["module"], order["given"], order["verdict"])
        try:
            return await capture(
                argv,
                cwd=workspace,
                deadline=self._terms.timeout + OVERTIME,
                limit=limit,
                pass_fds=descriptors,
                env={"LANG": "C.UTF-8"},
            )
        except OSError as error:
            raise ToolFailed(f"The module was not run: no process can be started ({error.strerror}).") from error

    def _judged(self, ended: Ended, told: bytes) -> Ended:
        """The module's end as that of a command. Errors: ToolFailed."""
        if ended.timed_out:
            return ended
        if not told:
            limit = (
                " (killed, perhaps by a limit)" if ended.code in (128 + signal.SIGKILL, 128 + signal.SIGXCPU) else ""
            )
            raise ToolFailed(f"The module ended with its process: exit code {ended.code}{limit}. {printed(ended)}")
        verdict: program.Verdict = json.loads(told)
        match verdict["kind"]:
            case "exit":
                return Ended(ended.text, verdict["code"], timed_out=False)
            case "time":
                return Ended(ended.text, ended.code, timed_out=True)
            case "fuel":
                what = f"The module was stopped after {self._terms.fuel:,} instructions."
            case "refused":
                raise ToolFailed(f"The module was not run: {verdict['words']}.")
            case _:
                what = f"The module trapped: {verdict['words']}."
        raise ToolFailed(f"{what} {printed(ended)}")


def printed(ended: Ended) -> str:
    output = ended.text.rstrip("\n")
    return f"Until then it printed:\n{output}" if output else "It had printed nothing."
