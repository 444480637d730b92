"""A compose file with its variables put in, as `docker compose config` would print it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import yaml

VARIABLE: Final = re.compile(r"\$\{(?P<name>\w+):-(?P<default>[^}]*)\}")
SECONDS: Final = {"s": 1, "m": 60}


def read(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = _filled(yaml.safe_load(path.read_text()), variables)
    return found


def span(text: str) -> timedelta:
    return timedelta(seconds=int(text[:-1]) * SECONDS[text[-1]])


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {key: _filled(below, variables) for key, below in value.items()}
        case list():
            return [_filled(below, variables) for below in value]
        case str():
            text = VARIABLE.sub(lambda found: variables.get(found["name"]) or found["default"], value)
            assert "$" not in text, f"a form that is not known here: {value}"
            return text
        case _:
            return value
