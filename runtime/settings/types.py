"""Types of settings: they check a value and say in words what they want instead."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    Strict,
    StringConstraints,
    ValidationInfo,
)

SHORTEST_PROOF: Final = 16
"""Characters of a secret that nobody guesses over a network."""


def beside_file(path: Path, info: ValidationInfo) -> Path:
    """Relative paths start at the folder of the settings file, or at the working folder without one."""
    folder: Path = (info.context or {}).get("folder", Path())
    return (folder / path.expanduser()).absolute()


def _readable(path: Path) -> Path:
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"a readable text file; {path} is none ({why})") from None
    return path


def _given(value: object) -> object:
    """An empty secret is no secret: deployments often set a variable to nothing."""
    return None if value == "" else value


def _long(value: SecretStr | None) -> SecretStr | None:
    if value and len(value.get_secret_value()) < SHORTEST_PROOF:
        raise ValueError(f"at least {SHORTEST_PROOF} characters; make one with: openssl rand -hex 32")
    return value


def is_http_address(url: str) -> bool:
    """True if this is a whole address that HTTP can ask: with a host, and with a port that there is."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


def _public(url: str) -> str:
    """Without the slash at its end: a path follows."""
    if not url:
        return url
    parts = urlsplit(url) if is_http_address(url) and url.isprintable() and url.isascii() and " " not in url else None
    if not parts or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(
            'where browsers reach the page, with nothing after the host, such as "https://bot.example.org"'
        )
    return url.rstrip("/")


Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Switch = Annotated[bool, Strict()]
Text = Annotated[str, StringConstraints(min_length=1)]
Place = Annotated[Path, AfterValidator(beside_file)]
TextFile = Annotated[Path, AfterValidator(beside_file), AfterValidator(_readable)]
Secret = Annotated[SecretStr | None, BeforeValidator(_given)]
Proof = Annotated[Secret, AfterValidator(_long)]
"""A secret that others must show us before they are let in."""
PublicUrl = Annotated[str, AfterValidator(_public)]
IdentityName = Annotated[str, StringConstraints(pattern=r"^[a-z]+:\S+$")]


class Section(BaseModel):
    """A table of the settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, hide_input_in_errors=True)
