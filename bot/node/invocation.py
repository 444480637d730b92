"""The command that started this program, so that the commands we print work as printed."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from shlex import quote
from typing import Final

PROGRAM: Final = "signalbox"
CONFIG: Final = "--config"
ENV: Final = "--env"
COMMANDS: Final = (
    *(
        "run",
        "serve",
        "reload",
        "service",
        "init",
        "onboard",
        "chat",
        "tui",
        "agents",
        "ask",
        "acp",
        "approvals",
        "grants",
        "outbox",
        "policy",
        "schedules",
        "tasks",
        "children",
        "workflows",
        "harness",
        "goals",
        "memory",
        "knowledge",
        "tools",
        "skills",
        "mcp",
        "login",
        "processes",
        "triggers",
        "hands",
        "people",
        "tokens",
        "secrets",
        "guard",
        "interceptors",
        "trace",
        "report",
        "context",
        "prompt",
        "models",
        "budgets",
    ),
    *(
        "config",
        "doctor",
        "nodes",
        "logs",
        "support",
        "audit",
        "events",
        "checkpoints",
        "feedback",
        "version",
        "migrate",
        "conversations",
        "backup",
        "restore",
    ),
)
EXTRA_NAMED: Final = re.compile(r"""pip install (['"])signalbox-bot\[(\w+)\]\1""")
CLONE: Final = Path(__file__).parents[2]
"""Where this program is, which is a clone if it has the file that packages are made by."""
PROGRAM_NAMED: Final = re.compile(rf"(?<![\w./-]){PROGRAM}(?= (?:{'|'.join(COMMANDS)})\b)")


def called(started_as: str | None = None) -> str:
    """The word or path that starts it: `signalbox` where the PATH leads to this very program."""
    given = sys.argv[0] if started_as is None else started_as
    if Path(given).name != PROGRAM:  # loaded in some other way, by people who know how
        return PROGRAM
    found = shutil.which(PROGRAM)
    return PROGRAM if found and Path(found).resolve() == Path(given).resolve() else given


def settings_file(given: Sequence[str] | None = None) -> str:
    """The settings file that this command was started with; "" for none."""
    return _value_of(CONFIG, given)


def _value_of(option: str, given: Sequence[str] | None = None) -> str:
    words = list(takewhile(lambda word: word != "--", sys.argv[1:] if given is None else given))
    whole = [word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")]
    apart = [after for word, after in pairwise(words) if word == option]
    return next(iter([*apart, *whole]), "")


def as_called(text: str, by: str | None = None) -> str:
    """`text`, with the commands in it as they work here: by this program, with these settings."""
    if by is None:
        files = [f" {option} {quote(file)}" for option in (CONFIG, ENV) if (file := _value_of(option))]
        by = called() + "".join(files)
    command, text = by, with_extras(text)
    return text if command == PROGRAM else PROGRAM_NAMED.sub(lambda _: command, text)


def with_extras(text: str, clone: Path = CLONE) -> str:
    """`text`, with extras as they are installed in a clone, where this runs from one: no registry has what stands there."""
    if EXTRA_NAMED.search(text) is None or not (clone / "pyproject.toml").is_file():
        return text
    pip, place = _near(Path(sys.executable).with_name("pip")), _near(clone)
    return EXTRA_NAMED.sub(lambda found: f'{quote(pip)} install --editable "{place}[{found[2]}]"', text)


def _near(path: Path) -> str:
    """`path` as somebody in this folder writes it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def for_strangers() -> str:
    """Name of the program for people on the page, who needn't know where it is installed."""
    command = called()
    return PROGRAM if Path(command).is_absolute() else command
