"""The tool that runs a WebAssembly module of the workspace."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Effect,
    Flow,
    Json,
    Reads,
    Space,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from tools.files.workspace import named, opened
from tools.kit.declare import tool
from tools.sandbox.shell import BOUND, MARGIN, OUTPUT_MAX_CHARS, told
from tools.sandbox.spaced import SpacedSandbox
from tools.wasm.runner import MODULE_MAX_BYTES, MODULES_AT_ONCE, ModuleCall, ModuleSandbox, WasmTerms

__all__ = ["WasmTerms", "wasm_tool"]

MODULE_ARGS_MAX: Final = 50
MODULE_ARGS_MAX_CHARS: Final = 20_000
GIVEN_MAX_CHARS: Final = 1_000_000
MODULE_FLOW: Final = Flow(Reads.FILES, "a module's output", writes="*")


def wasm_tool(terms: WasmTerms, space: Space) -> Tool:
    """The tool `wasm_run`. It exists also where wasmtime isn't installed; each call then says so."""
    places = asyncio.Semaphore(MODULES_AT_ONCE)

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        optional = [CardValue(name) for name in ("args",) if arguments.get(name)]
        text = [CardText("stdin")] if isinstance(arguments.get("stdin"), str) and arguments["stdin"] else []
        notes = map(CardNote, ("in this room's workspace", "no network"))
        return [CardValue("path"), *optional, *text, *notes]

    @tool(
        effect=Effect.DANGER,
        timeout=terms.timeout + 2 * MARGIN,
        output_bound=BOUND,
        card=card,
        seldom=True,
        flow=MODULE_FLOW,
    )
    async def wasm_run(
        path: Annotated[str, "A .wasm file of the workspace, with WASI preview 1."],
        context: ToolContext,
        args: Annotated[list[str], "Its arguments."] = [],  # noqa: B006 - a schema's default, never changed
        stdin: Annotated[str, "Its input."] = "",
    ) -> str:
        """Run a WebAssembly program of the workspace, which is its folder /; returns output and exit code."""
        _check(args, stdin)
        with module_at(context.workspace, path) as descriptor:
            call = ModuleCall(descriptor, (Path(path).name, *args), stdin)
            sandbox = SpacedSandbox(ModuleSandbox(terms, call, places), space)
            return told(await sandbox.run("", context.workspace, limit=OUTPUT_MAX_CHARS), terms.timeout)

    return wasm_run


def _check(args: Sequence[str], stdin: str) -> None:
    if len(args) > MODULE_ARGS_MAX or sum(map(len, args)) > MODULE_ARGS_MAX_CHARS or len(stdin) > GIVEN_MAX_CHARS:
        raise ToolRetry(
            f"At most {MODULE_ARGS_MAX} arguments, {MODULE_ARGS_MAX_CHARS:,} characters of them and {GIVEN_MAX_CHARS:,} of "
            "input; write more to a file. Nothing was run."
        )
    for text in args:
        try:
            if b"\0" not in text.encode():
                continue
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can express and UTF-8 cannot
            pass
        raise ToolRetry("The arguments are not valid text: a NUL or half a surrogate pair is in them. Nothing was run.")


@contextmanager
def module_at(workspace: Path, path: str) -> Iterator[int]:
    """A descriptor of the module. Errors: ToolFailed for what is no file, or too large."""
    with opened(workspace, path) as descriptor:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise ToolFailed(f"{named(path)} is not a regular file.")
        if about.st_size > MODULE_MAX_BYTES:
            raise ToolFailed(f"{named(path)} has more than {MODULE_MAX_BYTES >> 20} MiB.")
        yield descriptor
