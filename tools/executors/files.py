"""Files that stand in for a model or for tools: their tables, checked. Errors name the table, and what it should be."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

CANNED_FILE_MAX_BYTES: Final = 4 << 20
NAMED_IN_BRACES: Final = re.compile(r"\{(\w+)\}")


class FileFault(Exception):
    """The file is of no use; the message says why, one fault a line."""


def read_tables(
    file: Path, name: str, others: Sequence[str] = ()
) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]:
    """Its tables `[[name]]`, and what else of `others` stands at its top. Errors: FileFault."""
    try:
        data = file.read_bytes()
        if len(data) > CANNED_FILE_MAX_BYTES:
            raise FileFault(f"{file} has more than {CANNED_FILE_MAX_BYTES >> 20} MiB")
        told = tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise FileFault(f"{file} can't be read ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileFault(f"{file} is no TOML ({error})") from None
    tables = told.pop(name, None)
    if unknown := sorted(told.keys() - set(others)):
        raise FileFault(f"{file}: {unknown[0]} means nothing there; it has tables [[{name}]]")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise FileFault(f"{file} has no tables [[{name}]]")
    return tables, told


def unknown_in(table: Mapping[str, Any], known: Sequence[str]) -> Iterator[str]:
    for key in sorted(table.keys() - set(known)):
        yield f"{key} means nothing there; there are {', '.join(known)}"


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """`value` with each `{name}` that is known put in; others stay as they are."""
    match value:
        case str():
            return NAMED_IN_BRACES.sub(lambda found: values.get(found[1], found[0]), value)
        case list():
            return [filled(one, values) for one in value]
        case dict():
            return {key: filled(one, values) for key, one in value.items()}
        case _:
            return value
