"""Files with tools, as they lie in their folder: looked at without running a line of them."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runtime.contract import Effect

TOOL_FILE_MAX_BYTES: Final = 1024 * 1024
TOOL_FILES_MAX: Final = 50
TOOL_FILE_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}\.py")
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class ToolFile:
    """One file. `text` is what was read, `declared` its tools by name with the effects that it says they have.

    `fault` says why it isn't used, with the line where there is one; empty where nothing is wrong so far.
    """

    path: Path
    text: str = ""
    declared: Mapping[str, Effect] = field(default_factory=dict)
    fault: str = ""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def mark(self) -> str:
        """Another one when its text or its fault changed."""
        return hashlib.sha256(f"{self.text}\n{self.fault}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def files_in(folder: Path) -> list[ToolFile]:
    """Each file with tools, by name; those that begin with `_` are only for others to import. Blocks."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".py" and not path.name.startswith("_"))
    except FileNotFoundError:
        return []
    except OSError as error:
        return [ToolFile(folder, fault=f"the folder can't be read: {error.strerror}")]
    if why := _unsafe(folder):
        return [ToolFile(path, fault=why) for path in found]
    return [
        *map(_read, found[:TOOL_FILES_MAX]),
        *(ToolFile(path, fault=TOO_MANY_FILES) for path in found[TOOL_FILES_MAX:]),
    ]


TOO_MANY_FILES: Final = f"there are more than {TOOL_FILES_MAX} files; put several tools into one"


def beside(folder: Path) -> dict[str, str]:
    """Texts of the files there, by name: also those that only others import. Errors: OSError."""
    found = sorted(path for path in folder.glob("*.py") if path.is_file() and not _unsafe(path))
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in found[: 2 * TOOL_FILES_MAX]}


def _read(path: Path) -> ToolFile:
    if not TOOL_FILE_NAME.fullmatch(path.name):
        return ToolFile(path, fault="its name must be lowercase letters, digits and underscores, at most 40")
    if why := _unsafe(path):
        return ToolFile(path, fault=why)
    try:
        text = path.read_text(encoding="utf-8")
        return ToolFile(path, text, dict(_declared(ast.parse(text, path.name))))
    except SyntaxError as error:
        return ToolFile(path, text, fault=f"{path.name}:{error.lineno}: {error.msg}")
    except (RecursionError, MemoryError):
        return ToolFile(path, fault="it is nested too deep to be read")
    except (OSError, ValueError) as error:
        return ToolFile(path, fault=f"it can't be read: {error}")


def _unsafe(path: Path) -> str:
    """The reason why what stands there may not be run; empty where there is none."""
    try:
        told = path.lstat()
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    if stat.S_ISLNK(told.st_mode):
        return f"{path} is a link; put the file itself there"
    if not (stat.S_ISREG(told.st_mode) or stat.S_ISDIR(told.st_mode)):
        return f"{path} is no plain file"
    if told.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to another user; chown it to the one that runs Signalbox"
    if told.st_mode & OTHERS_WRITE:
        return f"others may write to {path}; run: chmod go-w {path}"
    if stat.S_ISREG(told.st_mode) and told.st_size > TOOL_FILE_MAX_BYTES:
        return f"it has more than {TOOL_FILE_MAX_BYTES:,} bytes"
    return ""


def _declared(tree: ast.Module) -> Iterator[tuple[str, Effect]]:
    """Functions under `@tool(…)`, with the effect that is written there; without one it's the worst."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((node.name, _effect(one)) for one in node.decorator_list if _is_tool(one))


def _is_tool(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "tool"


def _effect(decorator: ast.expr) -> Effect:
    given = decorator.keywords if isinstance(decorator, ast.Call) else []
    said = next((one.value for one in given if one.arg == "effect"), None)
    word = said.attr.lower() if isinstance(said, ast.Attribute) else ""
    return Effect(word) if word in set(Effect) else Effect.DANGER
