"""Draft made of the answers: settings, secrets and the first person. Nothing of it is on the disk yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot.secrets.chain import SEALED
from bot.secrets.keys import Keyring
from bot.wizard.presets.presets import Preset

HEAD: Final = """\
# Settings of Signalbox, made by `signalbox init`. What is left out keeps its default: `signalbox config show` prints
# everything. No secret belongs in here: signalbox secrets set NAME
"""


@dataclass(frozen=True, slots=True)
class Flags:
    """Answers that were given on the command line."""

    model: str | None = None
    api_base: str | None = None
    key_env: str | None = None
    key: str | None = field(default=None, repr=False)
    data_dir: str | None = None
    database_url: str | None = field(default=None, repr=False)
    owner: str | None = None
    port: int | None = None
    key_file: bool = False
    try_model: bool = True
    channels: tuple[str, ...] = ()
    servers: Mapping[str, str] = field(default_factory=dict)
    """Addresses in place of the platforms' own, by channel."""
    try_channels: bool = True
    preset: Preset | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A secret to seal, and the setting that it is for."""

    value: str = field(repr=False)
    setting: str


Table = dict[str, tuple[object, str]]
"""A table of the settings file: each value with a comment, which may be empty."""


@dataclass
class Draft:
    """Steps fill it in. `settings` are by dotted name, with a comment each; only what differs from the defaults.

    `secrets` are by the name under which they are sealed.
    """

    flags: Flags
    file: Path
    variables: Mapping[str, str]
    keyring: Keyring
    settings: dict[str, tuple[object, str]] = field(default_factory=dict)
    secrets: dict[str, Kept] = field(default_factory=dict)
    accounts: list[Table] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """Channels that the person did without."""
    owner: str = ""
    said: dict[str, str] = field(default_factory=dict)
    """What was answered before: offered again when a step is repeated."""

    def set(self, name: str, value: object, comment: str = "") -> None:
        self.settings[name] = (value, comment)

    def forget(self, *settings: str) -> None:
        """Take back an answer: the settings that begin so, and their secrets."""
        for name in [name for name in self.settings if name.startswith(settings)]:
            del self.settings[name]
        for name in [name for name, kept in self.secrets.items() if kept.setting.startswith(settings)]:
            del self.secrets[name]

    @property
    def data_dir(self) -> Path:
        given = str(self.settings.get("data_dir", ("var", ""))[0])
        return (self.file.parent / Path(given).expanduser()).absolute()

    @property
    def sealed(self) -> Path:
        return self.data_dir / SEALED

    @property
    def database_url(self) -> str:
        """Database in which people are kept."""
        sealed = [kept.value for kept in self.secrets.values() if kept.setting == "database_url"]
        given = str(self.settings.get("database_url", ("", ""))[0])
        return next(iter(sealed), given or f"sqlite:///{self.data_dir / 'signalbox.db'}")

    def toml(self) -> str:
        """The settings file."""
        tables: dict[str, list[str]] = {"": []}
        for name, (value, comment) in self.settings.items():
            table, _, key = name.rpartition(".")
            tables.setdefault(table, []).append(_line(key, value, comment))
        accounts = [_table("[accounts]", [_line(k, *value) for k, value in table.items()]) for table in self.accounts]
        more = [self.flags.preset.settings] if self.flags.preset else []
        return "\n".join([HEAD, *(_table(name, lines) for name, lines in tables.items() if lines), *accounts, *more])


def _table(name: str, lines: list[str]) -> str:
    return "\n".join([*([f"[{name}]"] if name else []), *lines, ""])


def _line(key: str, value: object, comment: str) -> str:
    # JSON's strings and numbers are TOML's too.
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    return f"{line:<36}  # {comment}" if comment else line
