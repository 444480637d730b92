"""The bots whose folders can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Final

from bot.migration.found import Found
from bot.migration.home import Home
from runtime.errors import ConfigError

Read = Callable[[Home, datetime], Found]


@dataclass(frozen=True, slots=True)
class Format:
    """A bot: the folder it usually has, and the file that tells its folder."""

    word: str
    program: str
    usual: str
    marks: tuple[str, ...]

    def read(self, home: Home, now: datetime) -> Found:
        """Errors: ConfigError, also for a folder of something else."""
        if not any(home.has(mark) for mark in self.marks):
            what = " or ".join(self.marks)
            raise ConfigError(
                f"{home.root}: no folder of {self.program}, since there is no {what} in it. It is usually {self.usual}."
            )
        read: Read = import_module(f"bot.migration.formats.{self.word}").read
        return read(home, now)


FORMATS: Final[Mapping[str, Format]] = {
    one.word: one
    for one in (
        Format("openclaw", "OpenClaw", "~/.openclaw", ("openclaw.json",)),
        Format("hermes", "Hermes Agent", "~/.hermes", ("config.yaml",)),
        Format("nanobot", "nanobot", "~/.nanobot", ("config.json",)),
        Format("langbot", "LangBot", "the folder in which it was started", ("data/langbot.db", "langbot.db")),
    )
}


def format_named(word: str) -> Format:
    """Errors: ConfigError names those that there are."""
    if word not in FORMATS:
        raise ConfigError(f"{word!r}: no bot whose folder can be read. There are {', '.join(FORMATS)}.")
    return FORMATS[word]
