"""`signalbox audit export FILE`, and the check of such a file by whoever has the public key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.terminal.options import ConfigFile, ask_operator, settings_of
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from runtime.store.protocol import AuditRow

FILE_MODE: Final = 0o600


def export_audit(
    context: typer.Context,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A file that isn't there yet.")],
    config: ConfigFile = None,
) -> None:
    """Write the audit into a file that others can verify: with its signed head and the public key. Needs an owner.

    Whoever checks it with `audit verify --file` needs no key of yours, and can't sign another one.
    """
    settings = settings_of(context, config)
    rows, key = ask_operator(settings, lambda api: _exported(api, to))
    typer.echo(f"{to} holds {rows:,} rows, signed with the key {key}")


def fresh_file(to: Path, how: str, **more: Any) -> IO[Any]:
    """A file that was not there, for its owner alone. Errors: ConfigError where it was."""
    try:
        to.touch(mode=FILE_MODE, exist_ok=False)
    except FileExistsError:
        raise ConfigError(f"{to} already exists. Name another file.") from None
    return to.open(how, **more)


async def _exported(api: OperatorApi, to: Path) -> tuple[int, str]:
    after, count, key = 0, 0, ""
    with fresh_file(to, "w", encoding="utf-8") as file:
        while True:
            page = await api.export_audit({"after": after})
            if page["signed"]:
                key = page["signed"]["key"]
                file.write(json.dumps(page["signed"]) + "\n")
            file.writelines(json.dumps(row) + "\n" for row in page["rows"])
            count += len(page["rows"])
            if page["after"] is None:
                return count, key
            after = page["after"]


def verify_file(path: Path, key: str) -> None:
    """Check an exported audit; ends with 1 where it isn't whole. Errors: ConfigError for what is none."""
    from runtime.audit.exported import ends_of, fault_of

    try:
        with path.open(encoding="utf-8") as file:
            ends = ends_of(file.readline())
        if key and key != ends.key:
            raise ConfigError(f"{path} was signed with another key: {ends.key}")
        fault, rows = fault_of(ends, _rows(path), _rows(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is no exported audit: {error}") from error
    if fault:
        typer.echo(f"The exported audit is broken at {fault}.", err=True)
        raise typer.Exit(1)
    typer.echo(f"The exported audit is intact: {rows:,} rows, signed with the key {ends.key}")
    if not key:
        typer.echo("Compare that key with the one that its installation shows: signalbox audit verify")


def _rows(path: Path) -> Iterator[AuditRow]:
    from runtime.audit.exported import row_of

    with path.open(encoding="utf-8") as file:
        file.readline()
        yield from map(row_of, file)
