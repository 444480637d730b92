"""`signalbox agents`: lists, shows, begins, suspends, resumes and ends agents, and tells what one may do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.cli.policy import (
    CallAsker,
    argument_of,
    check_arguments,
    effect_of,
    mode_named,
    names_of,
    show_ruling,
)
from bot.node.invocation import as_called
from bot.terminal.options import (
    AsJson,
    CallArguments,
    CallEffect,
    CallPeople,
    CallRoom,
    ConfigFile,
    Yes,
    ask_first,
    ask_operator,
    place_of,
    settings_of,
)
from bot.terminal.output import clean, show_facts, show_json, show_rows
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.operator.views import View
    from bot.settings.settings import Settings
    from runtime.domain.agents.manifest import Manifest

commands = typer.Typer(
    no_args_is_help=True, help="Agents: list, show, begin, suspend, resume and end them, and ask what one may do."
)

SHOWN_COLUMNS: Final = {
    "name": "Agent",
    "state": "State",
    "model": "Model",
    "tools": "Tools",
    "effects": "Most effect",
    "answers": "Answers in",
    "delegates_to": "Hands work to",
    "from": "From",
}
BOUNDS: Final = {
    "budget_day": "USD a day",
    "tokens_per_hour": "tokens an hour",
    "tool_calls_per_minute": "tool calls a minute",
    "children": "children",
    "depth": "levels",
}
TEMPLATE: Final = """\
# The agent {name}. docs/agents.md explains each setting; what is left out is as with the main agent.
prompt = "You are {name}, an agent on a team chat. Answer briefly."
# prompt_file = "prompts/{name}.md"    # in place of prompt
# model = "sonnet"                     # a name of [[models]]
# tools = ["read_file", "http_get"]    # names or globs; all tools without it
# effects = "read"                     # the most its tools may do: read, write or danger
# memory = ["person", "room", "agent", "all"]  # memories that it has; those that it delegates to may have no more

# Where it answers. All conditions must hold; the most specific agent wins. Without any, it is reached by its name.
# rooms = ["slack:work/C-OPS*"]
# people = ["Ada"]
# roles = ["operator", "owner"]
# accounts = ["slack:work"]
# channels = ["slack"]
# mentions = ["{name}"]

# delegates_to = ["research"]
# budget_day = 5.0                     # US dollars
# tokens_per_hour = 1000000
# tool_calls_per_minute = 60
"""
Name = Annotated[str, typer.Argument(metavar="NAME", help="As `agents list` shows it.")]


Reason = Annotated[str, typer.Option("--reason", help="Why, for the people who write to it, and for the audit.")]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="agents")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the agents, the main one first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.agents())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, SHOWN_COLUMNS, empty="No agents.")


@commands.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one agent: what it may use, where it answers, its bounds and its prompt."""
    row = ask_operator(settings_of(context, config), lambda api: api.agent(name))
    if as_json:
        show_json(row)
        return
    show_facts((head.lower(), row[key]) for key, head in SHOWN_COLUMNS.items() if key not in ("name", "tools"))
    show_facts([("tools", row["has"]), ("bounds", _bounds(row)), ("called", row["mentions"])])
    typer.echo(f"\n{clean(row['prompt'])}")


def _bounds(row: View) -> list[str]:
    return [f"{row[key]:,} {word}" for key, word in BOUNDS.items() if row[key]]


@commands.command()
def new(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Begin an agent: writes agents/NAME.toml beside the settings file, for you to edit."""
    from bot.settings.agents.folder import AGENTS_FOLDER
    from bot.settings.agents.tables import AGENT_NAME

    settings = settings_of(context, config)
    if not AGENT_NAME.fullmatch(name):
        raise ConfigError(f'{name}: expected up to 40 small letters, digits, "-" and "_", such as ops.')
    if settings.file is None:
        raise ConfigError(as_called("There is no settings file to put it beside. Make one: signalbox init"))
    if name in [table.name for table in settings.agents]:
        raise ConfigError(as_called(f"There is an agent {name} already: signalbox agents show {name}"))
    file = settings.file.parent / AGENTS_FOLDER / f"{name}.toml"
    _write(file, TEMPLATE.format(name=name))
    if as_json:
        show_json({"name": name, "file": str(file)})
        return
    typer.echo(clean(as_called(f"Wrote {file}. Edit it, then: signalbox reload")))


def _write(file: Path, text: str) -> None:
    """Errors: ConfigError, also where there is such a file: somebody's words are in it."""
    try:
        file.parent.mkdir(exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error


@commands.command()
def may(
    context: typer.Context,
    name: Name,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Tool to call.")],
    arg: CallArguments = None,
    room: CallRoom = "",
    person: CallPeople = None,
    effect: CallEffect = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show if an agent may call a tool, and why: first by what it may use at all, then by the rules. It calls nothing."""
    settings = settings_of(context, config)
    manifest, effect = _manifest(settings, name), effect_of(settings, tool, effect, asked_as="")
    if why := _not_its_own(manifest, tool, effect):
        _deny(why, as_json=as_json)
        return
    arguments = dict(map(argument_of, arg or ()))
    check_arguments(settings, tool, arguments)
    asker = CallAsker(place_of(room), names_of(settings, person or ()), name)
    show_ruling(settings, asker.ask(tool, effect, arguments), mode_named("normal"), as_json=as_json)


def _manifest(settings: Settings, name: str) -> Manifest:
    from bot.settings.faults import nearest
    from bot.wiring.agents import manifests_of

    manifests = manifests_of(settings)
    if name not in manifests:
        near = nearest(name, manifests)
        fix = f"Did you mean {near}?" if near else f"There are: {', '.join(manifests)}."
        raise ConfigError(f"There is no agent {name}. {fix}")
    return manifests[name]


def _not_its_own(manifest: Manifest, tool: str, effect: str) -> str:
    """The reason for which the agent is not even offered the tool; empty where it is."""
    from runtime.contract import FIND_TOOLS, Effect
    from runtime.domain.agents.capabilities import fits, is_within

    if tool == FIND_TOOLS:
        return ""
    if not fits(tool, manifest.tools):
        return f"{manifest.name} does not have it. Its tools are {', '.join(manifest.tools) or 'none'}."
    if not is_within(Effect(effect), manifest.effects):
        return f'{manifest.name} does not have it. Its effects end at "{manifest.effects}", and {tool} is "{effect}".'
    return ""


def _deny(why: str, *, as_json: bool) -> None:
    if not as_json:
        typer.echo(clean(f"deny: {why}"))
        return
    told: dict[str, Any] = {"ruling": "deny", "why": why, "rule": "", "mode": "normal", "reason": "", "limit": ""}
    show_json({**told, "conditions": [], "passed": [], "terms": {}})


@commands.command()
def suspend(context: typer.Context, name: Name, reason: Reason = "", config: ConfigFile = None) -> None:
    """Suspend an agent: messages for it wait, and each sender is told once. What it works on goes on to its end."""
    _tell(ask_operator(settings_of(context, config), lambda api: api.suspend_agent(name, reason)))


@commands.command()
def resume(context: typer.Context, name: Name, reason: Reason = "", config: ConfigFile = None) -> None:
    """Resume a suspended agent: all messages that waited are answered, in order."""
    _tell(ask_operator(settings_of(context, config), lambda api: api.resume_agent(name, reason)))


@commands.command()
def terminate(
    context: typer.Context, name: Name, reason: Reason = "", yes: Yes = False, config: ConfigFile = None
) -> None:
    """End an agent for good: its work stops, its schedules end, what it remembers is forgotten, and the main agent answers in its rooms."""
    ask_first(yes, f"End {name}, for good")
    _tell(ask_operator(settings_of(context, config), lambda api: api.terminate_agent(name, reason)))


def _tell(made: View) -> None:
    typer.echo(clean(made["told"]))
