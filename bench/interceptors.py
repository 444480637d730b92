"""The time that an interceptor takes which answers at once: in this process, as a program, and as one that is started for it."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, high, middle
from runtime.contract.agents.interceptors import Answer, Judge, Occasion, Point
from runtime.guard.door import OPEN_DOOR
from runtime.interceptors.chain import Interceptors, Placed
from runtime.interceptors.in_process import InProcess
from tools.interceptors.program import ProgramJudge
from tools.mcp.errors import NoServer
from tools.mcp.sandbox import sandbox_of
from tools.mcp.terms import Program, SandboxTerms

ROUNDS: Final = 500
FRESH_ROUNDS: Final = 10
IN_PROCESS_GOAL: Final = 1.0  # ms; source: issue 22
PROGRAM_GOAL: Final = 20.0  # ms; source: issue 22
AT_ONCE: Final = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "answer": "allow"}), flush=True)
"""
CALL: Final = Occasion(
    Point.BEFORE_TOOL, "main", "web:main/a", "run", "run/2", "Ada", "shell", {"arguments": {"command": "uname -a"}}
)


async def interceptors(short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="signalbox-", dir="/var/tmp") as folder:
        program = await _program(Path(folder))
        try:
            plain = await _times(InProcess(lambda _: Answer()), 20 if short else ROUNDS)
            kept = await _times(program, 20 if short else ROUNDS)
            fresh = await _fresh(program, 1 if short else FRESH_ROUNDS)
        finally:
            await program.close()
    return [
        Figure("interceptor in process, p50", middle(plain), "ms", bound=at_most(IN_PROCESS_GOAL), note=_worst(plain)),
        Figure("interceptor as a program, p50", middle(kept), "ms", bound=at_most(PROGRAM_GOAL), note=_worst(kept)),
        Figure("interceptor started for one answer", middle(fresh), "ms", middle(kept), note="why programs are kept"),
    ]


def _worst(times: list[float]) -> str:
    return f"p99 {high(times):.2f} ms"


async def _program(folder: Path) -> ProgramJudge:
    """In a sandbox, where this machine can make one."""
    command, terms = (sys.executable, "-I", "-S", "-c", AT_ONCE), SandboxTerms()
    program = Program(command, folder / "own", env={"PATH": "/usr/bin:/bin"}, sandbox=terms)
    try:
        await sandbox_of(program, terms)
    except NoServer:
        program = replace(program, sandbox=None)
    return ProgramJudge(program)


async def _times(judge: Judge, rounds: int) -> list[float]:
    """Through the chain, as a call does it."""
    chain = Interceptors([Placed("bench", Point.BEFORE_TOOL, judge)], note=_note, door=OPEN_DOOR)
    await chain.judged(CALL, _take)  # with the start
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        await chain.judged(CALL, _take)
        times.append((time.perf_counter() - begun) * 1000)
    return times


async def _fresh(program: ProgramJudge, rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        await program.close()
        begun = time.perf_counter()
        await program.ask(CALL)
        times.append((time.perf_counter() - begun) * 1000)
    return times


async def _note(kind: str, by: str, subject: str, detail: str) -> None:
    """Nothing is denied here."""


async def _take(before: Occasion, values: object) -> Occasion:
    return before
