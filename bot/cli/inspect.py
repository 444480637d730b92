"""Commands that look and change nothing: `config show`, `doctor`, `audit verify`, `version`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import typer

from bot.cli.options import AsJson, ConfigFile, ask_office, run, settings_of
from bot.cli.output import clean, show_json, tell

if TYPE_CHECKING:
    from bot.doctor import Finding

config_commands = typer.Typer(no_args_is_help=True, help="Settings.")
audit_commands = typer.Typer(no_args_is_help=True, help="The audit chain.")
MARKS: Final = {"ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(config_commands, name="config")
    cli.command()(doctor)
    cli.add_typer(audit_commands, name="audit")
    cli.command()(version)


@config_commands.command("show")
def show(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """All settings as they are in effect, secrets masked, and where each came from."""
    settings = settings_of(context, config, with_secrets=True)
    for fault in settings.chain.skipped:
        tell(f"A sealed file is skipped: {fault}")
    if as_json:
        show_json(settings.shown())
        return
    typer.echo(f"# {settings.file or 'no settings file'}")
    for name, value in _leaves(settings.shown()):
        typer.echo(f"{name} = {clean(_toml(value))}  # {settings.source(name)}")


def doctor(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Check that everything is in order, and say how to mend what is not."""
    settings = settings_of(context, config)
    from dataclasses import asdict

    from bot.doctor import examine, is_healthy

    async def look() -> list[Finding]:
        found = []
        async for finding in examine(settings):
            found.append(finding)
            if not as_json:
                _print(finding)
        return found

    findings = run(look())
    if as_json:
        show_json([asdict(finding) for finding in findings])
    raise typer.Exit(0 if is_healthy(findings) else 1)


@audit_commands.command()
def verify(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Check that no row of the audit was changed, removed or added. Names the first bad row."""
    told = ask_office(settings_of(context, config), lambda office: office.verify_audit())
    if as_json:
        show_json(told)
    elif told["whole"]:
        typer.echo(f"The audit chain is whole: {told['rows']} rows.{_beside(told)}")
    else:
        typer.echo(f"The audit chain is broken at {told['fault']}.", err=True)
    raise typer.Exit(0 if told["whole"] else 1)


def _beside(told: Mapping[str, Any]) -> str:
    """What the chain of today's rows does not cover."""
    removed = f" The {told['removed']} before them were removed for their age, under a signed checkpoint."
    unsealed = f" {told['unsealed']} more are not sealed yet."
    return (removed if told["removed"] else "") + (unsealed if told["unsealed"] else "")


def version() -> None:
    """Print the version."""
    from bot.version import VERSION

    typer.echo(f"signalbox {VERSION}")


def _print(finding: Finding) -> None:
    mark, colour = MARKS[finding.level]
    typer.echo(f"{typer.style(mark, fg=colour)}  {finding.check:<9} {clean(finding.what)}")
    if finding.why:
        typer.echo(f"{'':16}{clean(finding.why)}\n{'':16}To mend it: {clean(finding.fix)}")


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield above + name, value


def _toml(value: object) -> str:
    import json

    return '""' if value is None else json.dumps(value, ensure_ascii=False)
