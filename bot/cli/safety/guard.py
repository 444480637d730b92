"""`signalbox guard`: what the leak guard finds in a text, or in the rows of an older version, and what becomes of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, place_of, settings_of
from bot.terminal.output import clean, show_json, show_rows, tell
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.settings.settings import Settings
    from bot.wiring.safety.gone import Gone
    from runtime.guard.findings import Gate
    from runtime.guard.guard import Checked

commands = typer.Typer(no_args_is_help=True, help="The leak guard: try it on a text, and clean old rows.")

FOUND: Final = ("table", "column", "found", "action", "stays")
SCAN_COLUMNS: Final = {"where": "Where", "rows": "Rows", "found": "Found", "note": "Note"}
KEPT_COLUMNS: Final = {"name": "Name", "mark": "Mark"}
FINDING_COLUMNS: Final = {"found": "Found", "detector": "By", "action": "What happens"}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="guard")


@commands.callback()
def guard() -> None:
    """The leak guard: try it on a text, and clean old rows."""


@commands.command("test")
def try_text(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from standard input.")],
    gate: Annotated[
        str, typer.Option("--gate", help="Where it flows: message_in, tool_arguments, tool_result, model_reply, …")
    ] = "message_in",
    room: Annotated[str, typer.Option("--room", help="Address of the room, as in rules.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what the leak guard finds in a text, and the text as it would go on. Signalbox needn't be running.

    A secret on the command line is visible to other users of the machine: pass it on standard input.
    """
    from bot.wiring.safety.guard import guard_of, key_of
    from bot.wiring.safety.kept import KeptValues

    settings = settings_of(context, config, with_secrets=True)
    key = key_of(settings.data_dir) if settings.data_dir.is_dir() else b""
    values = KeptValues(settings.data_dir, key).read() if key else []
    given = sys.stdin.read() if text == "-" else text
    where = _gate(gate)
    checked = guard_of(settings, key, values).check(given, where, place_of(room))
    if as_json:
        show_json({"text": checked.text, "withheld": checked.is_withheld, "findings": _rows(checked)})
        return
    show_rows(_rows(checked), FINDING_COLUMNS, empty="Nothing found.")
    if checked.findings:
        typer.echo(f"\n{clean(checked.text)}")
    for rule in settings.guard_rules:
        if rule.holds_elsewhere(given, where):
            tell(f'At another gate "{rule.name}" finds something: --gate {rule.gates[0]}.')


@commands.command()
def kept(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List values that were removed and are still looked for, by the names they had. The values are never shown."""
    from bot.node.lock import holder

    settings = settings_of(context, config, with_secrets=True)
    rows = [{"name": one.name, "mark": one.mark} for one in _gone(settings)]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, KEPT_COLUMNS, empty="Nothing to show: only values in use are looked for.")
        if rows and (pid := holder(settings.data_dir)):
            tell(f"Process {pid} may still use some of them, from variables that this terminal doesn't have.")


@commands.command()
def forget(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name or mark, as `signalbox guard kept` lists it.")],
    yes: Yes = False,
    config: ConfigFile = None,
) -> None:
    """Stop looking for a value that was removed. Do it once the value opens nothing any more."""
    from bot.node.lock import holder

    settings = settings_of(context, config, with_secrets=True)
    meant = [one for one in _gone(settings) if name in (one.name, one.mark)]
    if not meant:
        raise BotError(as_called(f"No removed value is kept as {name}. To see what is: signalbox guard kept"))
    ask_first(yes, f"Forget {name}: {len(meant)} value{'' if len(meant) == 1 else 's'}, for good")
    for one in meant:
        one.forget()
    typer.echo(f"{name} is forgotten.")
    if pid := holder(settings.data_dir):
        tell(f"Process {pid} still looks for it. Restart it.")


def _gone(settings: Settings) -> list[Gone]:
    from bot.wiring.safety.gone import gone_of

    if not settings.data_dir.is_dir():
        raise BotError(as_called(f"There is no {settings.data_dir} yet. The first start makes it: signalbox run"))
    return gone_of(settings)


@commands.command("scan")
def scan(
    context: typer.Context,
    redact: Annotated[bool, typer.Option("--redact", help="Put a mark in the place of each finding.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Look through all stored text for secrets that an older version kept. Ends with 1 if there are any.

    With --redact they are replaced, for good; the audit has a line about it.
    """
    from runtime.guard.findings import Strictness

    settings = settings_of(context, config)
    if redact:
        ask_first(yes, "Replace all that is found, which can't be undone")
    found = ask_operator(settings, lambda api: Scanning(api, redact).whole())
    if as_json:
        show_json(found)
    else:
        show_rows([_scanned(row, redact=redact) for row in found["findings"]], SCAN_COLUMNS, empty="Nothing found.")
        _tell_left(found, redact=redact)
    if settings.guard.secrets is Strictness.OFF:
        tell('Keys and tokens were not looked for: secrets is "off" in [guard].')
    if found["findings"] and not redact:
        raise typer.Exit(1)


class Scanning:
    """A scan of all tables, a page at a time."""

    def __init__(self, api: OperatorApi, redact: bool) -> None:
        self._api = api
        self._redact = redact
        self._told: Counter[tuple[str, ...]] = Counter()
        self._rows = self._redacted = 0

    async def whole(self) -> Mapping[str, Any]:
        from runtime.store.operations.text_columns import scanned_tables

        try:
            for table in scanned_tables():
                await self._table(table)
        finally:
            if self._redacted:  # also of a scan that is broken off
                await self._api.note_scan({"rows": self._rows, "redacted": self._redacted, "left": self._left})
        findings = [dict(zip(FOUND, told, strict=True)) | {"rows": rows} for told, rows in self._told.items()]
        return {"rows": self._rows, "redacted": self._redacted, "left": self._left, "findings": findings}

    async def _table(self, table: str) -> None:
        after = None
        while True:
            page = await self._api.scan_texts({"table": table, "after": after, "redact": self._redact})
            self._rows += page["rows"]
            self._redacted += page["redacted"]
            for one in page["findings"]:
                self._told[tuple(one[name] for name in FOUND)] += one["rows"]
            if (after := page["after"]) is None:
                return

    @property
    def _left(self) -> int:
        return sum(rows for told, rows in self._told.items() if told[FOUND.index("stays")])


def _scanned(row: Mapping[str, Any], *, redact: bool) -> Mapping[str, Any]:
    note = f"stays: {row['stays']}" if row["stays"] else "redacted" if redact else ""
    return {**row, "where": f"{row['table']}.{row['column']}", "note": note}


def _tell_left(found: Mapping[str, Any], *, redact: bool) -> None:
    if redact:
        tell(f"{found['rows']:,} rows looked at, {found['redacted']:,} redacted.")
        return
    tell(f"{found['rows']:,} rows looked at.")
    if any(not one["stays"] for one in found["findings"]):
        tell(as_called("To put marks in their place: signalbox guard scan --redact. Renew each key that was found."))


def _gate(name: str) -> Gate:
    from runtime.guard.findings import Gate

    try:
        return Gate(name)
    except ValueError:
        raise ConfigError(f"There is no gate {name!r}. There are: {', '.join(Gate)}.") from None


def _rows(checked: Checked) -> list[Mapping[str, Any]]:
    return [{"found": str(one), "detector": one.detector.value, "action": one.action.value} for one in checked.findings]
