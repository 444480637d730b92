"""`tools.d`: files of the owner's with tools, served from sandboxes or, where they are trusted, loaded into the process."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.mcp import secret_places
from runtime.contract import Effect, Json, Tool, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from tools.plugins.folder import FolderTools, Host
from tools.plugins.loading import FileBroken, tools_in
from tools.plugins.reading import ToolFile, beside, files_in
from tools.sandbox.sandbox import PATH

if TYPE_CHECKING:
    from tools.mcp.terms import ServerTerms

SERVED_FOLDER: Final = "tools.d"
"""Of `data_dir`: a folder for each file that is served, and what each of them last offered."""
CODE: Final = "code"
"""Of such a folder: copies of the files, which its host loads."""
UNREACHABLE: Final = (
    "{file}: Python can't be started for the user {uid}, as whom tools run, since {folder} is closed to it. Install Python where "
    "others may read it, set tools.folder_uid, or trust the files: tools.trusted = true."
)
START_PATIENCE: Final = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that was tried: its tools, or why it can't be used."""

    file: ToolFile
    specs: Mapping[str, ToolSpec]
    fault: str = ""


def folder_of(settings: Settings, folder: Path, on_change: Callable[[], None]) -> FolderTools:
    """The files of a folder that is there."""
    host_of = None if settings.tools.trusted else lambda file: _host(settings, file, on_change)
    return FolderTools(folder, host_of=host_of, on_change=on_change)


def _host(settings: Settings, file: ToolFile, on_change: Callable[[], None]) -> Host:
    from tools.mcp.server import McpServer

    return McpServer(terms_of(settings, file), on_change=on_change)


def terms_of(settings: Settings, file: ToolFile) -> ServerTerms:
    """Terms under which a file is served: a sandbox without a network, and none of our files. Errors: FileBroken."""
    from tools.mcp.terms import Program, SandboxTerms, ServerTerms
    from tools.plugins.declared import spec_of

    given = settings.tools.folder_uid
    uid = (shell_of(settings).uid if given is None else given) or None
    if os.geteuid() == 0 and uid and (hidden := _closed(Path(sys.executable).resolve())):
        raise FileBroken(UNREACHABLE.format(file=file.path.name, uid=uid, folder=hidden))
    try:
        code = beside(file.path.parent)
    except OSError as error:
        raise FileBroken(f"{file.path.name}: {error.filename} beside it can't be read: {error.strerror}") from error
    own = settings.data_dir / SERVED_FOLDER / file.name
    program = Program(
        # The mark of its text stands there so that offers of another text aren't recalled.
        command=(sys.executable, "-I", "-m", "tools.plugins.host", f"{CODE}/{file.path.name}", file.mark),
        folder=own,
        env={"PATH": settings.chain.variables.get("PATH") or PATH},
        uid=uid,
        sandbox=SandboxTerms(tuple(secret_places(settings))),
        files={f"{CODE}/{name}": text for name, text in code.items()},
    )
    memory, title = own.with_suffix(".json"), f"file {file.path.name} of tools.d"
    return ServerTerms(name=file.name, way=program, memory=memory, title=title, make=spec_of)


def _closed(program: Path) -> Path | None:
    """The first folder on the way to a program that others can't enter."""
    return next((folder for folder in reversed(program.parents) if not folder.stat().st_mode & stat.S_IXOTH), None)


async def checked(settings: Settings) -> list[Checked]:
    """Each file of the folder, tried as a process would: side by side."""
    if settings.tools.folder is None:
        return []
    files = await asyncio.to_thread(files_in, settings.tools.folder)
    return list(await asyncio.gather(*(_tried(settings, file) for file in files)))


async def _tried(settings: Settings, file: ToolFile) -> Checked:
    if file.fault:
        return Checked(file, {}, file.fault)
    if settings.tools.trusted:
        try:
            return Checked(file, _specs(await asyncio.to_thread(tools_in, file.path)))
        except FileBroken as error:
            return Checked(file, {}, str(error))
    from tools.mcp.errors import NoServer
    from tools.mcp.offers import spec_of, taken
    from tools.mcp.server import opened
    from tools.plugins.declared import SERVED_MARGIN

    try:
        terms = terms_of(settings, file)
        async with opened(terms, START_PATIENCE) as (_, offers):
            kept, left_out = taken(offers, terms)
    except (NoServer, FileBroken) as error:
        return Checked(file, {}, str(error).rpartition("last words: error: ")[2])
    specs = {offer.name: spec_of(offer, terms) for offer in kept}
    as_declared = {name: replace(spec, timeout=spec.timeout - SERVED_MARGIN) for name, spec in specs.items()}
    return Checked(file, as_declared, "; ".join(left_out))


def _specs(tools: Mapping[str, Tool]) -> dict[str, ToolSpec]:
    return {name: tool.spec for name, tool in tools.items()}


class Unloaded:
    """A tool as its file declares it, for whoever only looks: nothing of the file was run."""

    def __init__(self, name: str, effect: Effect, file: Path) -> None:
        self.file = file
        self.spec = ToolSpec(name, f"A tool of {file}.", {"type": "object"}, effect)

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise ToolFailed("This tool isn't loaded.")

    def caution(self) -> str:
        return ""


def declared_tools(settings: Settings) -> dict[str, Tool]:
    """Tools that the files say they have, by name. Blocks."""
    files = files_in(settings.tools.folder) if settings.tools.folder else []
    return {name: Unloaded(name, effect, file.path) for file in files for name, effect in file.declared.items()}
