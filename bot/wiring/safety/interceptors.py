"""Interceptors of the settings, put together: programs in their sandboxes, and what packages bring."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.plugins.packages import interceptor_named
from bot.settings.safety.interceptors import InterceptorTable
from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.mcp import secret_places
from runtime.agent.duties.intercepting import RunInterceptors
from runtime.contract import Address
from runtime.contract.agents.interceptors import Judge, Point
from runtime.guard.door import Door
from runtime.interceptors.chain import Interceptors, Note, Placed, Where
from runtime.interceptors.in_process import InProcess
from tools.interceptors.program import ProgramJudge
from tools.kit.schemas import schema_faults
from tools.mcp.terms import Program, SandboxTerms
from tools.sandbox.sandbox import PATH

INTERCEPTORS_FOLDER: Final = "interceptors"
"""Of `data_dir`: a folder for each program, which it may write to."""


@dataclass(frozen=True, slots=True)
class InterceptorParts:
    """The chain of this process, and the programs that it keeps at work."""

    chain: Interceptors
    programs: Sequence[ProgramJudge]
    named: Callable[[Address], str]

    def of_agent(self, agent: str) -> RunInterceptors | None:
        """For the runs of one agent; None where nobody looks in on them."""
        own = self.chain.of_agent(agent)
        return RunInterceptors(own, agent, named=self.named, faults=schema_faults) if own else None

    def duties(self) -> Iterator[Callable[[], Coroutine[Any, Any, None]]]:
        """Loops that tell progress and keep the programs."""
        if self.chain.has(Point.ON_PROGRESS):
            yield self.chain.run
        for program in self.programs:
            yield program.run

    def words(self) -> str:
        """For the console."""
        counted: dict[str, int] = {}
        for (_, kind), number in self.chain.tally.figures.items():
            counted[kind] = counted.get(kind, 0) + number
        told = ", ".join(f"{word} {counted[kind]:,}" for kind, word in FIGURE_WORDS.items() if counted.get(kind))
        names = ", ".join(dict.fromkeys(one.name for one in self.chain.placed))
        last = f". Last failure: {self.chain.tally.last_failure}" if self.chain.tally.last_failure else ""
        return f"{names}; {told or 'nothing changed'} since this process started{last}"


FIGURE_WORDS: Final[Mapping[str, str]] = {
    "deny": "denied",
    "ask": "asked",
    "replace": "replaced",
    "failed": "failed",
}


def interceptors_of(settings: Settings, named: Callable[[Address], str], note: Note, door: Door) -> InterceptorParts:
    """Errors: ConfigError for one of a package that can't be used."""
    judges = {table.name: judge_of(settings, table) for table in settings.interceptors if table.enabled}
    placed = [one for table in settings.interceptors if table.enabled for one in _placed(table, judges[table.name])]
    programs = [judge for judge in judges.values() if isinstance(judge, ProgramJudge)]
    return InterceptorParts(Interceptors(placed, note=note, door=door), programs, named)


def _placed(table: InterceptorTable, judge: Judge) -> list[Placed]:
    where = where_of(table)
    return [Placed(table.name, point, judge, where, table.is_closed_at(point)) for point in table.at]


def where_of(table: InterceptorTable) -> Where:
    return Where(table.where.tools, table.where.agents, table.where.rooms)


def judge_of(settings: Settings, table: InterceptorTable) -> Judge:
    """Errors: ConfigError."""
    if table.package:
        return InProcess(interceptor_named(table.package), limit=table.timeout)
    return ProgramJudge(_program(settings, table), limit=table.timeout)


def _program(settings: Settings, table: InterceptorTable) -> Program:
    """It sees the machine as an MCP server does: none of what is ours, and without `network` nobody else."""
    return Program(
        command=tuple(beside_settings(settings, word) for word in table.command),
        folder=settings.data_dir / INTERCEPTORS_FOLDER / table.name,
        env={"PATH": settings.chain.variables.get("PATH") or PATH},
        uid=shell_of(settings).uid or None,
        sandbox=None
        if table.sandbox == "external"
        else SandboxTerms(tuple(secret_places(settings)), network=table.network),
    )


def beside_settings(settings: Settings, word: str) -> str:
    """A word of a command; as a whole path, where it names a file beside the settings file."""
    if settings.file is None or word.startswith(("/", "-")):
        return word
    place = settings.file.resolve().parent / word
    try:
        return str(place) if place.is_file() else word
    except OSError:  # too long for a name: it's code, as behind `-c`
        return word
