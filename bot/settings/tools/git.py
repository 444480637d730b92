"""`[[git]]`: servers of git that agents may clone from, pull from and push to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from bot.settings.mcp import is_open_to_all
from runtime.settings.types import Secret, Section, Text, is_http_address

if TYPE_CHECKING:
    from bot.settings.sources import Layers

STEPS_LEADING_OUT: Final = frozenset({"..", "."})


def _base(url: str) -> str:
    parts = urlsplit(url) if is_http_address(url) else None
    is_plain = parts and parts.username is None and not parts.query and not parts.fragment and "%" not in parts.path
    if not parts or not is_plain or STEPS_LEADING_OUT & set(parts.path.split("/")):
        raise ValueError('an address with which those of repositories begin, such as "https://git.example.org/team"')
    return url.rstrip("/")


class GitTable(Section):
    """A git server, or a part of one, that agents may clone from, pull from and push to: [git.md](git.md)."""

    url: Annotated[str, AfterValidator(_base)] = Field(
        description="Address with which those of its repositories begin. Only these are opened, and only they get its token."
    )
    user: Text = Field(default="git", description="Name to log in with; most servers only look at the token.")
    token: Secret = Field(
        default=None, description="Token to log in with. Without one, only public repositories are read."
    )
    token_env: str = Field(default="", description="Name of the variable or sealed secret that holds `token`.")


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Servers that are named twice, and tokens that others could read on the way."""
    first: dict[Any, str] = {}
    for place, table in layers.tables("git"):
        url = table.get("url")
        if not isinstance(url, str):
            continue
        if (known := url.rstrip("/")) in first:
            yield f"{place}.url", f"{first[known]} has this address too; keep one of them"
        first.setdefault(known, place)
        if is_open_to_all(url) and (table.get("token") or table.get("token_env")):
            yield f"{place}.url", "its token could be read on the way to another machine; use https://"
