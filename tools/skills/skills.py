"""The tools of skills: `skill_read` gives the whole text of one, `skill_run` runs a script of it in the sandbox."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Annotated, Final, Protocol

from runtime.contract import (
    Caller,
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.errors import ToolError, ToolFailed
from tools.kit.declare import tool
from tools.sandbox.sandbox import PROVIDED, Provided, Sandbox
from tools.sandbox.secret_files import without_files
from tools.sandbox.shell import MARGIN, OUTPUT_MAX_CHARS, told

SKILL_READ_BOUND: Final = 50_000
SKILL_RUN_BOUND: Final = 50_000
SKILL_FLOW: Final = Flow(Reads.OURS, stays=True, carries={"name": Carries.DETAIL, "file": Carries.DETAIL})
"""An owner accepted every word of a skill."""
SCRIPT_FLOW: Final = Flow(Reads.FILES, "a script's output", writes="*")
ARGUMENTS_MAX: Final = 50
INTERPRETERS: Final[Mapping[str, str]] = {
    ".py": "python3",
    ".sh": "sh",
    ".bash": "bash",
    ".js": "node",
    ".rb": "ruby",
    ".pl": "perl",
}
"""By the end of a script's name; another one is run as the program that it is."""


class SkillBook(Protocol):
    """Skills that are accepted, each for the agents that have it."""

    async def text(self, agent: str, name: str, file: str) -> str:
        """All of a skill, or one of its files. Errors: ToolRetry, ToolFailed say why there is none."""

    async def objection(self, agent: str, name: str, script: str) -> str:
        """The reason for which a script can't be run; empty where it can."""

    def lent(self, agent: str, name: str, script: str) -> AbstractAsyncContextManager[Provided]:
        """The skill's files as they were accepted, and what its scripts are handed, for one command. Errors: ToolFailed."""

    def handed(self, name: str) -> Sequence[str]:
        """Names of the secrets that its scripts are handed."""


def skill_tools(book: SkillBook, sandbox: Sandbox, *, timeout: timedelta) -> dict[str, Tool]:
    """Both, by name. `skill_run` exists also where `sandbox` cannot work; each call then says why."""

    @tool(effect=Effect.READ, output_bound=SKILL_READ_BOUND, flow=SKILL_FLOW)
    async def skill_read(
        name: Annotated[str, "A skill of the list."],
        context: ToolContext,
        file: Annotated[str, "Instead one of its files, such as references/x.md."] = "",
    ) -> str:
        """Read the instructions of a skill."""
        return await book.text(context.agent, name, file)

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        handed = book.handed(str(arguments.get("skill", "")))
        notes = ["in this room's workspace", "the network is open" if sandbox.has_network else "no network"]
        notes += [f"gets the secret {name}" for name in handed]
        parts: list[CardPart] = [CardValue("skill"), CardValue("script")]
        return [*parts, *([CardText("args")] if isinstance(arguments.get("args"), str) else []), *map(CardNote, notes)]

    @tool(
        effect=Effect.DANGER,
        timeout=timeout + MARGIN,
        output_bound=SKILL_RUN_BOUND,
        caution=sandbox.caution,
        card=card,
        flow=SCRIPT_FLOW,
    )
    async def skill_run(
        skill: Annotated[str, "A skill of the list."],
        script: Annotated[str, "One of its scripts."],
        context: ToolContext,
        args: Annotated[str, "Arguments, as in a shell; paths in the workspace."] = "",
    ) -> str:
        """Run a script of a skill in the workspace; returns output and exit code."""
        command = command_of(script, args)
        async with book.lent(context.agent, skill, file_of(script)) as provided:
            ended = await sandbox.run(command, context.workspace, limit=OUTPUT_MAX_CHARS, provided=provided)
        return without_files(told(ended, timeout), provided.secret_files)

    async def refusal(arguments: Mapping[str, Json], by: Caller) -> str:
        try:
            skill_run.check(arguments)
            command_of(str(arguments["script"]), str(arguments.get("args") or ""))
        except ToolError as error:
            return str(error)
        return await book.objection(by.agent, str(arguments["skill"]), file_of(str(arguments["script"])))

    running = replace(skill_run, spec=replace(skill_run.spec, refusal=refusal))
    return {"skill_read": skill_read, "skill_run": running}


def file_of(script: str) -> str:
    """The script's name in `scripts/`, which instructions often name too.

    >>> file_of("scripts/sum.py")
    'sum.py'
    """
    return script.removeprefix("scripts/")


def command_of(script: str, args: str) -> str:
    """The command line: each argument is one word, whatever is in it, so that nothing in it is a command of its own.

    >>> command_of("sum.py", "'my file.csv' $(id)")
    'python3 "$SKILL"/scripts/sum.py \\'my file.csv\\' \\'$(id)\\''

    Errors: ToolFailed for arguments that are none.
    """
    try:
        words = shlex.split(args)
    except ValueError as error:
        raise ToolFailed(f"args can't be read as a shell would: {error}. Nothing was run.") from None
    if len(words) > ARGUMENTS_MAX or any("\0" in word for word in (script, *words)):
        raise ToolFailed(f"At most {ARGUMENTS_MAX} arguments, without a NUL in them. Nothing was run.")
    program = INTERPRETERS.get(PurePosixPath(script).suffix, "")
    path = f'"${PROVIDED}"/scripts/{shlex.quote(file_of(script))}'
    return " ".join(filter(None, (program, path, *map(shlex.quote, words))))
