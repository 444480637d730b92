"""A file with tools, run: in this process where its owner trusts it, else in the child that serves it."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

from runtime.contract import Tool, ToolSpec
from runtime.errors import ToolError

PREFIX: Final = "signalbox_tools_d_"
"""Begins the names of such modules, so that none stands for a library."""


class FileBroken(ToolError):
    """A file can't be loaded; in words, with the line."""


def tools_in(path: Path) -> dict[str, Tool]:
    """Tools of the file, by name. Blocks. Errors: FileBroken."""
    module = _module(path)
    found = {tool.spec.name: tool for tool in _tools(module)}
    if not found:
        raise FileBroken(f"{path.name}: there's no tool in it. Put @tool() above a function.")
    return found


def line_of(error: BaseException, file: str) -> str:
    """The error with the last line of that file that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == file]
    at = f"{file}:{lines[-1]}" if lines else file
    words = " ".join(str(error).split())
    return f"{at}: {type(error).__name__}: {words}" if words else f"{at}: {type(error).__name__}"


def _module(path: Path) -> ModuleType:
    """The module, made anew each time."""
    spec = importlib.util.spec_from_file_location(f"{PREFIX}{path.stem}", path)
    if spec is None or spec.loader is None:
        raise FileBroken(f"{path.name}: it isn't a Python file")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent)
    sys.path.append(folder)  # last: no file there stands for a library
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - its owner's own code; no stale cache
    except Exception as error:
        raise FileBroken(line_of(error, path.name)) from error
    except SystemExit as error:
        raise FileBroken(f"{path.name}: it ends the process ({error})") from error
    finally:
        sys.path.remove(folder)
    return module


def _tools(module: ModuleType) -> Iterator[Tool]:
    for name, thing in vars(module).items():
        if not name.startswith("_") and isinstance(getattr(thing, "spec", None), ToolSpec):
            yield thing
