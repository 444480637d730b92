"""Tools that test and compile a project, and tell what failed and where."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from runtime.contract import CardContext, CardNote, CardPart, CardValue, Effect, Flow, Json, Reads, Tool, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from runtime.workspace.safe_fs import is_there, reading
from tools.builds.presets import JUNIT, READ, Preset, preset_of_compiler, preset_of_tests
from tools.files.workspace import named, opened, parts_of
from tools.kit.declare import tool
from tools.kit.process import Ended
from tools.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from tools.builds.results import Results

BUILD_MARGIN: Final = timedelta(seconds=15)
BUILD_MAX_CHARS: Final = 20_000
SAID_MAX_CHARS: Final = 200_000
"""Characters of a program's output that are read for results."""
TAIL_SHOWN_CHARS: Final = 6_000
"""Characters of it that are shown where nothing was found in it."""
JUNIT_MAX_BYTES: Final = 20 << 20
LOOKED_INTO_MAX_BYTES: Final = 256 * 1024
NAMES_MAX: Final = 5_000
PATTERN_MAX_CHARS: Final = 500
BUILDING: Final = Flow(Reads.FILES, "a command's output", writes="*")
NO_TESTS: Final = "No tests were found in {path}: there is nothing of pytest, unittest, npm, cargo, go or make. The shell can run others."
NO_COMPILER: Final = "Nothing in {path} is known how to compile: cargo, go, TypeScript, make, C and Python are."
Folder = Annotated[str, "Folder of the project."]


@dataclass(frozen=True, slots=True)
class OwnCommands:
    """Commands of the settings in place of our own; empty for none."""

    testing: str = ""
    compiling: str = ""


def build_tools(sandbox: Sandbox, *, timeout: timedelta, own: OwnCommands) -> list[Tool]:
    """`run_tests` and `compile`."""
    return [_testing(sandbox, timeout, own.testing), _compiling(sandbox, timeout, own.compiling)]


def _testing(sandbox: Sandbox, timeout: timedelta, own: str) -> Tool:
    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        pattern = str(arguments.get("pattern") or "")
        found = _found(context.workspace, arguments, lambda files: preset_of_tests(files, own, pattern))
        return [*_notes(found, sandbox), *(CardValue(name) for name in ("path", "pattern") if arguments.get(name))]

    @tool(
        effect=Effect.DANGER,
        timeout=timeout + BUILD_MARGIN,
        output_bound=BUILD_MAX_CHARS,
        caution=sandbox.caution,
        card=card,
        seldom=True,
        flow=BUILDING,
    )
    async def run_tests(
        context: ToolContext,
        path: Folder = ".",
        pattern: Annotated[str, "Only tests with this in their names."] = "",
    ) -> str:
        """Run a project's tests: which failed, where and why."""
        if len(pattern) > PATTERN_MAX_CHARS or not pattern.isprintable() or pattern.startswith("-"):
            raise ToolRetry("Give a part of the tests' names as the pattern.")
        folder = "/".join(parts_of(path)) or "."
        files = await asyncio.to_thread(_files, context.workspace, folder)
        preset = preset_of_tests(files, own, pattern)
        if preset is None:
            raise ToolFailed(NO_TESTS.format(path=named(folder)))
        ended = await sandbox.run(_line(folder, preset.line(pattern)), context.workspace, limit=SAID_MAX_CHARS)
        junit = await asyncio.to_thread(_junit, context.workspace, folder)
        from tools.builds.results import of_junit, of_output  # with the first call

        return told_tests(preset, ended, (junit and of_junit(junit)) or of_output(ended.text), timeout)

    return run_tests


def _compiling(sandbox: Sandbox, timeout: timedelta, own: str) -> Tool:
    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        found = _found(context.workspace, arguments, lambda files: preset_of_compiler(files, own))
        return [*_notes(found, sandbox), *([CardValue("path")] if arguments.get("path") else [])]

    @tool(
        effect=Effect.DANGER,
        timeout=timeout + BUILD_MARGIN,
        output_bound=BUILD_MAX_CHARS,
        caution=sandbox.caution,
        card=card,
        seldom=True,
        flow=BUILDING,
    )
    async def compile(context: ToolContext, path: Folder = ".") -> str:
        """Compile a project: the complaints, with file and line."""
        folder = "/".join(parts_of(path)) or "."
        files = await asyncio.to_thread(_files, context.workspace, folder)
        preset = preset_of_compiler(files, own)
        if preset is None:
            raise ToolFailed(NO_COMPILER.format(path=named(folder)))
        ended = await sandbox.run(_line(folder, preset.line()), context.workspace, limit=SAID_MAX_CHARS)
        return told_compiling(preset, ended, timeout)

    return compile


# ------------------------------------------------------------------------------------------------------------------ words


def told_tests(preset: Preset, ended: Ended, results: Results | None, timeout: timedelta) -> str:
    """Words for the model. Tests that fail are a result; a command that was stopped is ToolFailed."""
    if ended.timed_out:
        raise ToolFailed(
            f"The tests ({preset.name}) were stopped after {timeout.total_seconds():g} s. {_tail(ended.text)}"
        )
    if results is None:
        return f"{preset.name} ended with exit code {ended.code}; how many tests it ran can't be told.\n{_tail(ended.text)}"
    told = f"{preset.name}: {results.told()}"
    # Its own fault, and not that of a test, is only told by what it printed.
    unexplained = ended.code != 0 and not results.failed
    return f"{told}\nIt ended with exit code {ended.code}.\n{_tail(ended.text)}" if unexplained else told


def told_compiling(preset: Preset, ended: Ended, timeout: timedelta) -> str:
    """Words for the model."""
    if ended.timed_out:
        raise ToolFailed(f"{preset.name} was stopped after {timeout.total_seconds():g} s. {_tail(ended.text)}")
    from tools.builds.compilers import complaints, told_complaints

    found = complaints(ended.text)
    if ended.code == 0:
        return f"{preset.name}: compiled.{_listed(told_complaints(found))}"
    if not found:
        return f"{preset.name} ended with exit code {ended.code}.\n{_tail(ended.text)}"
    errors = sum(one.kind == "error" for one in found)
    count = f"{errors} error{'' if errors == 1 else 's'}"
    return f"{preset.name} ended with exit code {ended.code}: {count}.{_listed(told_complaints(found))}"


def _listed(lines: str) -> str:
    return f"\n{lines}" if lines else ""


def _tail(text: str) -> str:
    words = text.strip()
    if not words:
        return "It printed nothing."
    return (
        f"It printed:\n{words}"
        if len(words) <= TAIL_SHOWN_CHARS
        else f"It printed at its end:\n…{words[-TAIL_SHOWN_CHARS:]}"
    )


def _notes(found: Preset | None, sandbox: Sandbox) -> list[CardPart]:
    network = "the network is open" if sandbox.has_network else "no network"
    return [
        CardNote(f"with {found.name}" if found else "nothing known to run it with was found: it will fail"),
        CardNote(network),
    ]


# ------------------------------------------------------------------------------------------------------------------ files


def _line(folder: str, command: str) -> str:
    return f"cd -- {shlex.quote(folder)} && rm -f -- {JUNIT} && {{ {command}\n}}"


def _found(
    workspace: Path, arguments: Mapping[str, Json], preset: Callable[[Mapping[str, str]], Preset | None]
) -> Preset | None:
    """The preset of a call that is asked about; None where its folder can't be looked at."""
    with suppress(ToolFailed):
        return preset(_files(workspace, "/".join(parts_of(str(arguments.get("path") or "."))) or "."))
    return None


def _files(workspace: Path, folder: str) -> dict[str, str]:
    """Names of what is in a folder, with the text of those that say what a project is. Errors: ToolFailed."""
    with opened(workspace, folder) as found:
        try:
            names = os.listdir(found)[:NAMES_MAX]  # noqa: PTH208 - an open folder
        except NotADirectoryError as error:
            raise ToolFailed(f"{named(folder)} is no folder.") from error
    texts = {name: _text(workspace, folder, name) for name in READ if name in names}
    return dict.fromkeys(names, "") | texts


def _text(workspace: Path, folder: str, name: str) -> str:
    with suppress(OSError, ValueError), reading(workspace, _below(folder, name)) as file:
        return file.read(LOOKED_INTO_MAX_BYTES).decode("utf-8", "replace")
    return ""


def _junit(workspace: Path, folder: str) -> bytes:
    """The file of results, which is removed; empty where there is none."""
    place = _below(folder, JUNIT)
    if not is_there(workspace, place):
        return b""
    data = b""
    with suppress(OSError, ValueError), reading(workspace, place) as file:
        data = file.read(JUNIT_MAX_BYTES + 1)
    with suppress(OSError, ToolFailed), opened(workspace, folder) as inside:
        os.unlink(JUNIT, dir_fd=inside)
    return data if len(data) <= JUNIT_MAX_BYTES else b""


def _below(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
