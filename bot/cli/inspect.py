"""Commands that look and change nothing: `budgets`, `context`, `prompt show`, `config`, `doctor`, `audit list`, `audit verify`, `version`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.cli.safety.audit_file import export_audit, verify_file
from bot.node.invocation import as_called
from bot.terminal.options import (
    AsJson,
    ConfigFile,
    ask_operator,
    asking,
    hide_secrets,
    mask_of,
    run,
    running_flags,
    settings_of,
)
from bot.terminal.output import clean, show_json, show_rows, tell

if TYPE_CHECKING:
    from bot.settings.settings import Settings
    from runtime.contract import Finding
    from runtime.errors import ConfigError
    from runtime.guard.masks import Mask

config_commands = typer.Typer(
    no_args_is_help=True, help="Settings: show those in effect, where each came from, and change one."
)
audit_commands = typer.Typer(no_args_is_help=True, help="The audit: read it, and verify that nobody changed it.")
prompt_commands = typer.Typer(no_args_is_help=True, help="Prompts: show what a model would be sent.")
Room = Annotated[str, typer.Argument(metavar="ROOM", help="Its name, as #general, or its address.")]
OfRoom = Annotated[str, typer.Option("--room", metavar="ROOM", help="Its name, as #general, or its address.")]
OfAgent = Annotated[
    str, typer.Option("--agent", metavar="NAME", help="Name of the agent. Default: the one in the settings.")
]
SettingName = Annotated[
    str, typer.Argument(metavar="NAME", help="As `config show` writes it, such as budgets.day or policy[1].result.")
]
SettingValue = Annotated[
    str,
    typer.Argument(
        metavar="VALUE",
        help="A text, a number, true or false; lists and tables as TOML writes them. A single - reads it from the input.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
MARK_OF_LEVEL: Final = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "error": ("ERROR", "red")}
BUDGET_COLUMNS: Final = {
    "budget": "Budget",
    "whose": "Of",
    "used": "Used",
    "under_way": "Under way",
    "left": "Left",
    "limit": "Limit",
    "state": "State",
    "ends_at": "Starts again",
}
AUDIT_COLUMNS: Final = {
    "number": "Row",
    "at": "When",
    "kind": "What",
    "who": "Who",
    "about": "About",
    "detail": "Details",
}
NO_BUDGET: Final = (
    "No budget is in effect. To set one: signalbox config set budgets.day 5, and a restart; see docs/models.md."
)
INDENT: Final = " " * 24  # below what was found


def add_to(cli: typer.Typer) -> None:
    cli.command()(context)
    cli.command()(budgets)
    cli.add_typer(prompt_commands, name="prompt")
    cli.add_typer(config_commands, name="config")
    cli.command()(doctor)
    cli.add_typer(audit_commands, name="audit")
    cli.command()(version)


def context(
    context: typer.Context, room: Room, agent: OfAgent = "", as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Show how full the model's window is for the next message in a room, and what was condensed there."""
    told = ask_operator(settings_of(context, config), lambda api: api.context(room, agent))
    if as_json:
        show_json(told)
        return
    for line in _sizes(told):
        typer.echo(clean(line))


def budgets(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the budgets that are set, what is left of each, and when it starts again."""
    told = ask_operator(settings_of(context, config), lambda api: api.budgets())
    if as_json:
        show_json(told)
        return
    show_rows([_budget(row) for row in told], BUDGET_COLUMNS, empty=NO_BUDGET)
    if calls := max((row["unpriced_calls"] for row in told), default=0):
        tell(f"{calls:,} calls had no known price and are missing here. Set input_price and output_price.")


def _budget(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Its sums in their unit."""
    sign = "" if row["budget"].endswith("_hour") else "$"
    digits = ",.0f" if not sign else ",.2f"
    sums = {name: f"{sign}{row[name]:{digits}}" for name in ("limit", "used", "under_way", "left")}
    return {**row, **sums}


@prompt_commands.command("show")
def show_prompt(
    context: typer.Context, room: OfRoom, agent: OfAgent = "", as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Print exactly what would be sent to the model for the next message in a room, without sending it."""
    told = ask_operator(settings_of(context, config), lambda api: api.prompt(room, agent))
    if as_json:
        show_json(told)
        return
    for line in (*_sizes(told), "", *_request(told)):
        typer.echo(clean(line))


def _sizes(told: Mapping[str, Any]) -> Iterator[str]:
    """Lines on the window, part by part."""
    from runtime.chat.views.context import SOURCES, STEPS
    from runtime.chat.window_shares import beyond

    yield f"{told['room']}: {told['model']}, a window of {told['window']:,} tokens ({SOURCES[told['source']]})"
    over = beyond({part["name"]: part["tokens"] for part in told["partitions"]}, told["window"])
    for part in (*told["partitions"], {**told, "name": "total"}):
        share = f"  more than its share of {over[part['name']]:.0%}" if part["name"] in over else ""
        yield f"  {part['name']:<10} {part['tokens']:>9,} tokens {part['percent']:>6.2f}%{share}"
    how = STEPS.get(told["condensed"], "all of it")
    yield f"The conversation has {told['turns']:,} turns. What is sent: {how}."
    yield _condensed(told["summaries"])


def _condensed(summaries: Sequence[Mapping[str, Any]]) -> str:
    if not summaries:
        return "There is no summary yet."
    newest = summaries[0]
    return (
        f"Summaries: {len(summaries):,}. The newest, {newest['at']} ({newest['kind']}): {newest['turns']:,} turns, "
        f"{newest['tokens_before']:,} tokens before and {newest['tokens_after']:,} after."
    )


def _request(told: Mapping[str, Any]) -> Iterator[str]:
    """The request as text, part by part, in the order in which it is sent."""
    for name in (part["name"] for part in told["partitions"]):
        if name == "history":
            yield from _messages(told["messages"])
        elif text := told["texts"].get(name):
            yield from (f"--- {name}", text, "")
    yield f"--- tools: {len(told['tools'])}"
    yield from (f"{tool['name']} ({tool['effect']}, {tool['tokens']:,} tokens)" for tool in told["tools"])


def _messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for turn in messages:
        yield from (f"--- {' '.join(filter(None, [turn['role'], turn.get('author'), turn.get('tool')]))}", turn["text"])
        yield from (f"[calls {call['tool']} {call['arguments']}]" for call in turn.get("calls", ()))
        yield from (f"[file {path}]" for path in turn.get("files", ()))
        yield ""


@config_commands.command("show")
def show(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """All settings as they are in effect, secrets masked, and where each came from.

    While a process runs, the flags that it was started with count, too.
    """
    settings = _at_work(context, config)
    for fault in settings.chain.skipped:
        tell(f"A sealed file is skipped: {fault}")
    if as_json:
        show_json(settings.shown())
        return
    typer.echo(f"# {settings.file or 'no settings file'}")
    for name, value in _leaves(settings.shown()):
        typer.echo(f"{name} = {clean(_toml(value))}  # {settings.source(name)}")


@config_commands.command("get")
def get(context: typer.Context, name: SettingName, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Print one setting as it is in effect, a secret masked, or a table of them. Flags of a running process count, too."""
    from bot.settings.editing.values import SETTING_NAME
    from bot.settings.sources import value_at

    settings = _at_work(context, config)
    shown = settings.shown()
    found = value_at(shown, name) if SETTING_NAME.fullmatch(name) else None
    if found is None and not _is_there(shown, name):
        from runtime.errors import ConfigError

        raise ConfigError(f"There is no setting {name}. See: {as_called('signalbox config show')}")
    if as_json:
        show_json(found)
    elif isinstance(found, dict):
        for inner, value in _leaves(found, f"{name}."):
            typer.echo(f"{inner} = {clean(_toml(value))}  # {settings.source(inner)}")
    else:
        typer.echo(f"{clean(_toml(found))}  # {settings.source(name)}")


@config_commands.command("set")
def set_(
    context: typer.Context, name: SettingName, value: SettingValue, dry_run: DryRun = False, config: ConfigFile = None
) -> None:
    """Change one setting in the settings file, with its comments kept, and have a running Signalbox take it over.

    Shows the change of the file first. Whoever has the file may change each setting, also those that the page only shows; it's checked as at a start, and
    the audit has who did it.
    """
    from bot.cli.support.setting import change_setting, given_value

    settings = settings_of(context, config)
    change_setting(settings, name, given_value(name, value), mask_of(context), dry_run=dry_run)


@config_commands.command("unset")
def unset(context: typer.Context, name: SettingName, dry_run: DryRun = False, config: ConfigFile = None) -> None:
    """Take one setting out of the settings file, so that its default holds."""
    from bot.cli.support.setting import change_setting

    change_setting(settings_of(context, config), name, None, mask_of(context), dry_run=dry_run)


def _at_work(context: typer.Context, config: Path | None) -> Settings:
    """Settings with the flags of the running process, which no file has."""
    return settings_of(context, config, running_flags(settings_of(context, config)), with_secrets=True)


def _is_there(shown: Mapping[str, Any], name: str) -> bool:
    """True for a setting without a value."""
    from bot.settings.sources import value_at

    table, _, key = name.rpartition(".")
    holder = value_at(shown, table) if table else shown
    return isinstance(holder, Mapping) and key in holder


def doctor(
    context: typer.Context,
    as_json: AsJson = False,
    model: Annotated[
        bool, typer.Option("--model", help="Also ask the model for one word, which costs a few tokens.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Check that everything is in order, and say how to fix what isn't. Changes nothing.

    Works whether or not Signalbox is running. Exit code: 0 fine or only warnings, 1 something is wrong.
    """
    from bot.doctor.examine import is_healthy
    from bot.node.version import VERSION
    from bot.settings.settings import load_usable
    from bot.telemetry import logs

    given = config or context.find_root().obj
    settings, faults = load_usable(given, ask=asking())
    if flags := running_flags(settings):
        settings, faults = load_usable(given, flags, ask=asking())
    mask = hide_secrets(settings)
    logs.configure("error", settings.log.format, settings.secret_values())  # the findings tell; servers and stores log
    shown = run(_look(settings, faults, mask, live=model, show=not as_json))
    healthy = is_healthy(shown)
    if as_json:
        show_json({"version": VERSION, "healthy": healthy, "findings": [asdict(finding) for finding in shown]})
    raise typer.Exit(0 if healthy else 1)


async def _look(settings: Settings, faults: ConfigError | None, mask: Mask, *, live: bool, show: bool) -> list[Finding]:
    """All findings, without secrets; printed as they are made."""
    from bot.doctor.examine import examine

    found: list[Finding] = []
    async for finding in examine(settings, faults, live=live):
        what, why, fix = (as_called(mask(words)) for words in (finding.what, finding.why, finding.fix))
        safe = replace(finding, what=what, why=why, fix=fix)
        found.append(safe)
        if show:
            _print(safe)
    return found


@audit_commands.command("list")
def list_audit(
    context: typer.Context,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help='Only rows of this kind, such as "leak guard".')
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 20,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the newest rows of the audit: who did what, about what."""
    rows = ask_operator(settings_of(context, config), lambda api: api.audit(kind, limit))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, AUDIT_COLUMNS, empty="The audit has no such row.")


audit_commands.command("export")(export_audit)


@audit_commands.command()
def verify(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="An exported audit; Signalbox isn't asked then.")
    ] = None,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="The public key that must have signed it.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Check that no row of the audit was changed, removed or added. Names the first bad row."""
    if file:
        verify_file(file, key)
        return
    told = ask_operator(settings_of(context, config), lambda api: api.verify_audit())
    if as_json:
        show_json(told)
    elif told["whole"]:
        typer.echo(f"The audit chain is intact: {told['rows']} rows.{_beside(told)}")
        if told.get("keys"):
            typer.echo(f"Public key of its signatures: {told['keys'][0]}")
    else:
        typer.echo(f"The audit chain is broken at {told['fault']}.", err=True)
    raise typer.Exit(0 if told["whole"] else 1)


def _beside(told: Mapping[str, Any]) -> str:
    """Rows that today's chain does not cover, in words."""
    removed = f" The {told['removed']} before them were removed because of their age, under a signed checkpoint."
    unsealed = f" {told['unsealed']} more are not sealed yet."
    return (removed if told["removed"] else "") + (unsealed if told["unsealed"] else "")


def version() -> None:
    """Print the version."""
    from bot.node.version import VERSION

    typer.echo(f"signalbox {VERSION}")


def _print(finding: Finding) -> None:
    mark, colour = MARK_OF_LEVEL[finding.level]
    group = _group(finding.id)
    what = clean(finding.what).replace("\n", f"\n{INDENT}")
    typer.echo(f"{typer.style(f'{mark:<7}', fg=colour)}  {group:<13}  {what}")
    if finding.why:
        typer.echo(f"{INDENT}{clean(finding.why)}\n{INDENT}To fix it: {clean(finding.fix)}")


def _group(ident: str) -> str:
    """Subject of a finding: of accounts with their names."""
    from bot.plugins.channels import known_channels

    first, *rest = ident.split(".")
    return ".".join([first, *rest[:1]]) if first in known_channels() else first


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        match value:
            case dict():
                yield from _leaves(value, f"{above}{name}.")
            case [{"channel": _}, *_]:
                for number, table in enumerate(value, 1):
                    yield from _leaves(table, f"{above}{name}[{number}].")
            case _:
                yield above + name, value


def _toml(value: object) -> str:
    import json

    return '""' if value is None else json.dumps(value, ensure_ascii=False)
