"""Files of agents that we write ourselves."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

AGENT_FILE_HEAD: Final = "# {by}. docs/agents.md explains each setting; what is left out is as with the main agent.\n"


def toml_of(table: Mapping[str, object], by: str) -> str:
    """The file of an agent, which begins with `by`: words on who made it. Its name is the file's."""
    lines = [f"{key} = {_value(value)}\n" for key, value in table.items() if key != "name"]
    return "".join([AGENT_FILE_HEAD.format(by=" ".join(by.split())), *lines])


def _value(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        block = '"""\n' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
        if _reads_as(block, value):
            return block
    # JSON's strings, numbers and lists are TOML's too, but for one sign.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _reads_as(written: str, value: str) -> bool:
    """True unless a control sign must be written otherwise."""
    try:
        return bool(tomllib.loads(f"it = {written}")["it"] == value)
    except tomllib.TOMLDecodeError:
        return False


def write_new(file: Path, text: str) -> None:
    """Write a file whole, or not at all: half of one would be a fault of the settings at the next start.

    Errors: OSError, also FileExistsError where somebody's words are there.
    """
    file.parent.mkdir(exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    try:
        draft.write_text(text, encoding="utf-8")
        os.link(draft, file)
    finally:
        draft.unlink(missing_ok=True)
