"""`executor` of an agent: what works in it, and with what bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from runtime.domain.agents.executors import ExecutorKind
from runtime.settings.types import Number, Section, Switch, Text, TextFile, Whole

PROCESSES_MAX: Final = 16


def _answers(file: Path) -> Path:
    from tools.executors.answers import read_answers  # only where an agent is a stub
    from tools.executors.files import FileFault

    try:
        read_answers(file)
    except FileFault as fault:
        raise ValueError(f"a file of answers; {fault}") from None
    return file


def _canned(file: Path) -> Path:
    from tools.executors.canned import read_canned  # only where tools are canned
    from tools.executors.files import FileFault

    try:
        read_canned(file)
    except FileFault as fault:
        raise ValueError(f"a file of canned results; {fault}") from None
    return file


AnswersFile = Annotated[TextFile, AfterValidator(_answers)]
CannedFile = Annotated[TextFile, AfterValidator(_canned)]


class ProgramTable(Section):
    """The program of an agent with `executor = "subprocess"`: [executors.md](executors.md)."""

    command: tuple[Text, ...] = Field(
        default=(),
        description="Program and its arguments. It reads a line of JSON for each turn and answers with lines. "
        "Paths are looked for beside the settings file.",
    )
    processes: Whole = Field(
        default=1, ge=1, le=PROCESSES_MAX, description="Processes of it that may work at once, each on one turn."
    )
    timeout_seconds: Number = Field(
        default=120, gt=0, le=3600, description="How long it may give no line while it works on a turn."
    )
    env: dict[Text, str] = Field(
        default={}, description="Variables for it. Besides these it gets PATH, HOME and LANG, and none of Signalbox's."
    )
    network: Switch = Field(
        default=False, description="true: its sandbox has this machine's network, including loopback."
    )
    sandbox: Literal["auto", "external"] = Field(
        default="auto",
        description='"auto": in bubblewrap, or not at all, which is a failure; "external": without a sandbox.',
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


def executor_faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Faults of an executor: what it needs and hasn't, and settings that mean nothing with it. Values that are wrong are told with themselves."""
    kind, program = table.get("executor", ExecutorKind.MODEL), table.get("program")
    if kind not in list(ExecutorKind):
        return
    if kind == ExecutorKind.SUBPROCESS and not (isinstance(program, Mapping) and program.get("command")):
        yield "program.command", 'is missing; add [agents.program] with command = ["python3", "agent.py"]'
    if kind != ExecutorKind.SUBPROCESS and program:
        yield "program", f'means nothing with executor = "{kind}"; set executor = "subprocess", or remove it'
    if kind == ExecutorKind.STUB and not table.get("answers"):
        yield "answers", 'is missing; add answers = "answers.toml"'
    if kind != ExecutorKind.STUB and table.get("answers"):
        yield "answers", f'means nothing with executor = "{kind}"; set executor = "stub", or remove it'
    if kind != ExecutorKind.MODEL and table.get("model"):
        yield "model", f'means nothing with executor = "{kind}", which asks no model; remove it'
