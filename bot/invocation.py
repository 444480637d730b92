"""How this program is called where it was started, so that the commands we tell people work as they are printed."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

NAME: Final = "signalbox"
COMMANDS: Final = (
    *(
        "run",
        "reload",
        "init",
        "chat",
        "ask",
        "approvals",
        "outbox",
        "schedules",
        "people",
        "secrets",
        "trace",
        "report",
    ),
    *("config", "doctor", "audit", "version", "backup", "restore"),
)
TOLD: Final = re.compile(rf"(?<![\w./-]){NAME}(?= (?:{'|'.join(COMMANDS)})\b)")


def called(started_as: str | None = None) -> str:
    """The word or path that starts it: `signalbox` where the PATH leads to this very program."""
    given = sys.argv[0] if started_as is None else started_as
    if Path(given).name != NAME:  # loaded in some other way, by people who know how
        return NAME
    found = shutil.which(NAME)
    return NAME if found and Path(found).resolve() == Path(given).resolve() else given


def as_called(text: str, by: str | None = None) -> str:
    """`text`, with the commands in it as they work here."""
    command = called() if by is None else by
    return text if command == NAME else TOLD.sub(lambda _: command, text)


def for_strangers() -> str:
    """The same for those who only see the page: where it is installed is none of their business."""
    command = called()
    return NAME if Path(command).is_absolute() else command
