"""The command by which a service starts this very program, and programs of the system that it asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final

from bot.node.invocation import PROGRAM
from runtime.errors import BotError

ASKED_SECONDS: Final = 30.0


def program() -> list[str]:
    """The words that start us, wherever from."""
    started_as = Path(sys.argv[0])
    if started_as.name == PROGRAM:
        found = started_as if started_as.is_absolute() or started_as.parent != Path() else Path(which(PROGRAM) or "")
        if found.is_file():
            return [str(found.absolute())]
    return [sys.executable, "-m", "bot"]


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer of a program of the system."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        return " ".join((self.err or self.out).split())


def ask(command: Sequence[str], within: float = ASKED_SECONDS) -> Answered:
    """Run a program of the system to its end. Errors: BotError where it isn't there, or takes too long."""
    try:
        told = subprocess.run(  # noqa: S603 - words of ours, and names that were checked
            list(command), capture_output=True, text=True, timeout=within, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise BotError(f"There is no program {command[0]} here.") from None
    except subprocess.TimeoutExpired:
        raise Unanswered(f"{' '.join(command)} gave no answer within {within:g} s.") from None
    return Answered(told.returncode, told.stdout, told.stderr)


class Unanswered(BotError):
    """A program of the system takes longer than we wait."""
