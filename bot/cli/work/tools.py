"""`signalbox tools`: the tools there are, where they come from, and whether files and packages with tools can be used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from bot.settings.settings import Settings
from bot.terminal.options import AsJson, ConfigFile, settings_of
from bot.terminal.output import clean, show_json, show_rows
from runtime.contract import ToolSpec
from runtime.errors import ConfigError
from runtime.text.glyphs import clip

EXIT_FAULTS: Final = 1
DESCRIPTION_MAX_CHARS: Final = 70
TOOL_COLUMNS: Final = {"tool": "Tool", "effect": "Effect", "from": "From", "does": "What it does"}
CHECK_COLUMNS: Final = {"from": "From", "tools": "Tools", "fault": "Fault"}

commands = typer.Typer(
    no_args_is_help=True, help="Tools of agents: list them, show one, and check files and packages that bring some."
)


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="tools")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List all tools with their effects, and where each comes from. Nothing of a file is run for it."""
    settings = settings_of(context, config)
    rows = [_row(name, spec, source) for name, (spec, source) in sorted(_known(settings).items())]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, TOOL_COLUMNS, empty="There are no tools.")


@commands.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TOOL", show_default=False, help="Its name.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show a tool: what it's told to be, its arguments, its effect and its bounds."""
    settings = settings_of(context, config)
    found = _known(settings).get(name)
    if found is None:
        raise ConfigError(f"There's no tool {name}. `signalbox tools list` shows those there are.")
    (spec, source), fault = found, ""
    if source.startswith("tools.d/"):
        spec, fault = _loaded(settings, spec, source.removeprefix("tools.d/"))
    if as_json:
        show_json(_row(name, spec, source) | {"schema": spec.schema, "fault": fault})
    else:
        typer.echo("\n".join([*_told(spec, source), *([f"  can't be used: {fault}"] if fault else ())]))


@commands.command()
def check(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Try each file of tools.d and each installed tool as Signalbox would, and say what is wrong with one."""
    settings = settings_of(context, config)
    rows = [*_files(settings), *_packages(settings)]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, CHECK_COLUMNS, empty="There's no file in tools.d, and `tools.installed` names no tool.")
    if any(row["fault"] for row in rows):
        raise typer.Exit(EXIT_FAULTS)


def _known(settings: Settings) -> dict[str, tuple[ToolSpec, str]]:
    """Each tool with where it comes from."""
    from bot.plugins.packages import package_of
    from bot.wiring.tools.folder import Unloaded
    from bot.wiring.tools.known import known_tools

    def source(name: str, tool: object) -> str:
        if isinstance(tool, Unloaded):
            return f"tools.d/{tool.file.name}"
        return f"package {package_of(name)}" if name in settings.tools.installed else "Signalbox"

    return {name: (tool.spec, source(name, tool)) for name, tool in known_tools(settings).items()}


def _loaded(settings: Settings, spec: ToolSpec, file: str) -> tuple[ToolSpec, str]:
    """The tool of this file as it is when it's loaded; where it can't be, as it's read, and why."""
    for one in _checked(settings):
        if one.file.path.name == file:
            return one.specs.get(spec.name, spec), clean(one.fault)
    return spec, ""


def _checked(settings: Settings) -> Any:
    from bot.telemetry import logs
    from bot.wiring.tools.folder import checked

    logs.configure("error", settings.log.format, settings.secret_values())  # the rows tell
    return asyncio.run(checked(settings))


def _files(settings: Settings) -> list[dict[str, str]]:
    return [
        {"from": f"tools.d/{one.file.path.name}", "tools": ", ".join(sorted(one.specs)), "fault": clean(one.fault)}
        for one in _checked(settings)
    ]


def _packages(settings: Settings) -> list[dict[str, str]]:
    from bot.plugins.packages import broken_tools, package_of

    faults = broken_tools(settings.tools.installed, settings.tools.settings)
    return [
        {"from": f"package {package_of(name)}", "tools": name, "fault": clean(faults.get(name, ""))}
        for name in settings.tools.installed
    ]


def _row(name: str, spec: ToolSpec, source: str) -> dict[str, Any]:
    words = clip(" ".join(spec.description.split()), DESCRIPTION_MAX_CHARS)
    return {"tool": name, "effect": spec.effect.value, "from": source, "does": clean(words)}


def _told(spec: ToolSpec, source: str) -> list[str]:
    arguments: Mapping[str, Any] = spec.schema.get("properties", {})
    return [
        f"{spec.name}  ({source})",
        f"  {clean(spec.description)}",
        f"  effect: {spec.effect.value}; {'may be repeated' if spec.repeatable else 'is never repeated by itself'}"
        f"{'; can be undone' if spec.undo else ''}",
        f"  bounds: {spec.timeout.total_seconds():g} s, {spec.output_bound:,} characters",
        f"  results from: {spec.flow.reads.value}{'; stays in its conversation' if spec.flow.stays else ''}",
        *(f"  {name}: {clean(json.dumps(about, ensure_ascii=False))}" for name, about in arguments.items()),
    ]
