"""`[[databases]]`: databases that agents may ask."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo

from bot.settings.faults import nearest
from bot.settings.sources import Layers
from runtime.domain.agents.manifest import MAIN
from runtime.settings.accounts import AccountName
from runtime.settings.types import Number, Secret, Section, Text, Whole, beside_file

SQLITE: Final = "sqlite:///"
POSTGRESQL: Final = "postgresql://"
ROWS_MAX: Final = 10_000
SECONDS_MAX: Final = 240


def _asked(url: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
    text = url.get_secret_value() if url else ""
    if text.startswith(SQLITE) and text != SQLITE:
        return SecretStr(f"{SQLITE}{beside_file(Path(text.removeprefix(SQLITE)), info)}")
    if url is None or (text.startswith(POSTGRESQL) and urlsplit(text).hostname):
        return url
    raise ValueError("sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")


class DatabaseTable(Section):
    """A database that agents ask, read-only: [databases.md](databases.md)."""

    name: AccountName = Field(description="What it is called: lowercase letters, digits and dashes.")
    url: Annotated[Secret, AfterValidator(_asked)] = Field(
        default=None,
        description='"postgresql://USER:PASSWORD@HOST/NAME", of a role that only reads, or "sqlite:///FILE".',
    )
    url_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `url`, where it has a password."
    )
    max_rows: Whole = Field(default=1_000, ge=1, le=ROWS_MAX, description="Most rows of one answer.")
    seconds: Number = Field(
        default=10, ge=1, le=SECONDS_MAX, description="Longest time of one question; then it's stopped."
    )
    agents: tuple[Text, ...] = Field(default=("*",), description="Agents that may ask it, by name or glob.")
    rooms: tuple[Text, ...] = Field(
        default=("*",), description='Rooms where they may, as addresses or globs such as "slack:work/C-OPS*".'
    )

    @property
    def time(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    @property
    def address(self) -> str:
        return self.url.get_secret_value() if self.url else ""


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Databases without an address, and those for agents that aren't there."""
    agents = [MAIN, *(str(agent.get("name")) for _, agent in layers.tables("agents"))]
    for place, table in layers.tables("databases"):
        if not table.get("url") and not table.get("url_env"):
            yield f"{place}.url", "is missing; set it, or url_env to the variable or sealed secret that holds it"
        yield from _nobodys(place, table, agents)


def _nobodys(place: str, table: Mapping[str, Any], agents: Collection[str]) -> Iterator[tuple[str, str]]:
    given = table.get("agents")
    for glob in given if isinstance(given, list) else ():
        if isinstance(glob, str) and not fnmatch.filter(agents, glob):
            near = nearest(glob, agents)
            yield (
                f"{place}.agents",
                f'"{glob}" names no agent; {f"did you mean {near}?" if near else "there are: " + ", ".join(agents)}',
            )
